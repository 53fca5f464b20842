import { expect, onTestFinished, test } from 'vitest';
import type { LogView } from '../../src/ledger/ledger.ts';
import { PublicationSchedule } from '../../src/ledger/publication.ts';
import { SnapshotReader } from '../../src/ledger/reads/snapshot-reader.ts';
import { parseCheckpoint } from '../../src/tlog/checkpoint.ts';
import { parseNote } from '../../src/tlog/note.ts';
import { codeOf, entries, entry, fieldOf, folder, open } from './fixture.ts';

const second = 1_000_000_000n;
const delayMs = 60_000;
const minute = 60n * second;
/** The next full minute: a boundary, and close enough to the times of the entries. */
const start = ((BigInt(Date.now()) * 1_000_000n) / minute + 1n) * minute;

/**
 * Opens a log and its reader with the same clock. `grow` appends until the log has the given number of
 * entries.
 */
async function publishedLog(publicationDelayMs = delayMs, dataDir = folder(), nowNs = start) {
  const time = { now: nowNs };
  const clock = () => time.now;
  const ledger = await open(dataDir, { clock, publicationDelayMs });
  const reader = await SnapshotReader.open({ dataDir, clock, publicationDelayMs, scrub: 'by hand' });
  onTestFinished(() => reader.close());
  const at = (seconds: number) => {
    time.now = nowNs + BigInt(seconds) * second;
  };
  const grow = async (seconds: number, size: number) => {
    at(seconds);
    await ledger.append(entries((await ledger.status()).size, size));
  };
  const size = async (view: LogView) => {
    const code = await codeOf(reader.head(view));
    return code === 'none' ? (await reader.head(view)).tree_size : code;
  };
  return { dataDir, ledger, reader, at, grow, size };
}

test('public readers see the tree of the last publication boundary at least one delay ago, authorised readers the latest tree', async () => {
  const { at, grow, size } = await publishedLog();
  const seen: unknown[] = [];
  const look = async () => seen.push([await size('published'), await size('current')]);
  await grow(10, 3);
  await look();
  await grow(50, 7);
  await grow(70, 9); // the head of the boundary at 60 s has 7 leaves
  at(119);
  await look();
  at(121);
  await look();
  await grow(130, 20); // the head of the boundary at 120 s has 9 leaves
  at(179);
  await look();
  at(181);
  await look();
  expect(seen).toEqual([
    ['LOG_EMPTY', 3],
    ['LOG_EMPTY', 9],
    [7, 9],
    [7, 20],
    [9, 20],
  ]);
});

test('a published head reveals only the interval of an append, not its time', async () => {
  const { ledger, reader, at, grow } = await publishedLog();
  await grow(10, 3);
  await grow(33, 7);
  await grow(70, 9);
  at(200);
  await ledger.append([entry(9)]);
  const { heads, total } = await reader.heads('published', { page: 1, per_page: 10 });
  expect([total, heads.map((head) => [head.tree_size, head.timestamp_ns])]).toEqual([
    1,
    [[7, Number(start + 60n * second)]],
  ]);
  at(300);
  const later = await reader.heads('published', { page: 1, per_page: 10 });
  expect(later.heads.map((head) => head.tree_size)).toEqual([7, 9]);
  expect((await reader.heads('current', { page: 1, per_page: 10 })).total).toBe(6);
});

test('data newer than the published head is hidden from public readers', async () => {
  const { ledger, reader, at, grow, size } = await publishedLog();
  await grow(10, 300);
  await grow(70, 310);
  at(125);
  expect(await size('published')).toBe(300);
  const leaf = await ledger.leaf({ leaf_index: 305 });
  const page = { page: 1, per_page: 10 };
  const answers = {
    head: await codeOf(reader.head('published', 310)),
    intermediate: await codeOf(reader.head('current', 310)),
    inclusion: await fieldOf(reader.inclusion('published', { leaf_index: 1 }, 310)),
    index: await fieldOf(reader.inclusion('published', { leaf_index: 305 })),
    id: await codeOf(reader.inclusion('published', { entry_id: entry(305).id })),
    hash: await codeOf(reader.inclusion('published', { leaf_hash: leaf.leaf_hash })),
    consistency: await fieldOf(reader.consistency('published', 300, 310)),
    leaf: await codeOf(reader.leaf('published', { leaf_index: 305 })),
    tile: await codeOf(reader.tile('published', { level: 0, index: 1, width: 45 })),
    bundle: await codeOf(reader.entryBundle('published', 1, 45)),
    entries: await fieldOf(reader.entries('published', { ...page, to: 301 })),
    total: (await reader.entries('published', page)).total,
    kinds: (await reader.entries('published', { ...page, kinds: ['alert.raised'] })).total,
    heads: await fieldOf(reader.heads('published', { ...page, from_size: 302 })),
    proof: await codeOf(ledger.bundle({ leaf_index: 305 }, undefined, 'published')),
  };
  expect(answers).toEqual({
    ...{ head: 'NOT_FOUND', intermediate: 'none', inclusion: 'tree_size', index: 'leaf_index' },
    ...{ id: 'NOT_FOUND', hash: 'NOT_FOUND', consistency: 'second', leaf: 'NOT_FOUND' },
    ...{ tile: 'NOT_FOUND', bundle: 'NOT_FOUND', entries: 'to', total: 300, kinds: 300 },
    ...{ heads: 'from_size', proof: 'INVALID_REQUEST' },
  });
  await expect(reader.inclusion('published', { entry_id: entry(305).id })).rejects.toThrow(/^there is no entry/);
  expect((await ledger.bundle({ leaf_index: 299 }, undefined, 'published')).head.tree_size).toBe(300);
});

test('witnesses and readers of checkpoints get published heads only', async () => {
  const { ledger, at, grow } = await publishedLog();
  await grow(10, 300);
  expect(await codeOf(ledger.checkpoint())).toBe('LOG_EMPTY');
  await grow(70, 310);
  at(125);
  expect(parseCheckpoint(parseNote(await ledger.checkpoint()).text).size).toBe(300);
});

test('heads that were public stay public when a delay is set, and after the delay is removed', async () => {
  const before = await publishedLog(0);
  await before.grow(10, 3);
  await before.grow(20, 5);
  await before.ledger.close();
  const delayed = await publishedLog(delayMs, before.dataDir, start + 30n * second);
  expect(await delayed.size('published')).toBe(5);
  await delayed.grow(5, 8);
  await delayed.grow(40, 9);
  delayed.at(95);
  expect(await delayed.size('published')).toBe(8);
  const sizes = async ({ reader }: typeof delayed) =>
    (await reader.heads('published', { page: 1, per_page: 10 })).heads.map((head) => head.tree_size);
  expect(await sizes(delayed)).toEqual([3, 5, 8]);
  await delayed.ledger.close();
  const after = await publishedLog(0, before.dataDir, start + 1000n * second);
  await after.grow(10, 12);
  expect(await sizes(after)).toEqual([3, 5, 8, 12]);
});

test('the head that the old key signed to confirm the new key is published after the delay', async () => {
  const { ledger, reader, at, grow } = await publishedLog();
  await grow(10, 3);
  await ledger.rotateKey('event-signing', 'ann');
  const old = (await ledger.head()).signer_key_id;
  await ledger.rotateKey('transparency-sth', 'ann');
  await grow(70, 9);
  const shown = async (seconds: number) => {
    at(seconds);
    if ((await codeOf(reader.head('published'))) !== 'none') return [];
    const { heads } = await reader.heads('published', { page: 1, per_page: 10 });
    return heads.map((head) => [head.tree_size, head.signer_key_id === old]);
  };
  // The log has three entries, and two for each rotation. The sixth entry names the new tree-head key.
  expect(await shown(60)).toEqual([]);
  expect(await shown(71)).toEqual([[6, true]]);
  expect(await shown(121)).toEqual([
    [6, true],
    [7, false],
  ]);
});

test('published heads stay published when the clock goes back', async () => {
  const { at, grow, size } = await publishedLog();
  await grow(10, 3);
  await grow(70, 5);
  at(125);
  expect(await size('published')).toBe(3);
  at(0);
  expect(await size('published')).toBe(3);
});

test('an idle log publishes its last entries without another append', async () => {
  const dataDir = folder();
  const publicationDelayMs = 200;
  const ledger = await open(dataDir, { publicationDelayMs });
  await ledger.append(entries(0, 4));
  const reader = await SnapshotReader.open({ dataDir, publicationDelayMs, scrub: 'by hand' });
  onTestFinished(() => reader.close());
  await expect.poll(() => codeOf(reader.head('published')), { timeout: 60_000 }).toBe('none');
  const { tree_size, timestamp_ns } = await reader.head('published');
  expect([tree_size, Math.floor(timestamp_ns / 1e6) % publicationDelayMs]).toEqual([4, 0]);
});

test('an idle log with a delay of an hour has a public head that is never older than two hours', () => {
  const hour = 3_600_000_000_000n;
  const { schedule } = new PublicationSchedule([]).with(3_600_000, 0);
  let last = 100n * hour;
  for (let now = last; now < last + 6n * hour; now += hour / 60n) {
    last = schedule.due(now, last) ?? last;
    const shown = schedule.visibleFrom(last) <= now ? last : last - hour;
    expect(now - shown <= 2n * hour).toBe(true);
    if (now > 110n * hour) break;
  }
  expect(last > 100n * hour).toBe(true);
});
