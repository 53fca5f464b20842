/**
 * A man in the middle adds, swaps and changes keys in the key set, which is not signed, or signs with a key
 * that was stolen and has ended. No evidence counts against the log under its true keys, and no pin moves to a key of
 * the attacker.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { auditOnce } from '../../src/cli/audit.ts';
import { savePin } from '../../src/cli/pin-file.ts';
import { audit } from '../../src/client/auditor.ts';
import { parseEvidence } from '../../src/client/evidence.ts';
import { AuditFault } from '../../src/client/fault.ts';
import { type KeySet, parseKeySet } from '../../src/client/key-set.ts';
import { httpLog } from '../../src/client/log-source.ts';
import { type Pin, parsePin } from '../../src/client/pin.ts';
import { judge } from '../../src/client/verdict.ts';
import { writeTreeHead } from '../../src/contract/write-tree-head.ts';
import { encodeHead, headToJson } from '../../src/tlog/head.ts';
import { activeKey, type PrivateKey } from '../client/insider.ts';
import { type Lie, ServedLog } from '../client/served-log.ts';
import { type Cosigned, commandOf, consoleOf, cosignedOf, rowsOf, verifyOf, watchOf, witnessOf } from './parties.ts';

const minuteMs = 60_000;
const startedAt = Date.now() - 60 * minuteMs;

let log: ServedLog;
/** A pin from before the tree-head key ended, and a pin that records the end of the key. */
let early: Pin;
let late: Pin;
let cosigned: Cosigned;
/** The verifier key of the stolen checkpoint key. */
let stolenVkey: string;
/** Keys stolen while they were in use: the retired tree-head key and the revoked checkpoint key. */
const stolen = {} as { head: PrivateKey; checkpoint: PrivateKey };
/** Active keys of the log, by purpose. */
const kids: Record<string, string> = {};
let trueKeys: KeySet;

/** Sizes of the log: at the early pin, at the end of the stolen key, and now. */
const sizes = { early: 0, end: 0, now: 0 };

beforeAll(async () => {
  log = await ServedLog.start(startedAt);
  const keyOf = async (purpose: string) => {
    let key: PrivateKey | undefined;
    await log.tamper((folder) => {
      key = activeKey(folder, purpose);
    });
    return key!;
  };
  const sizeNow = async () => (await log.ledger.head()).tree_size;
  await log.append(5);
  stolen.checkpoint = await keyOf('checkpoint');
  stolenVkey = (await log.ledger.status()).checkpoint_vkey;
  await log.ledger.revokeKey(stolen.checkpoint.kid, 'stolen', 'system');
  log.now += 10 * minuteMs;
  await log.append(4);
  stolen.head = await keyOf('transparency-sth');
  sizes.early = await sizeNow();
  early = await followed(undefined);
  log.now += 10 * minuteMs;
  await log.append(3);
  await log.ledger.rotateKey('transparency-sth', 'system');
  sizes.end = (await log.ledger.keyRecords()).find(({ kid }) => kid === stolen.head.kid)!.to_size!;
  cosigned = await cosignedOf(httpLog(log.url), log.ledger);
  log.now = Date.now();
  await log.append(10);
  sizes.now = await sizeNow();
  late = await followed(early);
  for (const key of await log.ledger.keyRecords()) if (key.state === 'active') kids[key.purpose] = key.kid;
  trueKeys = parseKeySet(JSON.stringify({ keys: await log.ledger.keys() })) as KeySet;
});
afterAll(() => log.close());

async function followed(before: Pin | undefined): Promise<Pin> {
  const result = await audit(httpLog(log.url), before, { now: log.now });
  if (!('pin' in result)) throw new Error(JSON.stringify(result));
  return result.pin;
}

type Jwk = Record<string, unknown>;

/** A key pair of the attacker. */
const secret = generateKeyPairSync('ed25519').privateKey;
const ownX = String(secret.export({ format: 'jwk' }).x);
const own: PrivateKey = {
  kid: '01940000-0000-7000-8000-00000000beef',
  sign: (message) => sign(null, message, secret),
};
const ownKey = (purpose: string, more: Jwk = {}): Jwk => ({
  ...{ kty: 'OKP', crv: 'Ed25519', x: ownX, kid: own.kid, use: 'sig', alg: 'EdDSA' },
  ...{ svc_purpose: purpose, svc_state: 'active', svc_from_size: 0, ...more },
});

/** The changes of a man in the middle: to the keys in every response, to the head, and to the checkpoint. */
interface Attack {
  readonly keys?: (keys: Jwk[]) => Jwk[];
  readonly head?: () => string;
  readonly checkpoint?: (note: string) => string;
  readonly withheld?: readonly string[];
}

const added = (key: Jwk) => (keys: Jwk[]) => [...keys, key];
const changed = (kid: () => string, change: Jwk) => (keys: Jwk[]) =>
  keys.map((key) => (key.kid === kid() ? { ...key, ...change } : key));
const activeOf = (purpose: string) => () => kids[purpose]!;
const stolenHead = () => stolen.head.kid;
const revived: Jwk = {
  ...{ svc_state: 'active', svc_to_size: undefined, svc_not_after: undefined, svc_revoked_at: undefined },
};

const otherRoot = new Uint8Array(32).fill(7);

/** Returns a head of another tree, signed by this key. */
const forged = (by: () => PrivateKey, size: () => number, atMs: () => number) => (): string => {
  const head = { size: size(), root: otherRoot, timestampNs: (BigInt(atMs()) * 1_000_000n) & ~1023n };
  return writeTreeHead(headToJson(head, by().sign(encodeHead(head)), by().kid));
};
const byOwn = () => own;
/** Returns the attacker's key under the id of the log's key. */
const byOwnAsSigner = (): PrivateKey => ({ ...own, kid: kids['transparency-sth']! });
const byStolen = () => stolen.head;
const now = () => log.now + 1;
/** Returns a time just before the end of the stolen key. */
const beforeEnd = () => startedAt + 20 * minuteMs - 1;

/** Returns a checkpoint with another root, signed by the stolen checkpoint key. */
const forgedCheckpoint =
  (size: () => number) =>
  (note: string): string => {
    const [name] = note.split('\n');
    const body = `${name}\n${size()}\n${Buffer.from(otherRoot).toString('base64')}\n`;
    const [, id] = stolenVkey.split('+');
    const signature = Buffer.concat([Buffer.from(id!, 'hex'), stolen.checkpoint.sign(Buffer.from(body))]);
    return `${body}\n\u2014 ${name} ${signature.toString('base64')}\n`;
  };

const attacks: Record<string, Attack> = {
  'a tree-head key is added': { keys: added(ownKey('transparency-sth')) },
  'a checkpoint key is added': { keys: added(ownKey('checkpoint', { svc_origin: 'candor.log/x' })) },
  'an event key is added': { keys: added(ownKey('event-signing')) },
  'the tree-head key is swapped': { keys: changed(activeOf('transparency-sth'), { x: ownX }) },
  'the event key is swapped': { keys: changed(activeOf('event-signing'), { x: ownX }) },
  'the checkpoint key is swapped': { keys: changed(activeOf('checkpoint'), { x: ownX }) },
  'the access-token key is swapped': { keys: changed(activeOf('access-token'), { x: ownX }) },
  'the retired key is swapped': { keys: changed(stolenHead, { x: ownX }) },
  'the tree-head key is removed': {
    keys: (keys) => keys.filter(({ kid }) => kid !== kids['transparency-sth']),
  },
  'all keys are removed': { keys: () => [] },
  'a key is listed twice': { keys: (keys) => [...keys, keys[0]!] },
  'the tree-head key is revoked': {
    keys: changed(activeOf('transparency-sth'), {
      svc_state: 'revoked',
      svc_revoked_at: new Date().toISOString(),
    }),
  },
  'the tree-head key has ended': {
    keys: changed(activeOf('transparency-sth'), { svc_state: 'retired', svc_to_size: 12 }),
  },
  'the tree-head key is pending': { keys: changed(activeOf('transparency-sth'), { svc_state: 'pending' }) },
  'the tree-head key has another purpose': {
    keys: changed(activeOf('transparency-sth'), { svc_purpose: 'event-signing' }),
  },
  'the tree-head key has another life': {
    keys: changed(activeOf('transparency-sth'), { svc_life: 'deadbeef' }),
  },
  'the checkpoint key has another origin': {
    keys: changed(activeOf('checkpoint'), { svc_origin: 'candor.log/other' }),
  },
  'the retired key is active again': { keys: changed(stolenHead, revived) },
  'the revoked checkpoint key is active again': { keys: changed(() => stolen.checkpoint.kid, revived) },

  'added key signs another tree': {
    keys: added(ownKey('transparency-sth')),
    head: forged(byOwn, () => sizes.now, now),
  },
  'added key signs a smaller tree': {
    keys: added(ownKey('transparency-sth')),
    head: forged(byOwn, () => 2, now),
  },
  'added key signs a larger tree': {
    keys: added(ownKey('transparency-sth')),
    head: forged(byOwn, () => 99, now),
  },
  'swapped key signs another tree': {
    keys: changed(activeOf('transparency-sth'), { x: ownX }),
    head: forged(byOwnAsSigner, () => sizes.now, now),
  },
  'added key signs, no history': {
    keys: added(ownKey('transparency-sth')),
    head: forged(byOwn, () => sizes.now, now),
    withheld: ['/api/transparency/sths', '/api/transparency/key-history', '/checkpoint'],
  },

  'stolen key, dated after its end': { head: forged(byStolen, () => sizes.end, now) },
  'stolen key, dated after its end, larger': { head: forged(byStolen, () => 99, now) },
  'stolen key, dated after its end, active again': {
    keys: changed(stolenHead, revived),
    head: forged(byStolen, () => sizes.now, now),
  },
  'stolen key, backdated': { head: forged(byStolen, () => sizes.end, beforeEnd) },
  'stolen key, backdated, size of a pin': { head: forged(byStolen, () => sizes.early, beforeEnd) },
  'stolen key, backdated, smaller': { head: forged(byStolen, () => 4, beforeEnd) },
  'stolen key, backdated, larger': { head: forged(byStolen, () => sizes.now, beforeEnd) },
  'stolen key, backdated, active again': {
    keys: changed(stolenHead, revived),
    head: forged(byStolen, () => sizes.end, beforeEnd),
  },
  'stolen key, its end withheld': {
    head: forged(byStolen, () => sizes.early, now),
    withheld: ['/api/transparency/key-history'],
  },
  'stolen checkpoint key, this size': { checkpoint: forgedCheckpoint(() => sizes.now) },
  'stolen checkpoint key, larger': { checkpoint: forgedCheckpoint(() => 99) },
  'stolen checkpoint key, active again': {
    keys: changed(() => stolen.checkpoint.kid, revived),
    checkpoint: forgedCheckpoint(() => sizes.now),
  },
};

/**
 * Columns: `candor audit` with the late pin, with the late pin and entries, with the early pin, and without a
 * pin; the watching auditor, the witness, the console (on a bundle with the keys and the head of the attack),
 * and `candor verify` without a pin.
 */
const rows = rowsOf(`
  a tree-head key is added                      | 0 unchanged           | 0 unchanged           | 0 extended            | 0 pinned              | silent              | cosigned     | good             | verified
  a checkpoint key is added                     | 0 unchanged           | 0 unchanged           | 0 extended            | 0 pinned              | silent              | cosigned     | good             | verified
  an event key is added                         | 0 unchanged           | 0 unchanged           | 0 extended            | 0 pinned              | silent              | cosigned     | good             | verified
  the tree-head key is swapped                  | 4 BAD_SIGNATURE       | 4 BAD_SIGNATURE       | 4 BAD_SIGNATURE       | 4 BAD_SIGNATURE       | BAD_SIGNATURE       | cosigned     | broken           | BAD_SIGNATURE
  the event key is swapped                      | 0 unchanged           | 4 BAD_ENTRY_SIGNATURE | 0 extended            | 0 pinned              | silent              | cosigned     | broken           | BAD_ENTRY_SIGNATURE
  the checkpoint key is swapped                 | 4 KEY_CHANGED         | 4 KEY_CHANGED         | 4 KEY_CHANGED         | 4 UNSIGNED_CHECKPOINT | KEY_CHANGED         | cosigned     | good             | verified
  the access-token key is swapped               | 0 unchanged           | 0 unchanged           | 0 extended            | 0 pinned              | silent              | cosigned     | good             | verified
  the retired key is swapped                    | 4 KEY_CHANGED         | 4 KEY_CHANGED         | 4 KEY_CHANGED         | 0 pinned              | KEY_CHANGED         | cosigned     | good             | verified
  the tree-head key is removed                  | 4 UNKNOWN_KEY         | 4 UNKNOWN_KEY         | 4 UNKNOWN_KEY         | 4 UNKNOWN_KEY         | UNKNOWN_KEY         | cosigned     | broken           | UNKNOWN_KEY
  all keys are removed                          | 4 UNKNOWN_KEY         | 4 UNKNOWN_KEY         | 4 UNKNOWN_KEY         | 4 UNKNOWN_KEY         | UNKNOWN_KEY         | cosigned     | broken           | UNKNOWN_KEY
  a key is listed twice                         | 4 MALFORMED_KEYS      | 4 MALFORMED_KEYS      | 4 MALFORMED_KEYS      | 4 MALFORMED_KEYS      | MALFORMED_KEYS      | cosigned     | MALFORMED_KEYS   | MALFORMED_KEYS
  the tree-head key is revoked                  | 4 KEY_REVOKED         | 4 KEY_REVOKED         | 4 KEY_REVOKED         | 4 KEY_REVOKED         | KEY_REVOKED         | cosigned     | broken           | KEY_REVOKED
  the tree-head key has ended                   | 4 KEY_OUT_OF_RANGE    | 4 KEY_OUT_OF_RANGE    | 4 KEY_OUT_OF_RANGE    | 4 KEY_OUT_OF_RANGE    | KEY_OUT_OF_RANGE    | cosigned     | broken           | KEY_OUT_OF_RANGE
  the tree-head key is pending                  | 4 KEY_PENDING         | 4 KEY_PENDING         | 4 KEY_PENDING         | 4 KEY_PENDING         | KEY_PENDING         | cosigned     | broken           | KEY_PENDING
  the tree-head key has another purpose         | 4 WRONG_KEY_PURPOSE   | 4 WRONG_KEY_PURPOSE   | 4 WRONG_KEY_PURPOSE   | 4 WRONG_KEY_PURPOSE   | WRONG_KEY_PURPOSE   | cosigned     | broken           | WRONG_KEY_PURPOSE
  the tree-head key has another life            | 0 unchanged           | 0 unchanged           | 0 extended            | 0 pinned              | silent              | cosigned     | good             | verified
  the checkpoint key has another origin         | 4 WRONG_ORIGIN        | 4 WRONG_ORIGIN        | 4 WRONG_ORIGIN        | 4 UNSIGNED_CHECKPOINT | WRONG_ORIGIN        | cosigned     | good             | verified
  the retired key is active again               | 0 unchanged           | 0 unchanged           | 0 extended            | 0 pinned              | silent              | cosigned     | good             | verified
  the revoked checkpoint key is active again    | 0 unchanged           | 0 unchanged           | 0 extended            | 0 pinned              | silent              | cosigned     | good             | verified
  added key signs another tree                  | 4 UNVOUCHED_KEY       | 4 UNVOUCHED_KEY       | 4 UNVOUCHED_KEY       | 4 UNPROVEN file       | UNVOUCHED_KEY       | cosigned     | broken           | NOT_INCLUDED
  added key signs a smaller tree                | 4 UNVOUCHED_KEY       | 4 UNVOUCHED_KEY       | 4 UNVOUCHED_KEY       | 4 UNPROVEN file       | UNVOUCHED_KEY       | cosigned     | MALFORMED_BUNDLE | HTTP_REFUSED
  added key signs a larger tree                 | 4 UNVOUCHED_KEY       | 4 UNVOUCHED_KEY       | 4 UNVOUCHED_KEY       | 4 PROOF_WITHHELD file | UNVOUCHED_KEY       | cosigned     | MALFORMED_BUNDLE | HTTP_REFUSED
  swapped key signs another tree                | 4 BAD_SIGNATURE       | 4 BAD_SIGNATURE       | 4 UNVOUCHED_KEY       | 4 UNPROVEN file       | BAD_SIGNATURE       | cosigned     | broken           | NOT_INCLUDED
  added key signs, no history                   | 4 HTTP_REFUSED        | 4 HTTP_REFUSED        | 4 HTTP_REFUSED        | 4 HTTP_REFUSED        | HTTP_REFUSED        | HTTP_REFUSED | broken           | NOT_INCLUDED
  stolen key, dated after its end               | 4 KEY_OUT_OF_RANGE    | 4 KEY_OUT_OF_RANGE    | 4 PROOF_WITHHELD file | 4 KEY_OUT_OF_RANGE    | KEY_OUT_OF_RANGE    | cosigned     | MALFORMED_BUNDLE | KEY_OUT_OF_RANGE
  stolen key, dated after its end, larger       | 4 KEY_OUT_OF_RANGE    | 4 KEY_OUT_OF_RANGE    | 4 PROOF_WITHHELD file | 4 KEY_OUT_OF_RANGE    | KEY_OUT_OF_RANGE    | cosigned     | MALFORMED_BUNDLE | KEY_OUT_OF_RANGE
  stolen key, dated after its end, active again | 4 KEY_OUT_OF_RANGE    | 4 KEY_OUT_OF_RANGE    | 4 PROOF_WITHHELD file | 4 UNPROVEN file       | KEY_OUT_OF_RANGE    | cosigned     | broken           | NOT_INCLUDED
  stolen key, backdated                         | 4 UNPROVEN file       | 4 UNPROVEN file       | 4 PROOF_WITHHELD file | 4 UNPROVEN file       | UNPROVEN            | cosigned     | MALFORMED_BUNDLE | NOT_INCLUDED
  stolen key, backdated, size of a pin          | 4 UNPROVEN file       | 4 UNPROVEN file       | 4 UNPROVEN file       | 4 UNPROVEN file       | UNPROVEN            | cosigned     | MALFORMED_BUNDLE | NOT_INCLUDED
  stolen key, backdated, smaller                | 4 UNPROVEN file       | 4 UNPROVEN file       | 4 UNPROVEN file       | 4 UNPROVEN file       | UNPROVEN            | cosigned     | MALFORMED_BUNDLE | NOT_INCLUDED
  stolen key, backdated, larger                 | 4 KEY_OUT_OF_RANGE    | 4 KEY_OUT_OF_RANGE    | 4 PROOF_WITHHELD file | 4 KEY_OUT_OF_RANGE    | KEY_OUT_OF_RANGE    | cosigned     | broken           | KEY_OUT_OF_RANGE
  stolen key, backdated, active again           | 4 UNPROVEN file       | 4 UNPROVEN file       | 4 PROOF_WITHHELD file | 4 UNPROVEN file       | UNPROVEN            | cosigned     | MALFORMED_BUNDLE | NOT_INCLUDED
  stolen key, its end withheld                  | 4 KEY_OUT_OF_RANGE    | 4 KEY_OUT_OF_RANGE    | 4 UNPROVEN evidence   | 4 KEY_OUT_OF_RANGE    | KEY_OUT_OF_RANGE    | cosigned     | MALFORMED_BUNDLE | KEY_OUT_OF_RANGE
  stolen checkpoint key, this size              | 4 UNSIGNED_CHECKPOINT | 4 UNSIGNED_CHECKPOINT | 4 UNSIGNED_CHECKPOINT | 4 UNSIGNED_CHECKPOINT | UNSIGNED_CHECKPOINT | unknown_key  | good             | verified
  stolen checkpoint key, larger                 | 4 UNSIGNED_CHECKPOINT | 4 UNSIGNED_CHECKPOINT | 4 UNSIGNED_CHECKPOINT | 4 UNSIGNED_CHECKPOINT | UNSIGNED_CHECKPOINT | HTTP_REFUSED | good             | verified
  stolen checkpoint key, active again           | 4 UNSIGNED_CHECKPOINT | 4 UNSIGNED_CHECKPOINT | 4 UNSIGNED_CHECKPOINT | 4 UNPROVEN file       | UNSIGNED_CHECKPOINT | unknown_key  | good             | verified
`);

test('the table has a row for each attack', () => {
  expect(rows.map(([attack]) => attack)).toEqual(Object.keys(attacks));
});

test.each(rows)('every party has the expected verdict if %s', async (name, ...verdicts) => {
  const attack = attacks[name!]!;
  const source = httpLog(log.url);
  const folder = mkdtempSync(join(tmpdir(), 'candor-keys-'));
  onTestFinished(() => {
    log.lies = [];
    rmSync(folder, { recursive: true, force: true });
  });
  log.lies = liesOf(attack);
  const audited = async (file: string, pin: Pin | undefined, entries?: true) => {
    const state = join(folder, file);
    if (pin !== undefined) await savePin(state, pin, undefined);
    const report = await auditOnce(source, { state, interval: 0, entries: entries ?? false });
    acquits(report.fields.evidence);
    if (pin !== undefined) distrusts(state, pin, report.exit === 0);
    return commandOf(report);
  };
  const actual = [
    await audited('late', late),
    await audited('entries', late, true),
    await audited('early', early),
    await audited('fresh', undefined),
    await watchOf(
      late,
      () => source,
      () => {
        log.lies = [];
        return source;
      },
    ),
  ];
  log.lies = liesOf(attack);
  actual.push(await witnessOf(source, cosigned), await consoleOf(source, 3), await verifyOf(source, 3));
  expect(actual).toEqual(verdicts);
});

/** Checks that a file is not evidence against the log under the log's true keys. */
function acquits(file: unknown): void {
  if (typeof file !== 'string') return;
  const evidence = parseEvidence(readFileSync(file, 'utf8'));
  if (evidence instanceof AuditFault) throw new Error(evidence.message);
  expect(judge(evidence, trueKeys).convicts).toBe(false);
}

/** Checks that the pin moves only to the true head, and does not have a key of the attacker. */
function distrusts(file: string, before: Pin, moves: boolean): void {
  const after = parsePin(readFileSync(file, 'utf8')) as Pin;
  expect([...after.keys.values()].map(({ x }) => x)).not.toContain(ownX);
  expect(after.head).toEqual(moves ? late.head : before.head);
}

function liesOf({ keys, head, checkpoint, withheld = [] }: Attack): Lie[] {
  const change = (list: string) => JSON.stringify(keys!(JSON.parse(list) as Jwk[]));
  const listed = (body: string) => body.replace(/"keys":(\[[^\]]*\])/, (_, list) => `"keys":${change(list)}`);
  const page = (body: string) => {
    const { data, pagination } = JSON.parse(body) as { data: { attributes: Jwk }[]; pagination: object };
    const edited = keys!(data.map(({ attributes }) => attributes));
    return JSON.stringify({ data: edited.map((attributes) => ({ attributes })), pagination });
  };
  const bundle = (body: string) => {
    const shown = head === undefined ? body : body.replace(/"head":\{[^}]*\}/, () => `"head":${head()}`);
    return keys === undefined ? shown : listed(shown);
  };
  return [
    ...withheld.map((path) => ({ path, tell: () => ({ status: 404, body: '{}' }) })),
    ...(keys === undefined
      ? []
      : [
          { path: '/.well-known/jwks.json', tell: listed },
          { path: '/api/transparency/keys', tell: page },
        ]),
    ...(head === undefined ? [] : [{ path: '/api/transparency/sth', tell: head }]),
    ...(checkpoint === undefined ? [] : [{ path: '/checkpoint', tell: checkpoint }]),
    { path: '/api/transparency/proof', tell: bundle },
  ];
}
