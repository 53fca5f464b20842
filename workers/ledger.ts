import { parentPort, workerData } from 'node:worker_threads';
import { announceFailedWrites } from '../src/database/failed-write.ts';
import type { AgentOptions } from '../src/ledger/keys/agent-keys.ts';
import type { RotationSchedule } from '../src/ledger/keys/rotation-schedule.ts';
import { ledgerCounters, ledgerMethods } from '../src/ledger/methods.ts';
import { openLedger } from '../src/ledger/open.ts';
import { openCounters } from '../src/rpc/counters.ts';
import { expose } from '../src/rpc/expose.ts';
import { readLogPositions } from '../src/store/log-positions.ts';

interface LedgerWorkerData {
  readonly dataDir: string;
  readonly anchorPath?: string;
  readonly anchorLoss?: 'refuse' | 'wait';
  readonly origin?: string;
  readonly keyPassphrase?: string;
  readonly publicationDelayMs?: number;
  readonly agent?: AgentOptions;
  readonly detectCopies?: boolean;
  readonly rotation?: RotationSchedule;
  readonly counters?: SharedArrayBuffer;
}

if (parentPort === null) throw new Error('workers/ledger.ts must run in a worker thread');
announceFailedWrites();
const { counters, ...given }: LedgerWorkerData = workerData;
const options = { ...given, logPositions: () => readLogPositions(given.dataDir) };
const ledger = await openLedger(
  counters === undefined ? options : { ...options, counters: openCounters(ledgerCounters, counters) },
);
expose(parentPort, ledgerMethods, ledger);
