import { parentPort, workerData } from 'node:worker_threads';
import { expose } from '../src/rpc/expose.ts';
import { mergerMethods, openBlockMerger } from '../src/store/block-merger.ts';

expose(parentPort!, mergerMethods, openBlockMerger(workerData as string).api);
