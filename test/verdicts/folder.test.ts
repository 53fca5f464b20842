/**
 * Each file of a data folder, missing, empty, cut, zeroed, altered, older or of another log: what start-up and fsck
 * say, and that no auditor accuses the log for it.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { httpLog } from '../../src/client/log-source.ts';
import type { Pin } from '../../src/client/pin.ts';
import { ServedLog } from '../client/served-log.ts';
import { cloneFolder } from '../copy-folder.ts';
import { auditOf, fsckOf, healthOf, pinOf } from './parties.ts';

/** What is done to a file. `older` and `other` are the same file of an earlier time, and of another log. */
type Damage = 'missing' | 'empty' | 'cut' | 'zeroed' | 'altered' | 'older' | 'other';

interface Row {
  readonly file: string;
  readonly damage: Damage;
  /** Of start-up: `ok` or the fault, then findings. */
  readonly start: string;
  /** Codes of fsck's findings. */
  readonly fsck: string;
  /** Exit codes of audits of the served log: with a pin, with a pin and entries, without a pin. Never misbehaviour. */
  readonly audits: readonly number[];
}

const { ok, refused: no, unavailable: away } = exitCodes;
const sound = [ok, ok, ok];
const unavailable = [away, away, away];
const refused = [no, no, no];
/** The pin shows that something is gone; without a pin nothing is known. */
const refusedKnown = [no, no, away];

const rows: readonly Row[] = [
  { file: 'ledger.mdb', damage: 'missing', start: 'lost', fsck: 'no file', audits: unavailable },
  { file: 'ledger.mdb', damage: 'empty', start: 'lost', fsck: 'no_database', audits: unavailable },
  {
    file: 'ledger.mdb',
    damage: 'cut',
    start: 'half_written',
    fsck: 'anchor_ahead entry_beyond file_cut head_missing journal_ahead page_unreadable',
    audits: unavailable,
  },
  { file: 'ledger.mdb', damage: 'zeroed', start: 'corrupt', fsck: 'no_database', audits: unavailable },
  {
    file: 'ledger.mdb',
    damage: 'altered',
    start: 'corrupt',
    fsck: 'entry_missing page_unreadable',
    audits: unavailable,
  },
  {
    file: 'ledger.mdb',
    damage: 'older',
    start: 'rollback',
    fsck: 'anchor_ahead journal_ahead',
    audits: refusedKnown,
  },
  {
    file: 'ledger.mdb',
    damage: 'other',
    start: 'lost',
    fsck: 'anchor_root checkpoint_key_replaced entry_key head_key head_missing journal_root',
    audits: refused,
  },
  { file: 'anchor.json', damage: 'missing', start: 'ok anchor_missing', fsck: 'ok', audits: sound },
  { file: 'anchor.json', damage: 'empty', start: 'corrupt', fsck: 'anchor_unreadable', audits: unavailable },
  { file: 'anchor.json', damage: 'cut', start: 'corrupt', fsck: 'anchor_unreadable', audits: unavailable },
  { file: 'anchor.json', damage: 'zeroed', start: 'corrupt', fsck: 'anchor_unreadable', audits: unavailable },
  { file: 'anchor.json', damage: 'altered', start: 'corrupt', fsck: 'anchor_signature', audits: unavailable },
  { file: 'anchor.json', damage: 'older', start: 'ok', fsck: 'ok', audits: sound },
  { file: 'anchor.json', damage: 'other', start: 'corrupt', fsck: 'anchor_signature', audits: unavailable },
  { file: 'journal.ndjson', damage: 'missing', start: 'ok journal_missing', fsck: 'ok', audits: sound },
  { file: 'journal.ndjson', damage: 'empty', start: 'ok journal_missing', fsck: 'ok', audits: sound },
  { file: 'journal.ndjson', damage: 'cut', start: 'ok', fsck: 'ok', audits: sound },
  { file: 'journal.ndjson', damage: 'zeroed', start: 'ok journal_missing', fsck: 'ok', audits: sound },
  { file: 'journal.ndjson', damage: 'altered', start: 'ok', fsck: 'journal_signature', audits: sound },
  { file: 'journal.ndjson', damage: 'older', start: 'ok', fsck: 'ok', audits: sound },
  { file: 'journal.ndjson', damage: 'other', start: 'ok', fsck: 'ok', audits: sound },
  {
    file: 'keys/transparency-sth',
    damage: 'missing',
    start: 'lost',
    fsck: 'anchor_signature head_key journal_signature',
    audits: refused,
  },
  {
    file: 'keys/transparency-sth',
    damage: 'empty',
    start: 'corrupt',
    fsck: 'anchor_signature head_key journal_signature key_damaged',
    audits: refused,
  },
  {
    file: 'keys/transparency-sth',
    damage: 'cut',
    start: 'corrupt',
    fsck: 'anchor_signature head_key journal_signature key_damaged',
    audits: refused,
  },
  {
    file: 'keys/transparency-sth',
    damage: 'zeroed',
    start: 'corrupt',
    fsck: 'anchor_signature head_key journal_signature key_damaged',
    audits: refused,
  },
  {
    file: 'keys/transparency-sth',
    damage: 'altered',
    start: 'corrupt',
    fsck: 'anchor_signature head_key journal_signature key_damaged',
    audits: refused,
  },
  { file: 'keys/transparency-sth', damage: 'older', start: 'ok', fsck: 'ok', audits: sound },
  {
    file: 'keys/transparency-sth',
    damage: 'other',
    start: 'corrupt',
    fsck: 'anchor_signature head_key journal_signature key_damaged',
    audits: refused,
  },
  { file: 'keys/event-signing', damage: 'missing', start: 'lost', fsck: 'entry_key', audits: unavailable },
  {
    file: 'keys/event-signing',
    damage: 'empty',
    start: 'corrupt',
    fsck: 'entry_key key_damaged',
    audits: unavailable,
  },
  {
    file: 'keys/event-signing',
    damage: 'cut',
    start: 'corrupt',
    fsck: 'entry_key key_damaged',
    audits: unavailable,
  },
  {
    file: 'keys/event-signing',
    damage: 'zeroed',
    start: 'corrupt',
    fsck: 'entry_key key_damaged',
    audits: unavailable,
  },
  {
    file: 'keys/event-signing',
    damage: 'altered',
    start: 'corrupt',
    fsck: 'entry_key key_damaged',
    audits: unavailable,
  },
  { file: 'keys/event-signing', damage: 'older', start: 'ok', fsck: 'ok', audits: sound },
  {
    file: 'keys/event-signing',
    damage: 'other',
    start: 'corrupt',
    fsck: 'entry_key key_damaged',
    audits: unavailable,
  },
  { file: 'keys/checkpoint', damage: 'missing', start: 'lost', fsck: 'ok', audits: refusedKnown },
  { file: 'keys/checkpoint', damage: 'empty', start: 'corrupt', fsck: 'key_damaged', audits: refusedKnown },
  { file: 'keys/checkpoint', damage: 'cut', start: 'corrupt', fsck: 'key_damaged', audits: refusedKnown },
  { file: 'keys/checkpoint', damage: 'zeroed', start: 'corrupt', fsck: 'key_damaged', audits: refusedKnown },
  { file: 'keys/checkpoint', damage: 'altered', start: 'corrupt', fsck: 'key_damaged', audits: refusedKnown },
  { file: 'keys/checkpoint', damage: 'older', start: 'ok', fsck: 'ok', audits: sound },
  { file: 'keys/checkpoint', damage: 'other', start: 'corrupt', fsck: 'key_damaged', audits: refusedKnown },
  { file: 'keys/access-token', damage: 'missing', start: 'lost', fsck: 'ok', audits: unavailable },
  { file: 'keys/access-token', damage: 'empty', start: 'corrupt', fsck: 'key_damaged', audits: unavailable },
  { file: 'keys/access-token', damage: 'cut', start: 'corrupt', fsck: 'key_damaged', audits: unavailable },
  { file: 'keys/access-token', damage: 'zeroed', start: 'corrupt', fsck: 'key_damaged', audits: unavailable },
  {
    file: 'keys/access-token',
    damage: 'altered',
    start: 'corrupt',
    fsck: 'key_damaged',
    audits: unavailable,
  },
  { file: 'keys/access-token', damage: 'older', start: 'ok', fsck: 'ok', audits: sound },
  { file: 'keys/access-token', damage: 'other', start: 'corrupt', fsck: 'key_damaged', audits: unavailable },
];

let served: ServedLog;
let pin: Pin;
const folders = { now: '', idle: '', older: '', other: '' };

beforeAll(async () => {
  served = await ServedLog.start();
  await served.append(400);
  folders.older = await served.snapshot();
  await served.append(200);
  await served.snapshot(); // starts again, which the journal records
  folders.now = await served.snapshot();
  folders.idle = await served.snapshot();
  pin = await pinOf(httpLog(served.url));
  const other = await ServedLog.start();
  await other.append(700);
  folders.other = await other.snapshot();
});
afterAll(() => served.close());

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

/** Another root in the last head of a JSON file, another public key in a key; one bit of every page of a database. */
function alter(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1');
  const at = Math.max(text.lastIndexOf('"root_hash":"') + 20, text.lastIndexOf('"x":"') + 10);
  if (text.startsWith('{')) bytes[at] = bytes[at] === 0x61 ? 0x62 : 0x61;
  else for (let page = 2; page * 4096 + 100 < bytes.length; page++) bytes[page * 4096 + 100]! ^= 1;
  return bytes;
}

test.each(rows)('$file $damage: $start', async ({ file, damage, start, fsck, audits }) => {
  const folder = mkdtempSync(join(tmpdir(), 'candor-verdict-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cloneFolder(folders.now, folder);
  damageFile(folder, file, damage);
  expect(await fsckOf(folder)).toBe(fsck);
  await served.restore(folder);
  expect(healthOf(await served.ledger.status())).toBe(start);
  const source = httpLog(served.url);
  const found = [
    await auditOf(source, pin),
    await auditOf(source, pin, { entries: true }),
    await auditOf(source, undefined),
  ];
  expect(found.map(({ exit }) => exit)).toEqual(audits);
  expect(found.map(({ evidence }) => evidence)).toEqual([undefined, undefined, undefined]);
  await served.restore(folders.idle);
});
