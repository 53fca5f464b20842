/**
 * `node starts-child.ts <data folder> <first> <seed>` appends entries from number `first`, in batches of
 * random sizes, and sometimes rotates a key, until it is killed or gets SIGTERM, which closes the log. Writes
 * each answer on a line.
 */
import { writeSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { openLedger } from '../../src/ledger/open.ts';
import { entries } from './fixture-entry.ts';
import { randomSource } from './random-source.ts';

const [dataDir = '', first = '', seed = ''] = process.argv.slice(2);
const random = randomSource(Number(seed));
let stopped = false;
process.on('SIGTERM', () => {
  stopped = true;
});
const ledger = await openLedger({ dataDir });
writeSync(1, '{"ready":true}\n');
for (let n = Number(first); !stopped; ) {
  const count = 1 + Math.floor(random() ** 3 * 30);
  for (const appended of await ledger.append(entries(n, n + count)))
    writeSync(1, `${JSON.stringify(appended)}\n`);
  n += count;
  if (random() < 0.03) await ledger.rotateKey(random() < 0.5 ? 'transparency-sth' : 'event-signing', 'ann');
  if (random() < 0.3) await setTimeout(random() * 4);
}
await ledger.close();
