import { writeSync } from 'node:fs';
import { openStore } from '../../../src/store/writer.ts';
import { batch, ssh } from './traffic.ts';

/**
 * Commits batches of connections to many ports of many hosts, and repeats some of the connections. Occasional
 * large batches make the inventory postpone its write. Prints each acknowledged batch.
 */
const [dataDir, from] = process.argv.slice(2);
const store = openStore({ dataDir: dataDir!, alertWindowMs: 3_600_000 });

async function commit(number: number): Promise<void> {
  const rows = number % 4 === 0 ? 2500 : 20;
  const records = Array.from({ length: rows }, (_, i) =>
    ssh({
      src_ip: `192.0.2.${(number + i) % 200}`,
      dst_ip: `10.0.${number % 3}.${i % 250}`,
      dst_port: 1 + (i % 997),
      // Two of three connections have an id, and are reported in two batches.
      ...(i % 3 === 0 ? {} : { connection_id: `C${Math.floor(number / 2)}-${i}` }),
    }),
  ).map((record, i) => (i % 3 === 0 ? record : { ...record, dst_ip: `10.9.0.${i % 250}`, src_ip: '192.0.2.7' }));
  await store.commit(batch(records));
  writeSync(1, `${number}\n`);
}

for (let number = Number(from); ; number += 2) await Promise.all([commit(number), commit(number + 1)]);
