/** Merging of blocks while the merger, the disk or stored data fail. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { GroupCommit } from '../../src/database/group-commit.ts';
import { openDatabase } from '../../src/database/lmdb.ts';
import { DamagedDataError } from '../../src/database/rows.ts';
import { ServiceError } from '../../src/errors.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import { DamagedBlockError } from '../../src/events/store/damaged-range.ts';
import { type BlockRun, EventStore } from '../../src/events/store/event-store.ts';
import { BlockMerging } from '../../src/store/block-merging.ts';
import { databaseFile } from '../../src/store/tables.ts';
import { start } from './opened.ts';
import { networkRecord } from './records.ts';

interface Setup {
  /** Called before each run is merged. */
  readonly onRun?: (run: BlockRun) => void | Promise<void>;
  readonly hasRoom?: () => boolean;
}

/** Opens a store with twelve blocks, which merging makes one block. */
function opened({ onRun, hasRoom = () => true }: Setup) {
  const folder = mkdtempSync(join(tmpdir(), 'candor-block-merging-'));
  const root = openDatabase(join(folder, databaseFile));
  const events = new EventStore(root);
  root.transactionSync(() => {
    for (let n = 0; n < 12; n++) {
      const builder = new BlockBuilder('network', start);
      builder.add(networkRecord({ timestamp: start + n }));
      events.append(builder.finish());
    }
  });
  const queue = new GroupCommit(root, { forget: () => events.reload() });
  const damaged = vi.fn<(error: ServiceError) => void>();
  const merged = async (run: BlockRun) => {
    await onRun?.(run);
    return events.merged(run);
  };
  const merging = new BlockMerging({
    queue,
    events,
    openMerger: () => ({ api: { merged }, close: async () => undefined }),
    hasRoom,
    mayFill: () => true,
    check: async () => false,
    damaged,
    reload: () => events.reload(),
    retryMs: 20,
  });
  onTestFinished(async () => {
    await queue.close();
    await merging.close();
    await root.close();
    rmSync(folder, { recursive: true });
  });
  return { events, queue, merging, damaged };
}

/** Returns a function that throws an error at the first call. */
function failingOnce(error: () => Error): () => void {
  let calls = 0;
  return () => {
    if (calls++ === 0) throw error();
  };
}

const untilMerged = (events: EventStore) => vi.waitFor(() => expect(events.blocks()).toBe(1), { timeout: 60_000 });

test.each([
  ['is lost', () => new ServiceError('WORKER_LOST', 'merger died'), 0, 0],
  ['finds damage that is not in one block', () => new DamagedDataError('a row', { table: 'event-state' }), 1, 0],
  ['misses a block that is stored', () => new DamagedBlockError('network', 1, 'its header is missing'), 0, 0],
  ['has a bug', () => new RangeError('off by one'), 0, 1],
])('merging continues after the merger %s', async (_, error, reports, warnings) => {
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  onTestFinished(() => warned.mockRestore());
  const { events, merging, damaged } = opened({ onRun: failingOnce(error) });
  merging.wake();
  await untilMerged(events);
  expect(damaged).toHaveBeenCalledTimes(reports);
  expect(warned).toHaveBeenCalledTimes(warnings);
});

test('nothing is written if the disk becomes full while blocks are built, and merging continues with room', async () => {
  let runs = 0;
  let isFull = false;
  let refusals = 0;
  const { events, merging } = opened({
    onRun: () => {
      isFull = ++runs === 1;
    },
    hasRoom: () => {
      if (isFull) refusals++;
      return !isFull;
    },
  });
  merging.wake();
  // At the write, and after the pause.
  await vi.waitFor(() => expect(refusals).toBe(2), { timeout: 60_000 });
  expect(events.blocks()).toBe(12);
  isFull = false;
  await vi.waitFor(() => {
    merging.wake();
    expect(events.blocks()).toBe(1);
  }, 60_000);
});

test('a store that is closed while blocks are built does not write them', async () => {
  let finish = (): void => undefined;
  const isBuilding = Promise.withResolvers<void>();
  const { events, queue, merging } = opened({
    onRun: () =>
      new Promise<void>((resolve) => {
        finish = resolve;
        isBuilding.resolve();
      }),
  });
  merging.wake();
  await isBuilding.promise;
  await queue.close();
  const closed = merging.close();
  finish();
  await closed;
  expect(events.blocks()).toBe(12);
});
