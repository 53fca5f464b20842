/**
 * Commits batches into a folder until the process is killed, and prints a line for each acknowledged batch.
 */
import { writeSync } from 'node:fs';
import { BlockBuilder } from '../../../src/events/format/block-builder.ts';
import { openStore } from '../../../src/store/writer.ts';
import { batchOf, finding, hour, start } from '../../store/opened.ts';
import { networkRecord } from '../../store/records.ts';
import { dnsRecord } from './dns-records.ts';

const [dataDir = '', round = '0'] = process.argv.slice(2);
const store = openStore({ dataDir, alertWindowMs: hour, clock: () => start, home: ['10.0.0.0/8'] });
for (let n = 0; ; n++) {
  const network = new BlockBuilder('network', start);
  for (let i = 0; i < (n % 7 === 6 ? 2500 : 50 + (n % 7)); i++)
    network.add(
      networkRecord({
        timestamp: start - ((n * 97 + i) % 5000) * 60_000,
        src_ip: `10.${round}.${n % 256}.${i % 256}`,
        dst_ip: `10.0.0.${i % 9}`,
        state: 'closed',
        conn_state: 'SF',
        src_bytes: i,
        direction: 'internal',
        connection_id: `C${round} ${n} ${i % 40}`,
      }),
    );
  const dns = new BlockBuilder('dns', start);
  dns.add(dnsRecord({ query: `n${n}.example.com`, rcode: 3 }));
  await store.commit(batchOf([finding({ rule_id: `${round} ${n}` })], { blocks: [network.finish(), dns.finish()] }));
  writeSync(1, `${n}\n`);
}
