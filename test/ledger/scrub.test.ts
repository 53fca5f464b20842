import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { sha256 } from '../../src/crypto/sha256.ts';
import { pauseBefore } from '../../src/ledger/reads/scrub.ts';
import { SnapshotReader } from '../../src/ledger/reads/snapshot-reader.ts';
import { leafHash } from '../../src/tlog/tree.ts';
import { uuidToBytes } from '../../src/uuid.ts';
import { flipInPlace, type KnownLog, logOf, tamper } from './damaged-log.ts';
import { entries, entry, open } from './fixture.ts';

/** Opens a reader whose scrub the test runs. */
async function readerOf({ dataDir }: Pick<KnownLog, 'dataDir'>): Promise<SnapshotReader> {
  const reader = await SnapshotReader.open({ dataDir, scrub: 'by hand' });
  onTestFinished(() => reader.close());
  return reader;
}

/** Runs the scrub to the end of the current pass, or a whole pass. */
async function passOf(reader: SnapshotReader) {
  const before = (await reader.report()).scrub.last_pass_at;
  for (let steps = 0; steps < 1000; steps++) {
    await reader.scrub.step();
    const report = await reader.report();
    if (report.scrub.last_pass_at !== before) return report;
  }
  throw new Error('a pass does not end');
}

test('a pass over a healthy log checks every entry and finds nothing', async () => {
  const log = await logOf(1, 300, 600);
  await open(log.dataDir);
  const report = await passOf(await readerOf(log));
  expect(report).toMatchObject({ scrub: { checked: 600, total: 600, last_pass_damaged: 0 } });
  expect(report.damage).toBeUndefined();
});

test.each([
  ['an entry', (log: KnownLog) => [log.canonical[77]!, 40] as const, /entry 77/],
  ['a leaf in a full page', (log: KnownLog) => [leafHash(sha256, log.canonical[77]!), 0] as const, /page 0\/0/],
  ['a leaf in the last page', (log: KnownLog) => [leafHash(sha256, log.canonical[580]!), 0] as const, /page 0\/2/],
  ['an old head', (log: KnownLog) => [log.heads[0]!.signature, 1] as const, /head of 300 leaves/],
  ['the index of ids', () => [Buffer.from(entry(5).id.replaceAll('-', ''), 'hex'), 23] as const, /index of ids/],
])('a pass finds damage in %s, and a pass after the repair clears the finding', async (_, place, message) => {
  const log = await logOf(300, 600);
  const ledger = await open(log.dataDir);
  const [wanted, at] = place(log);
  const repair = flipInPlace(log, wanted, at);
  const reader = await readerOf(log);
  const report = await passOf(reader);
  expect(report.scrub.last_pass_damaged).toBeGreaterThan(0);
  expect(report.damage?.message).toMatch(message);
  await ledger.reportReads(report);
  expect((await ledger.status()).findings).toMatchObject([{ code: 'data_damaged' }]);
  expect((await ledger.status()).scrub).toEqual(report.scrub);
  repair();
  const after = await passOf(await readerOf(log));
  expect(after.scrub.last_pass_damaged).toBe(0);
  await ledger.reportReads(after);
  expect((await ledger.status()).findings).toEqual([]);
});

test.each<[string, number[], RegExp]>([
  ['names another entry', [0, 1, 1], /index of kinds does not name entry 2/],
  ['names an entry beyond the end of the log', [0, 1, 2 ** 40], /index of kinds does not name entry 2/],
  ['lacks the last entry', [0, 1], /index by kind has 2 of 3/],
  ['has an entry that the log lacks', [0, 1, 2, 3], /index by kind has 4 of 3/],
])('a pass finds an index of kinds that %s', async (_, places, message) => {
  const log = await logOf(3);
  const ledger = await open(log.dataDir);
  const reader = await readerOf(log);
  await tamper(log, 'kinds', (table) => {
    const row = Buffer.alloc(6 * places.length);
    places.forEach((place, i) => {
      row.writeUIntBE(place, 6 * i, 6);
    });
    table.putSync(['alert.raised', 0], row);
  });
  const report = await passOf(reader);
  expect(report.damage?.message).toMatch(message);
  await ledger.reportReads(report);
  expect((await ledger.status()).findings).toMatchObject([{ code: 'data_damaged' }]);
});

test('a pass finds a lost row of the index of ids, before and after its id is appended again', async () => {
  const log = await logOf(600);
  await tamper(log, 'ids', (ids) => ids.removeSync(uuidToBytes(entry(5).id)));
  const ledger = await open(log.dataDir);
  const reader = await readerOf(log);
  const wanted = { scrub: { last_pass_damaged: 1 }, damage: { message: expect.stringMatching(/entry 5$/) } };
  expect(await passOf(reader)).toMatchObject(wanted);
  expect((await ledger.append([entry(5)]))[0]!.leaf_index).toBe(600);
  expect(await passOf(reader)).toMatchObject(wanted);
});

test('a pass continues with its findings when the reader is reopened', async () => {
  const log = await logOf(300, 2000);
  await open(log.dataDir);
  flipInPlace(log, log.canonical[10]!, 40);
  const first = await SnapshotReader.open({ dataDir: log.dataDir, scrub: 'by hand' });
  for (let steps = 0; steps < 4; steps++) await first.scrub.step();
  const before = await first.report();
  expect(before.scrub.checked).toBe(768);
  await first.close();
  const again = await readerOf(log);
  expect(await again.report()).toEqual(before);
  await again.scrub.step();
  expect((await again.report()).scrub.checked).toBe(1024);
});

test.each(['', 'null', '{"passBeganAt":-1}', '{"passBeganAt":1,"total":"x"}'])(
  'a progress file with %j starts a new pass',
  async (text) => {
    const log = await logOf(300);
    await open(log.dataDir);
    writeFileSync(join(log.dataDir, 'scrub.json'), text);
    expect((await passOf(await readerOf(log))).scrub).toMatchObject({ checked: 300, last_pass_damaged: 0 });
  },
);

test('a pass over a growing log finds nothing', async () => {
  const log = await logOf(900);
  const ledger = await open(log.dataDir);
  const reader = await readerOf(log);
  for (let size = 900; size < 1400; size += 100) {
    await reader.scrub.step();
    await ledger.append(entries(size, size + 100));
  }
  const { scrub, damage } = await passOf(reader);
  expect([scrub.total, scrub.last_pass_damaged, damage]).toEqual([900, 0, undefined]);
});

const hour = 3_600_000;

/** Returns how long a pass takes whose steps take 1 ms for 256 entries and 6 ms for 64 heads. */
function durationOf(entries: number, heads: number): number {
  const left = { entries, heads: entries };
  let [elapsed, stepMs] = [0, 0];
  for (let checked = 0; left.entries > 0 || checked < heads; elapsed += stepMs) {
    // A timer waits at least a millisecond.
    elapsed += Math.max(1, pauseBefore(left, 12 * hour - elapsed, stepMs));
    stepMs = left.entries > 0 ? 1 : 6;
    if (left.entries > 0) left.entries = Math.max(0, left.entries - 256);
    else [checked, left.heads] = [checked + 64, Math.max(0, left.heads - 64)];
  }
  return elapsed;
}

test.each([
  ['1 entry', 1, 1, 3000],
  ['a million entries with as many heads', 1e6, 1e6, 12 * hour],
  ['a billion entries with 10 per head', 1e9, 1e8, 12 * hour],
  ['a billion entries with 3 per head', 1e9, 3e8, 12 * hour],
])('a pass over %s ends within 12 hours', (_, entries, heads, expected) => {
  expect(durationOf(entries, heads)).toBeLessThanOrEqual(expected);
});

test('steps are spread over the pass, and a late pass does not wait', () => {
  const left = { entries: 256e6, heads: 0 };
  expect(pauseBefore(left, 12 * hour, 1)).toBeCloseTo(42.2, 1);
  expect(pauseBefore(left, 0, 1)).toBe(0);
});

test('the scrub runs in the background, once an hour for a small log', async () => {
  const log = await logOf(300, 600);
  await open(log.dataDir);
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const reader = await SnapshotReader.open({ dataDir: log.dataDir });
  onTestFinished(() => reader.close());
  const passAfter = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms);
    const { scrub, damage } = await reader.report();
    return { at: scrub.last_pass_at, damaged: scrub.last_pass_damaged, damage };
  };
  const first = await passAfter(60_000);
  expect(first).toMatchObject({ damaged: 0, damage: undefined });
  flipInPlace(log, log.canonical[77]!, 40);
  expect(await passAfter(hour / 2)).toEqual(first);
  expect(await passAfter(hour / 2)).toMatchObject({
    damaged: 1,
    damage: { message: expect.stringMatching(/entry 77/) },
  });
});
