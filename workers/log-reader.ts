import { parentPort, workerData } from 'node:worker_threads';
import { ledgerCounters, logReaderMethods } from '../src/ledger/methods.ts';
import { type ReaderOptions, SnapshotReader } from '../src/ledger/reads/snapshot-reader.ts';
import { openCounters } from '../src/rpc/counters.ts';
import { expose } from '../src/rpc/expose.ts';

interface ReaderWorkerData extends Omit<ReaderOptions, 'counters' | 'clock'> {
  readonly counters: SharedArrayBuffer;
}

if (parentPort === null) throw new Error('workers/log-reader.ts must run in a worker thread');
const { counters, ...options }: ReaderWorkerData = workerData;
const reader = await SnapshotReader.open({ ...options, counters: openCounters(ledgerCounters, counters) });
expose(parentPort, logReaderMethods, reader);
