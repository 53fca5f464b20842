import { join } from 'node:path';
import { openDatabase } from '../database/lmdb.ts';
import { type BlockRun, EventStore } from '../events/store/event-store.ts';
import { methods } from '../rpc/methods.ts';
import type { Supervised } from '../rpc/supervise.ts';
import { databaseFile } from './tables.ts';

/** Builds merged blocks, so that the store's thread only writes them. */
export interface BlockMerger {
  /**
   * Returns blocks with the rows of a run.
   *
   * @throws an error about damaged data if a block is damaged or no longer stored
   */
  merged(run: BlockRun): Promise<readonly ArrayBuffer[]>;
}

/** The methods that the merger's worker exposes. */
export const mergerMethods = methods<BlockMerger>()(['merged']);

/** A merger with the function that ends it. */
export type OpenMerger = Pick<Supervised<BlockMerger>, 'api' | 'close'>;

/** Opens a merger in this thread. The store must have opened the database. */
export function openBlockMerger(dataDir: string): OpenMerger {
  const root = openDatabase(join(dataDir, databaseFile), { readOnly: true });
  const events = new EventStore(root);
  return { api: { merged: async (run) => events.merged(run) }, close: () => root.close() };
}
