/**
 * Appends entries one by one until it is killed, and writes each result, or the code of the refusal, on a
 * line: `node lost-volume-child.ts <data folder> <anchor>`.
 */
import { writeSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { openLedger } from '../../src/ledger/open.ts';
import { entry } from './fixture-entry.ts';

const [dataDir = '', anchorPath = ''] = process.argv.slice(2);
const ledger = await openLedger({ dataDir, anchorPath });
const { size } = await ledger.status();
for (let n = size; ; ) {
  try {
    const [appended] = await ledger.append([entry(n)]);
    writeSync(1, `${JSON.stringify(appended)}\n`);
    n++;
    await setTimeout(5);
  } catch (error) {
    writeSync(1, `${(error as { code?: string }).code}\n`);
    await setTimeout(20);
  }
}
