/**
 * A process in which a test injects failures: `node append-child.ts <data folder> <from> <to>` opens the log,
 * appends the entries of the test one by one, writes each result on a line as soon as it arrives, and closes
 * the log. If the disk fails, the process ends with an uncaught error, as the ledger's thread does.
 */
import { writeSync } from 'node:fs';
import { openLedger } from '../../src/ledger/open.ts';
import { entry } from './fixture-entry.ts';

const [dataDir = '', from = '', to = ''] = process.argv.slice(2);
const ledger = await openLedger({ dataDir });
const { health } = await ledger.status();
if (health.state === 'degraded') throw new Error(health.advice);
for (let n = Number(from); n < Number(to); n++) {
  const [appended] = await ledger.append([entry(n)]);
  writeSync(1, `${JSON.stringify(appended)}\n`);
}
await ledger.close();
