/**
 * A process that kills itself: `node crash-child.ts <data folder> <step> <nth>` appends entries 0, 1, 2 … one
 * by one, prints each result, and kills itself the nth time that the ledger passes the step.
 */
import { writeSync } from 'node:fs';
import { openLedger } from '../../src/ledger/open.ts';
import { entry } from './fixture-entry.ts';

const [dataDir = '', step = '', nth = ''] = process.argv.slice(2);
let passed = 0;
const ledger = await openLedger({
  dataDir,
  hooks: {
    at(here) {
      if (here === step && ++passed === Number(nth)) process.kill(process.pid, 'SIGKILL');
    },
  },
});
const { size } = await ledger.status();
for (let n = size; ; n++) {
  const [appended] = await ledger.append([entry(n)]);
  writeSync(1, `${JSON.stringify(appended)}\n`);
}
