import { workerData } from 'node:worker_threads';
import { exposeTasks, taskCancelled } from '../src/rpc/pool.ts';
import { ruleTasks } from '../src/rules/tasks.ts';
import { openReader } from '../src/store/reader.ts';

const reader = openReader((workerData as { dataDir: string }).dataDir, taskCancelled);

export default exposeTasks(ruleTasks(reader, taskCancelled));
