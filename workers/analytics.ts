import { workerData } from 'node:worker_threads';
import { queries } from '../src/analytics/queries.ts';
import { exposeTasks, taskCancelled } from '../src/rpc/pool.ts';
import { intelTasks } from '../src/rules/intel/tasks.ts';
import { openReader } from '../src/store/reader.ts';

const reader = openReader((workerData as { dataDir: string }).dataDir, taskCancelled);

export default exposeTasks({ ...queries(reader), ...intelTasks(reader) });
