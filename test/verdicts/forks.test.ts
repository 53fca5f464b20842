/**
 * An insider with the files and the keys of the log makes forks and false statements. Each party is tested
 * alone, and two honest auditors compare their pins. Every signed false statement results in evidence
 * against the log.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { auditOnce } from '../../src/cli/audit.ts';
import { comparePins } from '../../src/cli/compare-pins.ts';
import { savePin } from '../../src/cli/pin-file.ts';
import { httpLog } from '../../src/client/log-source.ts';
import type { Pin } from '../../src/client/pin.ts';
import { exitCodes } from '../../src/service/exit-codes.ts';
import { type Entry, rewrite, signOtherRoot } from '../client/insider.ts';
import { ServedLog } from '../client/served-log.ts';
import { cloneFolder } from '../files/copy-folder.ts';
import {
  type Cosigned,
  commandOf,
  consoleOf,
  consolePinOf,
  cosignedOf,
  fsckOf,
  healthOf,
  pinOf,
  rowsOf,
  verifyOf,
  watchedOf,
  witnessOf,
} from './parties.ts';

let log: ServedLog;
const startedAt = Date.now();
const hourMs = 3_600_000;
/**
 * Copies of the honest log with three entries, with six, after a rotation, and with three entries after the
 * rotation.
 */
const honest = { three: '', six: '', rotated: '', nine: '', rotatedNine: '' };
/** Pins and cosigned checkpoints of the honest log at several sizes. */
const seen = {} as Record<'six' | 'nine' | 'rotated' | 'rotatedNine', { pin: Pin; cosigned: Cosigned }>;

async function observed() {
  const source = httpLog(log.url);
  return { pin: await pinOf(source), cosigned: await cosignedOf(source, log.ledger) };
}

beforeAll(async () => {
  log = await ServedLog.start(startedAt - 3 * hourMs);
  await log.append(3);
  log.now = startedAt;
  honest.three = await log.snapshot();
  await log.append(3);
  honest.six = await log.snapshot();
  seen.six = await observed();
  await log.append(3);
  honest.nine = await log.snapshot();
  seen.nine = await observed();
  await log.restore(cloneOf(honest.six));
  await log.ledger.rotateKey('transparency-sth', 'system');
  honest.rotated = await log.snapshot();
  await log.append(1);
  seen.rotated = await observed();
  await log.append(1);
  honest.rotatedNine = await log.snapshot();
  seen.rotatedNine = await observed();
});
afterAll(() => log.close());

const temporary: string[] = [];
afterAll(() => {
  for (const path of temporary) rmSync(path, { recursive: true, force: true });
});
function cloneOf(folder: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'candor-fork-'));
  temporary.push(copy);
  cloneFolder(folder, copy);
  return copy;
}

/** Continues a copy of the log with entries that differ from the honest entries. */
const from =
  (copy: keyof typeof honest, more: number, then: () => Promise<unknown> = async () => {}) =>
  async () => {
    await log.restore(cloneOf(honest[copy]));
    if (more > 0) await log.append(more);
    await then();
  };

/** Rewrites and signs the log of six entries with changed entries, then continues it. */
const rewritten =
  (change: (entries: Entry[]) => unknown, more = 0, timestampNs?: bigint) =>
  async () => {
    await log.restore(cloneOf(honest.six));
    await log.tamper((path) => rewrite(path, change, timestampNs));
    if (more > 0) await log.append(more);
  };

const dated = (days: number, id: string) => (entries: Entry[]) =>
  entries.push({
    ...entries[1]!,
    id: `01940000-0000-7000-8000-ffffffffff${id}`,
    occurred_at: new Date(startedAt + days * 86_400_000).toISOString(),
  });

const rotate = () => log.ledger.rotateKey('transparency-sth', 'system');
const edited = (entries: Entry[]) => {
  entries[1]!.data = { title: 'nothing happened' };
};

const forks: Record<string, () => Promise<unknown>> = {
  'smaller tree, later time': from('three', 1),
  'another tree of this size': from('three', 3),
  'fork below the pin': from('three', 9),
  'fork above the pin': from('six', 4),
  'fork above the pin, smaller than the honest log': from('six', 1),
  'fork below the pin, then a rotation': from('three', 9, rotate),
  'rotation, then a fork below the pin': from('three', 0, async () => {
    await rotate();
    await log.append(9);
  }),
  'fork above the pin, then a rotation': from('six', 4, rotate),
  'fork after the rotation': from('rotated', 5),
  'entry edited': rewritten(edited),
  'entry edited, then more': rewritten(edited, 4),
  'entry removed, then more': rewritten((entries) => void entries.splice(2, 1), 4),
  'entry inserted, then more': rewritten(
    (entries) => void entries.splice(2, 0, { ...entries[1]!, id: entries[1]!.id!.toString().replace(/.$/, 'f') }),
    4,
  ),
  'duplicate id': rewritten((entries) => entries.push({ ...entries[1]! }), 0, laterNs(1)),
  'entry dated back': rewritten(dated(-3, 'aa'), 0, laterNs(1)),
  'entry dated ahead': rewritten(dated(3, 'bb'), 0, laterNs(1)),
  'larger tree, earlier time': rewritten(dated(0, 'cc'), 0, laterNs(-3600)),
  'head dated ahead': async () => {
    log.now += hourMs;
    await from('six', 1)();
  },
  'root of no tree': async () => {
    await log.restore(cloneOf(honest.six));
    await log.tamper(signOtherRoot);
  },
};

/** Returns the time of a head, in seconds after the start. */
function laterNs(seconds: number): bigint {
  const ns = BigInt(startedAt + seconds * 1000) * 1_000_000n;
  return ns - (ns % 1024n);
}

/**
 * Columns: start-up, fsck, audits with the pin, with pin and entries, without a pin but with entries (exit
 * code, result, evidence), the watching auditor, the witness, the console on a bundle, the console with the
 * pin, `candor verify` of an entry with the pin, and two comparisons. One auditor saw all nine honest entries, and the
 * other auditor and a witness saw only the fork. The first auditor's pin is compared with the second auditor's pin,
 * then with the witness's checkpoint. In the other columns, auditor, console and witness had seen six entries, or the
 * state after the rotation.
 *
 * A smaller checkpoint alone contradicts nothing, because checkpoints have no time. An insider who rewrites the whole
 * log loses the heads of its history. If the second auditor rejects the head, there is no pin to compare.
 */
const rows = rowsOf(`
  smaller tree, later time                        | ok      | ok        | 5 ROLLBACK evidence       | 5 ROLLBACK evidence       | 0 pinned                | ROLLBACK ends             | ahead                 | good        | ROLLBACK evidence       | 5 ROLLBACK evidence       | 5 TIME_WENT_BACK evidence | 5 INCONSISTENT evidence
  another tree of this size                       | ok      | ok        | 5 FORK evidence           | 5 FORK evidence           | 0 pinned                | FORK ends                 | inconsistent evidence | good        | FORK evidence           | 5 FORK evidence           | 5 TIME_WENT_BACK evidence | 5 INCONSISTENT evidence
  fork below the pin                              | ok      | ok        | 5 INCONSISTENT evidence   | 5 INCONSISTENT evidence   | 0 pinned                | INCONSISTENT ends         | inconsistent evidence | good        | INCONSISTENT evidence   | 5 INCONSISTENT evidence   | 5 INCONSISTENT evidence   | 5 INCONSISTENT evidence
  fork above the pin                              | ok      | ok        | 0 extended                | 0 extended                | 0 pinned                | size 10, OLD_HEAD         | cosigned              | good        | verified                | verified                  | 5 INCONSISTENT evidence   | 5 INCONSISTENT evidence
  fork above the pin, smaller than the honest log | ok      | ok        | 0 extended                | 0 extended                | 0 pinned                | size 7, INCONSISTENT ends | cosigned              | good        | verified                | verified                  | 5 TIME_WENT_BACK evidence | 5 INCONSISTENT evidence
  fork below the pin, then a rotation             | ok      | ok        | 5 INCONSISTENT evidence   | 5 INCONSISTENT evidence   | 0 pinned                | INCONSISTENT ends         | inconsistent evidence | good        | INCONSISTENT evidence   | 5 INCONSISTENT evidence   | 5 INCONSISTENT evidence   | 5 INCONSISTENT evidence
  rotation, then a fork below the pin             | ok      | ok        | 5 INCONSISTENT evidence   | 5 INCONSISTENT evidence   | 0 pinned                | INCONSISTENT ends         | inconsistent evidence | good        | INCONSISTENT evidence   | 5 INCONSISTENT evidence   | 5 INCONSISTENT evidence   | 5 INCONSISTENT evidence
  fork above the pin, then a rotation             | ok      | ok        | 0 extended                | 0 extended                | 0 pinned                | size 12, OLD_HEAD         | cosigned              | good        | verified                | verified                  | 5 INCONSISTENT evidence   | 5 INCONSISTENT evidence
  fork after the rotation                         | ok      | ok        | 5 INCONSISTENT evidence   | 5 INCONSISTENT evidence   | 0 pinned                | INCONSISTENT ends         | inconsistent evidence | good        | INCONSISTENT evidence   | 5 INCONSISTENT evidence   | 5 INCONSISTENT evidence   | 5 INCONSISTENT evidence
  entry edited                                    | ok      | ok        | 5 FORK evidence           | 5 FORK evidence           | 0 pinned                | FORK ends                 | inconsistent evidence | good        | FORK evidence           | 5 FORK evidence           | 5 INCONSISTENT evidence   | 5 INCONSISTENT evidence
  entry edited, then more                         | ok      | ok        | 5 INCONSISTENT evidence   | 5 INCONSISTENT evidence   | 0 pinned                | INCONSISTENT ends         | inconsistent evidence | good        | INCONSISTENT evidence   | 5 INCONSISTENT evidence   | 5 INCONSISTENT evidence   | 5 INCONSISTENT evidence
  entry removed, then more                        | ok      | ok        | 5 INCONSISTENT evidence   | 5 INCONSISTENT evidence   | 0 pinned                | INCONSISTENT ends         | inconsistent evidence | good        | INCONSISTENT evidence   | 5 INCONSISTENT evidence   | 5 FORK evidence           | 5 FORK evidence
  entry inserted, then more                       | ok      | ok        | 5 INCONSISTENT evidence   | 5 INCONSISTENT evidence   | 0 pinned                | INCONSISTENT ends         | inconsistent evidence | good        | INCONSISTENT evidence   | 5 INCONSISTENT evidence   | 5 INCONSISTENT evidence   | 5 INCONSISTENT evidence
  duplicate id                                    | ok      | id_index  | 4 HEAD_MISSING file       | 4 HEAD_MISSING file       | 4 DUPLICATE_ENTRY file  | HEAD_MISSING, size 9      | cosigned              | good        | HEAD_MISSING file       | 4 HEAD_MISSING file       | 5 TIME_WENT_BACK evidence | 5 INCONSISTENT evidence
  entry dated back                                | ok      | ok        | 4 HEAD_MISSING file       | 4 HEAD_MISSING file       | 4 BACKDATED file        | HEAD_MISSING, size 9      | cosigned              | good        | HEAD_MISSING file       | 4 HEAD_MISSING file       | 5 TIME_WENT_BACK evidence | 5 INCONSISTENT evidence
  entry dated ahead                               | ok      | ok        | 4 HEAD_MISSING file       | 4 HEAD_MISSING file       | 4 FUTURE file           | HEAD_MISSING, size 9      | cosigned              | good        | HEAD_MISSING file       | 4 HEAD_MISSING file       | 5 TIME_WENT_BACK evidence | 5 INCONSISTENT evidence
  larger tree, earlier time                       | ok      | ok        | 5 TIME_WENT_BACK evidence | 5 TIME_WENT_BACK evidence | 4 FUTURE file           | TIME_WENT_BACK ends       | cosigned              | good        | TIME_WENT_BACK evidence | 5 TIME_WENT_BACK evidence | 5 INCONSISTENT evidence   | 5 INCONSISTENT evidence
  head dated ahead                                | ok      | ok        | 4 HEAD_FROM_FUTURE file   | 4 HEAD_FROM_FUTURE file   | 4 HEAD_FROM_FUTURE file | HEAD_FROM_FUTURE, size 9  | cosigned              | good        | HEAD_FROM_FUTURE file   | 4 HEAD_FROM_FUTURE file   | no pin: HEAD_FROM_FUTURE  | 5 INCONSISTENT evidence
  root of no tree                                 | corrupt | head_root | 5 FORK evidence           | 5 FORK evidence           | 3 UNAVAILABLE           | FORK ends                 | UNAVAILABLE           | unavailable | FORK evidence           | 5 FORK evidence           | no pin: UNAVAILABLE       | no checkpoint
`);

test.each(rows)('every party has the expected verdict on this fork: %s', async (fork, ...verdicts) => {
  log.now = startedAt + 10_000;
  await forks[fork!]!();
  const folder = await log.snapshot();
  const isRotated = fork === 'fork after the rotation';
  const { pin, cosigned } = isRotated ? seen.rotated : seen.six;
  const truth = isRotated ? 'rotatedNine' : 'nine';
  const state = mkdtempSync(join(tmpdir(), 'candor-notes-'));
  onTestFinished(() => rmSync(state, { recursive: true, force: true }));
  const source = httpLog(log.url);
  const audited = async (name: string, before: Pin | undefined, entries?: true) => {
    const path = join(state, name);
    if (before !== undefined) await savePin(path, before, undefined);
    return commandOf(await auditOnce(source, { state: path, interval: 0, entries: entries ?? false }));
  };
  const note = await log.ledger.checkpoint().catch(() => undefined);
  const actual = [
    healthOf(await log.ledger.status()),
    await fsckOf(folder),
    await audited('pinned', pin),
    await audited('entries', pin, true),
    await audited('fresh', undefined, true),
    await watching(pin, truth),
    await witnessOf(source, cosigned),
    await consoleOf(source, 2),
    await consolePinOf(log.url, pin),
    await verifyOf(source, 2, pin),
    await notes(state, truth),
    await notesOfWitness(state, truth, note, folder),
  ];
  expect(actual).toEqual(verdicts);
});

type Truth = 'nine' | 'rotatedNine';

/**
 * The fork is visible only in `/checkpoint`, while the heads are honest. An audit detects it, and so does a comparison
 * of a pin with that checkpoint.
 */
test.each([
  [7, '5 INCONSISTENT evidence', '5 INCONSISTENT evidence'],
  [8, '5 INCONSISTENT evidence', '5 INCONSISTENT evidence'],
  [9, '5 FORK evidence', '5 FORK evidence'],
  [12, '4 PROOF_WITHHELD file', '5 INCONSISTENT evidence'],
] as const)('an audit detects a forked checkpoint of size %i', async (size, audited, compared) => {
  log.now = startedAt + 10_000;
  await from('six', size - 6)();
  const note = await log.ledger.checkpoint();
  const folder = mkdtempSync(join(tmpdir(), 'candor-notes-'));
  temporary.push(folder);
  const [state, own, kept] = ['state', 'own', 'note'].map((name) => join(folder, name)) as [string, string, string];
  const source = httpLog(log.url);
  await savePin(own, seen.nine.pin, undefined);
  writeFileSync(kept, note);
  const notes = [];
  for (const copy of [await log.snapshot(), cloneOf(honest.nine)]) {
    await log.restore(copy);
    notes.push(commandOf(await comparePins([own, kept], source, Date.now())));
  }
  expect(notes).toContain(compared);
  log.lies = [{ path: '/checkpoint', tell: () => note }];
  onTestFinished(() => void log.lies.pop());
  await savePin(state, seen.six.pin, undefined);
  expect(commandOf(await auditOnce(source, { state, interval: 0, entries: false }))).toBe(audited);
});

test('two faults with the same code within an hour are saved in two evidence files, a repeated fault only once', async () => {
  log.now = startedAt + 10_000;
  const state = join(mkdtempSync(join(tmpdir(), 'candor-notes-')), 'state');
  temporary.push(join(state, '..'));
  const notes = [];
  for (const more of [6, 7]) {
    await from('six', more)();
    notes.push(await log.ledger.checkpoint());
  }
  await log.restore(cloneOf(honest.nine));
  await savePin(state, seen.six.pin, undefined);
  onTestFinished(() => void log.lies.pop());
  const files = [];
  const states = [];
  for (const note of [notes[0]!, notes[1]!, notes[0]!]) {
    log.lies = [{ path: '/checkpoint', tell: () => note }];
    const report = await auditOnce(httpLog(log.url), { state, interval: 0, entries: false });
    expect(commandOf(report)).toBe('4 PROOF_WITHHELD file');
    files.push(String(report.fields.evidence));
    states.push(report.state);
    expect(JSON.parse(readFileSync(files.at(-1)!, 'utf8'))).toMatchObject({ checkpoint: note });
  }
  expect(files[2]).toBe(files[0]);
  expect(states[1]).not.toBe(states[0]);
});

/** Returns the watching auditor's verdict on the false log, and then on the honest log. */
async function watching(pin: Pin, truth: Truth): Promise<string> {
  const copy = cloneOf(await log.snapshot());
  const serve = (folder: string) => async () => {
    await log.restore(folder);
    return httpLog(log.url);
  };
  const { reports, ended } = await watchedOf(pin, [serve(copy), serve(cloneOf(honest[truth]))]);
  await log.restore(copy);
  const found = reports.map(({ fault, state }) => fault?.code ?? state).join(', ');
  return ended ? `${found} ends` : found;
}

/**
 * Compares the pins of two honest auditors: one has seen only the honest log, the other only the fork. Each
 * auditor queries the version of the log that it has seen.
 */
async function notes(state: string, truth: Truth): Promise<string> {
  const [own, other] = [join(state, 'own'), join(state, 'other')];
  const source = httpLog(log.url);
  await savePin(own, seen[truth].pin, undefined);
  const first = await auditOnce(source, { state: other, interval: 0, entries: false });
  if (first.fault !== undefined) return `no pin: ${first.fault.code}`;
  const compared = await comparePins([own, other], source, Date.now());
  if (compared.exit === exitCodes.misbehaviour) return commandOf(compared);
  await log.restore(cloneOf(honest[truth]));
  return commandOf(await comparePins([own, other], source, Date.now()));
}

/** Compares the pin of an honest auditor with the checkpoint of the fork; each log is queried for the proof. */
async function notesOfWitness(state: string, truth: Truth, note: string | undefined, fork: string): Promise<string> {
  if (note === undefined) return 'no checkpoint';
  const [own, kept] = [join(state, 'own'), join(state, 'note')];
  writeFileSync(kept, note);
  const compared = [];
  for (const folder of [fork, honest[truth]]) {
    await log.restore(cloneOf(folder));
    compared.push(commandOf(await comparePins([own, kept], httpLog(log.url), Date.now())));
  }
  return compared.find((found) => found.startsWith('5')) ?? compared.join(', ');
}
