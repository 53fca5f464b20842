import { supervise } from '../rpc/supervise.ts';
import { workerUrl } from '../rpc/worker-url.ts';
import { mergerMethods, type OpenBlockMerger } from './block-merger.ts';

/** Starts a merger in a thread of its own. If the thread dies repeatedly, the store's thread dies as well. */
export const blockMergerThread: OpenBlockMerger = (dataDir) =>
  supervise({
    name: 'merger',
    url: workerUrl('merger'),
    list: mergerMethods,
    workerData: dataDir,
    maxYoungGenerationMb: 2,
    maxOldGenerationMb: 1536,
    onGiveUp: (error) => {
      throw error;
    },
  });
