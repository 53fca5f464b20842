import { workerData } from 'node:worker_threads';
import { type SegmentJob, SegmentReader } from '../src/ledger/check/segment.ts';
import { exposeTasks } from '../src/rpc/pool.ts';

const reader = new SegmentReader(workerData as { dataDir: string; ledgerPath: string });

export default exposeTasks({ check: (job: SegmentJob) => reader.check(job) });
