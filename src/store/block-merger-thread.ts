import { superviseOnDemand } from '../rpc/supervise.ts';
import { workerUrl } from '../rpc/worker-url.ts';
import { type BlockMerger, mergerMethods, type OpenMerger } from './block-merger.ts';

/**
 * Opens a merger in a thread of its own, which starts with the first merge. If the thread dies twice within a minute,
 * blocks are not merged until the next start of the service.
 */
export const blockMergerThread = (dataDir: string): OpenMerger =>
  superviseOnDemand<BlockMerger>({
    name: 'merger',
    url: workerUrl('merger'),
    list: mergerMethods,
    workerData: dataDir,
    maxYoungGenerationMb: 2,
    maxOldGenerationMb: 1536,
    onRestart: (error) => process.emitWarning(`the merger died and was restarted: ${error.stack}`),
    onGiveUp: (error) => process.emitWarning(`the merger died again; small blocks remain: ${error.stack}`),
  });
