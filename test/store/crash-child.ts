import { writeSync } from 'node:fs';
import { packDerived } from '../../src/events/derived-data.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import { openStore } from '../../src/store/writer.ts';
import { networkRecord } from './records.ts';

/**
 * Commits batches of one event, one alert and one outbox row, identified by their port; prints each acknowledged batch.
 */
const [dataDir, from] = process.argv.slice(2);
const store = openStore({ dataDir: dataDir!, alertWindowMs: 3_600_000 });
const timestamp = Date.UTC(2026, 10, 20);

async function commit(port: number): Promise<void> {
  const ends = {
    src_ip: `10.0.${port >> 8}.${port & 255}`,
    src_port: port,
    dst_ip: '198.51.100.1',
    transport: 'tcp',
  };
  const builder = new BlockBuilder('network', timestamp);
  builder.add(networkRecord({ ...ends, timestamp }));
  await store.commit({
    blocks: [builder.finish()],
    ...packDerived({
      findings: [
        {
          ...ends,
          rule_id: `rule ${port % 7}`,
          rule_name: 'rule',
          rule_source: 'sigma',
          title: 'rule',
          severity: 'high',
          timestamp,
          event: { block: 0, row: 0 },
        },
      ],
    }),
    answer: { accepted: 1, rejected: 0, ignored: 0, duplicates: 0, errors: [] },
  });
  writeSync(1, `${port}\n`);
}

for (let port = Number(from); ; port += 4) await Promise.all([0, 1, 2, 3].map((i) => commit(port + i)));
