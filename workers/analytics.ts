import { workerData } from 'node:worker_threads';
import { queries } from '../src/analytics/queries.ts';
import { exposeTasks, taskCancelled } from '../src/rpc/pool.ts';
import { openReader } from '../src/store/lmdb/reader.ts';

export default exposeTasks(queries(openReader((workerData as { dataDir: string }).dataDir, taskCancelled)));
