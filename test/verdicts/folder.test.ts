/**
 * Each file of a data folder is missing, empty, cut, zeroed, altered, older or from another log. Start-up,
 * fsck and all parties that query the served log report their results. No party accuses the log because of
 * damage.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { httpLog } from '../../src/client/log-source.ts';
import type { Pin } from '../../src/client/pin.ts';
import { takeDataFolder } from '../../src/data-folder.ts';
import { recordInstance } from '../../src/ledger/lives/instance.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { SnapshotReader } from '../../src/ledger/reads/snapshot-reader.ts';
import { sha256 } from '../../src/sha256.ts';
import { openStore } from '../../src/store/lmdb/store.ts';
import { bytesToHex } from '../../src/tlog/hex.ts';
import { leafHash } from '../../src/tlog/tree.ts';
import { startParts } from '../backup/parts.ts';
import { alertsOf } from '../backup/writers.ts';
import { ServedLog } from '../client/served-log.ts';
import { cloneFolder } from '../copy-folder.ts';
import {
  auditOf,
  type Cosigned,
  consoleOf,
  cosignedOf,
  fsckOf,
  healthOf,
  pinOf,
  rowsOf,
  verifyOf,
  watchOf,
  witnessOf,
} from './parties.ts';

/** Modifications of a file. `older` and `other` are the same file of an earlier time, and of another log. */
type Damage = 'missing' | 'empty' | 'cut' | 'zeroed' | 'altered' | 'older' | 'other';

/**
 * The verdict of each party: start-up (`ok` or the fault, then findings), the codes of fsck's findings,
 * audits with a pin, with a pin and entries, and without a pin (exit code and result), the watching auditor,
 * a witness, the console's verifier on a bundle, and `candor verify` of an entry. A dash means that the
 * service does not start, so no party can query it.
 */
const rows = rowsOf(`
  ledger.mdb            | missing | lost                 | no file                                                                                | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | UNAVAILABLE
  ledger.mdb            | empty   | lost                 | no_database                                                                            | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | UNAVAILABLE
  ledger.mdb            | cut     | half_written         | anchor_ahead entry_beyond file_cut head_missing id_index journal_ahead page_unreadable | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | UNAVAILABLE
  ledger.mdb            | zeroed  | corrupt              | no_database                                                                            | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | UNAVAILABLE
  ledger.mdb            | altered | corrupt              | entry_missing page_unreadable                                                          | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | UNAVAILABLE
  ledger.mdb            | older   | rollback             | anchor_ahead journal_ahead                                                             | 4 OLD_HEAD      | 4 OLD_HEAD      | 3 UNAVAILABLE | OLD_HEAD      | UNAVAILABLE | unavailable | verified
  ledger.mdb            | other   | lost                 | anchor_root checkpoint_key_replaced entry_key head_key head_missing journal_root       | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY | UNKNOWN_KEY   | UNAVAILABLE | unavailable | UNKNOWN_KEY
  anchor.json           | missing | ok anchor_missing    | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  anchor.json           | empty   | corrupt              | anchor_unreadable                                                                      | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  anchor.json           | cut     | corrupt              | anchor_unreadable                                                                      | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  anchor.json           | zeroed  | corrupt              | anchor_unreadable                                                                      | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  anchor.json           | altered | corrupt              | anchor_signature                                                                       | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  anchor.json           | older   | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  anchor.json           | other   | corrupt              | anchor_signature                                                                       | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  journal.ndjson        | missing | ok journal_missing   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  journal.ndjson        | empty   | ok journal_missing   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  journal.ndjson        | cut     | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  journal.ndjson        | zeroed  | ok journal_missing   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  journal.ndjson        | altered | ok                   | journal_signature                                                                      | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  journal.ndjson        | older   | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  journal.ndjson        | other   | ok                   | journal_signature                                                                      | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  keys/transparency-sth | missing | lost                 | anchor_signature head_key journal_signature key_missing                                | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY | UNKNOWN_KEY   | UNAVAILABLE | unavailable | UNKNOWN_KEY
  keys/transparency-sth | empty   | corrupt              | anchor_signature head_key journal_signature key_damaged                                | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY | UNKNOWN_KEY   | UNAVAILABLE | unavailable | UNKNOWN_KEY
  keys/transparency-sth | cut     | corrupt              | anchor_signature head_key journal_signature key_damaged                                | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY | UNKNOWN_KEY   | UNAVAILABLE | unavailable | UNKNOWN_KEY
  keys/transparency-sth | zeroed  | corrupt              | anchor_signature head_key journal_signature key_damaged                                | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY | UNKNOWN_KEY   | UNAVAILABLE | unavailable | UNKNOWN_KEY
  keys/transparency-sth | altered | corrupt              | anchor_signature head_key journal_signature key_damaged                                | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY | UNKNOWN_KEY   | UNAVAILABLE | unavailable | UNKNOWN_KEY
  keys/transparency-sth | older   | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  keys/transparency-sth | other   | corrupt              | anchor_signature head_key journal_signature key_damaged                                | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY | UNKNOWN_KEY   | UNAVAILABLE | unavailable | UNKNOWN_KEY
  keys/event-signing    | missing | lost                 | entry_key key_missing                                                                  | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | UNKNOWN_KEY
  keys/event-signing    | empty   | corrupt              | entry_key key_damaged                                                                  | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | UNKNOWN_KEY
  keys/event-signing    | cut     | corrupt              | entry_key key_damaged                                                                  | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | UNKNOWN_KEY
  keys/event-signing    | zeroed  | corrupt              | entry_key key_damaged                                                                  | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | UNKNOWN_KEY
  keys/event-signing    | altered | corrupt              | entry_key key_damaged                                                                  | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | UNKNOWN_KEY
  keys/event-signing    | older   | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  keys/event-signing    | other   | corrupt              | entry_key key_damaged                                                                  | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | UNKNOWN_KEY
  keys/checkpoint       | missing | lost                 | key_missing                                                                            | 4 KEY_WITHDRAWN | 4 KEY_WITHDRAWN | 3 UNAVAILABLE | KEY_WITHDRAWN | UNAVAILABLE | unavailable | verified
  keys/checkpoint       | empty   | corrupt              | key_damaged                                                                            | 4 KEY_WITHDRAWN | 4 KEY_WITHDRAWN | 3 UNAVAILABLE | KEY_WITHDRAWN | UNAVAILABLE | unavailable | verified
  keys/checkpoint       | cut     | corrupt              | key_damaged                                                                            | 4 KEY_WITHDRAWN | 4 KEY_WITHDRAWN | 3 UNAVAILABLE | KEY_WITHDRAWN | UNAVAILABLE | unavailable | verified
  keys/checkpoint       | zeroed  | corrupt              | key_damaged                                                                            | 4 KEY_WITHDRAWN | 4 KEY_WITHDRAWN | 3 UNAVAILABLE | KEY_WITHDRAWN | UNAVAILABLE | unavailable | verified
  keys/checkpoint       | altered | corrupt              | key_damaged                                                                            | 4 KEY_WITHDRAWN | 4 KEY_WITHDRAWN | 3 UNAVAILABLE | KEY_WITHDRAWN | UNAVAILABLE | unavailable | verified
  keys/checkpoint       | older   | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  keys/checkpoint       | other   | corrupt              | key_damaged                                                                            | 4 KEY_WITHDRAWN | 4 KEY_WITHDRAWN | 3 UNAVAILABLE | KEY_WITHDRAWN | UNAVAILABLE | unavailable | verified
  keys/access-token     | missing | lost                 | key_missing                                                                            | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  keys/access-token     | empty   | corrupt              | key_damaged                                                                            | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  keys/access-token     | cut     | corrupt              | key_damaged                                                                            | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  keys/access-token     | zeroed  | corrupt              | key_damaged                                                                            | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  keys/access-token     | altered | corrupt              | key_damaged                                                                            | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  keys/access-token     | older   | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  keys/access-token     | other   | corrupt              | key_damaged                                                                            | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  siem.mdb              | missing | ok places_unreadable | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  siem.mdb              | empty   | ok places_unreadable | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  siem.mdb              | cut     | refused siem.mdb     | ok                                                                                     | -               | -               | -             | -             | -           | -           | -
  siem.mdb              | zeroed  | refused siem.mdb     | ok                                                                                     | -               | -               | -             | -             | -           | -           | -
  siem.mdb              | altered | ok places_unreadable | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  siem.mdb              | older   | ok store_older       | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  siem.mdb              | other   | rollback store_older | ok                                                                                     | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  siem.mdb.json         | missing | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  siem.mdb.json         | empty   | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  siem.mdb.json         | cut     | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  siem.mdb.json         | zeroed  | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  siem.mdb.json         | altered | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  instance.json         | missing | copied               | ok                                                                                     | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  instance.json         | empty   | copied               | ok                                                                                     | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  instance.json         | cut     | copied               | ok                                                                                     | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  instance.json         | zeroed  | copied               | ok                                                                                     | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  instance.json         | altered | copied               | ok                                                                                     | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  instance.json         | older   | copied               | ok                                                                                     | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  instance.json         | other   | copied               | ok                                                                                     | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  format.json           | missing | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  format.json           | empty   | refused format.json  | ok                                                                                     | -               | -               | -             | -             | -           | -           | -
  format.json           | cut     | refused format.json  | ok                                                                                     | -               | -               | -             | -             | -           | -           | -
  format.json           | zeroed  | refused format.json  | ok                                                                                     | -               | -               | -             | -             | -           | -           | -
  format.json           | altered | refused format.json  | ok                                                                                     | -               | -               | -             | -             | -           | -           | -
  format.json           | older   | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  format.json           | other   | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  clock.json            | missing | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  clock.json            | empty   | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  clock.json            | cut     | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  clock.json            | zeroed  | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  clock.json            | altered | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  clock.json            | older   | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  clock.json            | other   | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  scrub.json            | missing | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  scrub.json            | empty   | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  scrub.json            | cut     | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  scrub.json            | zeroed  | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  scrub.json            | altered | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  scrub.json            | older   | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  scrub.json            | other   | ok                   | ok                                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
`);

let served: ServedLog;
let other: ServedLog;
let pin: Pin;
let cosigned: Cosigned;
/** Leaf hash of an alert's entry. */
let noted: string;
const folders = { now: '', idle: '', older: '', other: '' };

beforeAll(async () => {
  served = await ServedLog.start();
  served.hasEvents = true;
  await addAlerts(served, 0);
  await served.append(400, 'backup.created'); // not caused by siem.mdb
  folders.older = await served.snapshot();
  cosigned = await cosignedOf(httpLog(served.url), served.ledger);
  await addAlerts(served, 5);
  await served.append(200, 'backup.created');
  await served.snapshot(); // restarts, which the journal records
  folders.now = await served.snapshot();
  folders.idle = await served.snapshot();
  pin = await pinOf(httpLog(served.url));
  const { canonical } = await served.ledger.leaf({ leaf_index: 3 });
  noted = bytesToHex(leafHash(sha256, canonical));
  other = await ServedLog.start();
  await addAlerts(other, 1000);
  await other.append(700, 'backup.created');
  folders.other = await other.snapshot();
  let days = 100;
  for (const folder of [folders.older, folders.now, folders.other]) {
    await remember(folder, days++);
    await recordInstance(folder);
  }
});
afterAll(() => Promise.all([served.close(), other.close()]));

/** Raises and logs alerts as the service does: siem.mdb records their places in the log. */
const addAlerts = (log: ServedLog, from: number): Promise<void> =>
  log.tamper(async (folder) => {
    const parts = await startParts(folder);
    await parts.store.commit(alertsOf(from, 5));
    parts.pump.poke();
    await parts.pump.idle();
    await parts.close();
  });

/** Files that a folder has after a scrub, and after a start at which the clock was days ahead. */
async function remember(folder: string, days: number): Promise<void> {
  await scrub(folder);
  const copy = mkdtempSync(join(tmpdir(), 'candor-verdict-'));
  cloneFolder(folder, copy);
  const ahead = BigInt(Date.now() + days * 86_400_000) * 1_000_000n;
  const ledger = await openLedger({ dataDir: copy, clock: () => ahead });
  await ledger.close();
  for (const name of ['clock.json', 'scrub.json']) cpSync(join(copy, name), join(folder, name));
  rmSync(copy, { recursive: true });
}

async function scrub(folder: string): Promise<void> {
  const reader = await SnapshotReader.open({ dataDir: folder, scrub: 'by hand' });
  await reader.scrub.step();
  await reader.close();
}

const pathOf = (folder: string, file: string): string => {
  if (!file.startsWith('keys/')) return join(folder, file);
  const purpose = file.slice('keys/'.length);
  const names = readdirSync(join(folder, 'keys'));
  const name = names.find((one) =>
    readFileSync(join(folder, 'keys', one), 'utf8').includes(`"svc_purpose":"${purpose}"`),
  );
  return join(folder, 'keys', name!);
};

function damageFile(folder: string, file: string, damage: Damage): void {
  const path = pathOf(folder, file);
  const change = (edit: (bytes: Buffer) => Buffer) => writeFileSync(path, edit(readFileSync(path)));
  switch (damage) {
    case 'missing':
      return rmSync(path);
    case 'empty':
      return writeFileSync(path, '');
    case 'cut':
      return change((bytes) => bytes.subarray(0, bytes.length >> 1));
    case 'zeroed':
      return change((bytes) => bytes.fill(0));
    case 'altered':
      return change(alter);
    case 'older':
      return cpSync(pathOf(folders.older, file), path);
    case 'other':
      return cpSync(pathOf(folders.other, file), path);
  }
}

/**
 * Changes the root of the last head of a JSON file, the key in a key file, a digit in other JSON files, the
 * leaf hash that siem.mdb records for a logged alert, or one bit of every page of ledger.mdb. LMDB follows
 * what it finds in a damaged page of siem.mdb, so that file needs a targeted change.
 */
function alter(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1');
  if (text.includes(noted)) return Buffer.from(text.replaceAll(noted, flipped(noted)), 'latin1');
  const at = Math.max(text.lastIndexOf('"root_hash":"') + 20, text.lastIndexOf('"x":"') + 10);
  const digit = text.search(/\d\D*$/);
  if (!text.startsWith('{'))
    for (let page = 2; page * 4096 + 100 < bytes.length; page++) bytes[page * 4096 + 100]! ^= 1;
  else if (at > 20) bytes[at] = bytes[at] === 0x61 ? 0x62 : 0x61;
  else bytes[digit] = bytes[digit] === 0x31 ? 0x32 : 0x31;
  return bytes;
}

const flipped = (hash: string): string => (hash.startsWith('0') ? '1' : '0') + hash.slice(1);

/** Starts a service over this folder, step by step. The served log represents its answers. */
async function startOf(folder: string, file: string): Promise<string> {
  try {
    takeDataFolder(folder).release();
  } catch (error) {
    expect(String(error)).toContain('format.json');
    return 'refused format.json';
  }
  await served.restore(folder);
  const health = healthOf(await served.ledger.status());
  if (!health.startsWith('ok')) return health;
  if (file === 'scrub.json') await scrub(folder);
  if (file !== 'siem.mdb') return health;
  try {
    await openStore({ dataDir: folder, alertWindowMs: 3_600_000 }).close();
  } catch (error) {
    expect(String(error)).toContain('siem.mdb');
    return 'refused siem.mdb';
  }
  return health;
}

test.each(rows)('%s %s: %s', async (file, damage, ...verdicts) => {
  const folder = mkdtempSync(join(tmpdir(), 'candor-verdict-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cloneFolder(folders.now, folder);
  await recordInstance(folder);
  damageFile(folder, file!, damage as Damage);
  const checked = await fsckOf(folder);
  const start = await startOf(folder, file!);
  const actual = [start, checked, ...(start.startsWith('refused') ? unasked : await askedOf())];
  expect(actual).toEqual(verdicts);
});

const unasked = Array.from({ length: 7 }, () => '-');

async function askedOf(): Promise<string[]> {
  const source = httpLog(served.url);
  const audits = [
    await auditOf(source, pin),
    await auditOf(source, pin, { entries: true }),
    await auditOf(source, undefined),
  ];
  expect(audits.map(({ evidence }) => evidence)).toEqual([undefined, undefined, undefined]);
  const asked = [await witnessOf(source, cosigned), await consoleOf(source, 3), await verifyOf(source, 3)];
  const watched = await watchOf(
    pin,
    () => source,
    async () => {
      await served.restore(folders.idle);
      return source;
    },
  );
  return [...audits.map(({ exit, found }) => `${exit} ${found}`), watched, ...asked];
}
