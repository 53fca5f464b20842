/**
 * The ledger's thread on a disk whose flush fails once: at the first append while `<data folder>/fail`
 * exists.
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { ledgerMethods } from '../../src/ledger/methods.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { expose } from '../../src/rpc/expose.ts';

const { dataDir } = workerData as { dataDir: string };
const marker = join(dataDir, 'fail');
const hooks = {
  at(step: string) {
    if (step !== 'in-transaction' || !existsSync(marker)) return;
    rmSync(marker);
    throw new Error('the flush failed');
  },
};
expose(parentPort!, ledgerMethods, await openLedger({ dataDir, hooks }));
