/**
 * An attacker without a key rolls back or withholds the log's responses, or mixes in responses of another
 * log, at one endpoint at a time. No party accuses the log, and relevant manipulation is detected.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { audit } from '../../src/client/auditor.ts';
import { AuditFault } from '../../src/client/fault.ts';
import type { LogKey } from '../../src/client/key-set.ts';
import { httpLog, type LogSource, NotFound } from '../../src/client/log-source.ts';
import { type Pin, writePin } from '../../src/client/pin.ts';
import { ServedLog } from '../client/served-log.ts';
import {
  auditOf,
  type Cosigned,
  consoleOf,
  cosignedOf,
  pinOf,
  rowsOf,
  verifyOf,
  watchOf,
  witnessOf,
} from './parties.ts';

let log: ServedLog;
let earlier: ServedLog;
let other: ServedLog;
let pin: Pin;
let cosigned: Cosigned;

beforeAll(async () => {
  log = await ServedLog.start();
  await log.append(300);
  await log.ledger.rotateKey('transparency-sth', 'system');
  const copy = await log.snapshot();
  pin = await pinOf(httpLog(log.url));
  cosigned = await cosignedOf(httpLog(log.url), log.ledger);
  await log.append(300);
  await log.ledger.rotateKey('transparency-sth', 'system');
  await log.ledger.rotateKey('event-signing', 'system');
  await log.append(10);
  earlier = await ServedLog.start();
  await earlier.restore(copy);
  other = await ServedLog.start();
  await other.append(300);
  await other.ledger.rotateKey('transparency-sth', 'system');
  await other.append(400);
});
afterAll(() => Promise.all([log.close(), earlier.close(), other.close()]));

type Mode = 'rolled back' | 'withheld' | 'unavailable' | 'mixed';

/** Serves the log, with manipulated responses at or below this path. */
function lying(prefix: string, mode: Mode): LogSource {
  const truth = httpLog(log.url);
  const instead = {
    'rolled back': httpLog(earlier.url),
    mixed: httpLog(other.url),
    withheld: undefined,
    unavailable: undefined,
  }[mode];
  const refusal = () =>
    mode === 'withheld' ? new NotFound('HTTP_REFUSED', 'withheld') : new AuditFault('UNAVAILABLE', 'busy');
  const isLie = (asked: string) => {
    const [path = ''] = asked.split('?');
    return prefix.endsWith('/') ? path.startsWith(prefix) : path === prefix;
  };
  return {
    url: truth.url,
    get: async (path) => (!isLie(path) ? truth.get(path) : instead === undefined ? refusal() : instead.get(path)),
    getBytes: async (path) =>
      !isLie(path) ? truth.getBytes(path) : instead === undefined ? refusal() : instead.getBytes(path),
  };
}

/**
 * The verdict of each party: audits with a pin, with a pin and entries, and without a pin (exit code and
 * result), the watching auditor, a witness that receives the checkpoint and the proof as served, the
 * console's verifier on the bundle of an entry, and `candor verify` of the same entry without a pin. A bundle of another
 * log is verified under its own keys, whose fingerprints the console shows.
 *
 * A watcher is `silent` if it requests nothing that was manipulated: it is up to date, and the log does not
 * grow. The witness has the checkpoint of the pin.
 */
const rows = rowsOf(`
  /api/transparency/sth         | rolled back | 0 unchanged           | 0 unchanged           | 0 pinned              | OLD_HEAD            | cosigned     | good        | HTTP_REFUSED
  /api/transparency/sth         | withheld    | 4 HTTP_REFUSED        | 4 HTTP_REFUSED        | 4 HTTP_REFUSED        | HTTP_REFUSED        | cosigned     | good        | HTTP_REFUSED
  /api/transparency/sth         | unavailable | 3 UNAVAILABLE         | 3 UNAVAILABLE         | 3 UNAVAILABLE         | UNAVAILABLE         | cosigned     | good        | UNAVAILABLE
  /api/transparency/sth         | mixed       | 4 UNKNOWN_KEY         | 4 UNKNOWN_KEY         | 4 UNKNOWN_KEY         | UNKNOWN_KEY         | cosigned     | good        | UNKNOWN_KEY
  /api/transparency/sths        | rolled back | 4 HTTP_REFUSED        | 4 HTTP_REFUSED        | 4 HTTP_REFUSED        | HTTP_REFUSED        | cosigned     | good        | verified
  /api/transparency/sths        | withheld    | 4 HTTP_REFUSED        | 4 HTTP_REFUSED        | 4 HTTP_REFUSED        | HTTP_REFUSED        | cosigned     | good        | verified
  /api/transparency/sths        | unavailable | 3 UNAVAILABLE         | 3 UNAVAILABLE         | 3 UNAVAILABLE         | UNAVAILABLE         | cosigned     | good        | verified
  /api/transparency/sths        | mixed       | 4 UNVOUCHED_KEY       | 4 UNVOUCHED_KEY       | 4 HEAD_MISSING        | HEAD_MISSING        | cosigned     | good        | verified
  /api/transparency/inclusion   | rolled back | 4 HTTP_REFUSED        | 4 HTTP_REFUSED        | 0 pinned              | silent              | cosigned     | good        | HTTP_REFUSED
  /api/transparency/inclusion   | withheld    | 4 HTTP_REFUSED        | 4 HTTP_REFUSED        | 0 pinned              | silent              | cosigned     | good        | HTTP_REFUSED
  /api/transparency/inclusion   | unavailable | 3 UNAVAILABLE         | 3 UNAVAILABLE         | 0 pinned              | silent              | cosigned     | good        | UNAVAILABLE
  /api/transparency/inclusion   | mixed       | 4 NOT_INCLUDED        | 4 NOT_INCLUDED        | 0 pinned              | silent              | cosigned     | good        | NOT_INCLUDED
  /api/transparency/consistency | rolled back | 4 PROOF_WITHHELD      | 4 PROOF_WITHHELD      | 0 pinned              | silent              | HTTP_REFUSED | good        | verified
  /api/transparency/consistency | withheld    | 4 PROOF_WITHHELD      | 4 PROOF_WITHHELD      | 0 pinned              | silent              | HTTP_REFUSED | good        | verified
  /api/transparency/consistency | unavailable | 3 UNAVAILABLE         | 3 UNAVAILABLE         | 0 pinned              | silent              | UNAVAILABLE  | good        | verified
  /api/transparency/consistency | mixed       | 4 WRONG_PROOF         | 4 WRONG_PROOF         | 0 pinned              | silent              | inconsistent | good        | verified
  /api/transparency/leaf        | rolled back | 0 extended            | 0 extended            | 0 pinned              | silent              | cosigned     | good        | HTTP_REFUSED
  /api/transparency/leaf        | withheld    | 0 extended            | 0 extended            | 0 pinned              | silent              | cosigned     | good        | HTTP_REFUSED
  /api/transparency/leaf        | unavailable | 0 extended            | 0 extended            | 0 pinned              | silent              | cosigned     | good        | UNAVAILABLE
  /api/transparency/leaf        | mixed       | 0 extended            | 0 extended            | 0 pinned              | silent              | cosigned     | good        | NOT_INCLUDED
  /api/transparency/entries     | rolled back | 0 extended            | 0 extended            | 0 pinned              | silent              | cosigned     | good        | verified
  /api/transparency/entries     | withheld    | 0 extended            | 0 extended            | 0 pinned              | silent              | cosigned     | good        | verified
  /api/transparency/entries     | unavailable | 0 extended            | 0 extended            | 0 pinned              | silent              | cosigned     | good        | verified
  /api/transparency/entries     | mixed       | 0 extended            | 0 extended            | 0 pinned              | silent              | cosigned     | good        | verified
  /api/transparency/proof       | rolled back | 0 extended            | 0 extended            | 0 pinned              | silent              | cosigned     | refused     | verified
  /api/transparency/proof       | withheld    | 0 extended            | 0 extended            | 0 pinned              | silent              | cosigned     | refused     | verified
  /api/transparency/proof       | unavailable | 0 extended            | 0 extended            | 0 pinned              | silent              | cosigned     | unavailable | verified
  /api/transparency/proof       | mixed       | 0 extended            | 0 extended            | 0 pinned              | silent              | cosigned     | good        | verified
  /api/transparency/key-history | rolled back | 4 UNVOUCHED_KEY       | 4 UNVOUCHED_KEY       | 0 pinned              | silent              | cosigned     | good        | verified
  /api/transparency/key-history | withheld    | 4 HTTP_REFUSED        | 4 HTTP_REFUSED        | 0 pinned              | silent              | cosigned     | good        | verified
  /api/transparency/key-history | unavailable | 3 UNAVAILABLE         | 3 UNAVAILABLE         | 0 pinned              | silent              | cosigned     | good        | verified
  /api/transparency/key-history | mixed       | 4 UNVOUCHED_KEY       | 4 UNVOUCHED_KEY       | 0 pinned              | silent              | cosigned     | good        | verified
  /api/transparency/keys        | rolled back | 0 extended            | 0 extended            | 0 pinned              | silent              | cosigned     | good        | verified
  /api/transparency/keys        | withheld    | 0 extended            | 0 extended            | 0 pinned              | silent              | cosigned     | good        | verified
  /api/transparency/keys        | unavailable | 3 UNAVAILABLE         | 3 UNAVAILABLE         | 0 pinned              | silent              | cosigned     | good        | verified
  /api/transparency/keys        | mixed       | 0 extended            | 0 extended            | 0 pinned              | silent              | cosigned     | good        | verified
  /.well-known/jwks.json        | rolled back | 0 extended            | 0 extended            | 0 pinned              | silent              | cosigned     | good        | verified
  /.well-known/jwks.json        | withheld    | 4 HTTP_REFUSED        | 4 HTTP_REFUSED        | 4 HTTP_REFUSED        | HTTP_REFUSED        | cosigned     | good        | HTTP_REFUSED
  /.well-known/jwks.json        | unavailable | 3 UNAVAILABLE         | 3 UNAVAILABLE         | 3 UNAVAILABLE         | UNAVAILABLE         | cosigned     | good        | UNAVAILABLE
  /.well-known/jwks.json        | mixed       | 0 extended            | 0 extended            | 0 pinned              | silent              | cosigned     | good        | verified
  /checkpoint                   | rolled back | 0 extended            | 0 extended            | 0 pinned              | silent              | cosigned     | good        | verified
  /checkpoint                   | withheld    | 4 CHECKPOINT_WITHHELD | 4 CHECKPOINT_WITHHELD | 0 pinned              | CHECKPOINT_WITHHELD | HTTP_REFUSED | good        | verified
  /checkpoint                   | unavailable | 3 UNAVAILABLE         | 3 UNAVAILABLE         | 3 UNAVAILABLE         | UNAVAILABLE         | UNAVAILABLE  | good        | verified
  /checkpoint                   | mixed       | 4 UNSIGNED_CHECKPOINT | 4 UNSIGNED_CHECKPOINT | 4 UNSIGNED_CHECKPOINT | UNSIGNED_CHECKPOINT | HTTP_REFUSED | good        | verified
  /tile/0/                      | rolled back | 0 extended            | 4 HTTP_REFUSED        | 0 pinned              | silent              | cosigned     | good        | verified
  /tile/0/                      | withheld    | 0 extended            | 4 HTTP_REFUSED        | 0 pinned              | silent              | cosigned     | good        | verified
  /tile/0/                      | unavailable | 0 extended            | 3 UNAVAILABLE         | 0 pinned              | silent              | cosigned     | good        | verified
  /tile/0/                      | mixed       | 0 extended            | 4 WRONG_TILE          | 0 pinned              | silent              | cosigned     | good        | verified
  /tile/1/                      | rolled back | 0 extended            | 4 HTTP_REFUSED        | 0 pinned              | silent              | cosigned     | good        | verified
  /tile/1/                      | withheld    | 0 extended            | 4 HTTP_REFUSED        | 0 pinned              | silent              | cosigned     | good        | verified
  /tile/1/                      | unavailable | 0 extended            | 3 UNAVAILABLE         | 0 pinned              | silent              | cosigned     | good        | verified
  /tile/1/                      | mixed       | 0 extended            | 4 WRONG_TILE          | 0 pinned              | silent              | cosigned     | good        | verified
  /tile/entries/                | rolled back | 0 extended            | 4 HTTP_REFUSED        | 0 pinned              | silent              | cosigned     | good        | verified
  /tile/entries/                | withheld    | 0 extended            | 4 HTTP_REFUSED        | 0 pinned              | silent              | cosigned     | good        | verified
  /tile/entries/                | unavailable | 0 extended            | 3 UNAVAILABLE         | 0 pinned              | silent              | cosigned     | good        | verified
  /tile/entries/                | mixed       | 0 extended            | 4 UNKNOWN_KEY         | 0 pinned              | silent              | cosigned     | good        | verified
`);

test.concurrent.each(rows)(
  'responses at %s, %s: every party has the expected verdict',
  async (path, mode, ...verdicts) => {
    const lie = lying(path!, mode as Mode);
    const truth = httpLog(log.url);
    const before = writePin(pin);
    const audits = await Promise.all([
      auditOf(lie, pin),
      auditOf(lie, pin, { entries: true }),
      auditOf(lie, undefined),
    ]);
    expect([
      ...audits.map(({ exit, found }) => `${exit} ${found}`),
      await watchOf(
        pin,
        () => truth,
        () => lie,
        () => truth,
      ),
      await witnessOf(lie, cosigned),
      await consoleOf(lie, 605),
      await verifyOf(lie, 605),
    ]).toEqual(verdicts);
    const convicting = audits.filter(({ evidence }) => evidence?.includes('"convicts":true'));
    expect(convicting).toEqual([]);
    expect(writePin(pin)).toBe(before);
  },
);

test('without manipulation every party accepts the log', async () => {
  const truth = httpLog(log.url);
  expect(await auditOf(truth, pin, { entries: true })).toMatchObject({ exit: 0, found: 'extended' });
  expect(await auditOf(truth, undefined, { entries: true })).toMatchObject({ exit: 0, found: 'pinned' });
  expect([await consoleOf(truth, 605), await verifyOf(truth, 605)]).toEqual(['good', 'verified']);
});

test('an unconfirmed checkpoint key is trusted only on first use', async () => {
  const isCheckpoint = ({ purpose }: LogKey) => purpose === 'checkpoint';
  expect([...pin.keys.values()].some(isCheckpoint)).toBe(true);
  const keys = new Map([...pin.keys].filter(([, key]) => !isCheckpoint(key)));
  const result = await audit(httpLog(log.url), { ...pin, keys }, { now: Date.now() });
  if (result.status !== 'extended') throw new Error(result.status);
  expect([...result.pin.keys.values()].some(isCheckpoint)).toBe(false);
});
