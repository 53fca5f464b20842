import { parentPort, workerData } from 'node:worker_threads';
import { announceFailedWrites } from '../src/database/failed-write.ts';
import { emitTo, expose } from '../src/rpc/expose.ts';
import { blockMergerThread } from '../src/store/block-merger-thread.ts';
import { storeMethods } from '../src/store/methods.ts';
import { projectorThread } from '../src/store/projector-thread.ts';
import type { CommitNotice } from '../src/store/store.ts';
import { openStore, type StoreOptions } from '../src/store/writer.ts';

announceFailedWrites();
const onCommitted = emitTo<CommitNotice>(parentPort!);
expose(
  parentPort!,
  storeMethods,
  openStore({
    ...(workerData as StoreOptions),
    onCommitted,
    projector: projectorThread,
    openMerger: blockMergerThread,
  }),
);
