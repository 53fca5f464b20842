/**
 * Appends entries from number `first`, in batches of random sizes, and sometimes rotates a key, until it is
 * killed or receives SIGTERM, which closes the log: `node starts-child.ts <data folder> <first> <seed>
 * [store]`. Writes each result on a line. With `store`, siem.mdb also raises alerts, which the outbox sends
 * to the log.
 */
import { writeSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { openLedger } from '../../src/ledger/open.ts';
import { startParts } from '../backup/parts.ts';
import { alertsOf } from '../backup/writers.ts';
import { entries } from './fixture-entry.ts';
import { randomSource } from './random-source.ts';

const [dataDir = '', first = '', seed = '', store] = process.argv.slice(2);
const random = randomSource(Number(seed));
let stopped = false;
process.on('SIGTERM', () => {
  stopped = true;
});
const parts = store === undefined ? undefined : await startParts(dataDir);
const ledger = parts?.ledger ?? (await openLedger({ dataDir }));
writeSync(1, '{"ready":true}\n');
for (let n = Number(first); !stopped; ) {
  const count = 1 + Math.floor(random() ** 3 * 30);
  const raised = parts?.store.commit(alertsOf(n, 1 + (count % 3)));
  parts?.pump.wake();
  // Entries of a kind that siem.mdb does not cause.
  const others = entries(n, n + count).map((entry) => ({ ...entry, kind: 'backup.created' }));
  for (const appended of await ledger.append(others)) writeSync(1, `${JSON.stringify(appended)}\n`);
  await raised;
  n += count;
  if (random() < 0.03) await ledger.rotateKey(random() < 0.5 ? 'transparency-sth' : 'event-signing', 'ann');
  if (random() < 0.3) await setTimeout(random() * 4);
}
await (parts ?? ledger).close();
