import { writeSync } from 'node:fs';
import { BlockBuilder } from '../../../src/events/format/block-builder.ts';
import { openStore } from '../../../src/store/writer.ts';
import { networkRecord } from '../../store/records.ts';

/**
 * `node retention-crash-child.ts <folder> <first number> <bytes kept>`: commits batches of 100 events, half
 * of them with explicit ids, while retention removes the oldest. Prints the number of each acknowledged
 * batch.
 */
const [dataDir, first, maxBytes] = process.argv.slice(2);
const store = openStore({
  dataDir: dataDir!,
  alertWindowMs: 3_600_000,
  retention: { maxAgeMs: 0, maxBytes: Number(maxBytes) },
});

for (let batch = Number(first); ; batch++) {
  const builder = new BlockBuilder('network', Date.now());
  for (let row = 0; row < 100; row++) {
    const id = `${batch.toString(16).padStart(8, '0')}-0000-4000-8000-${String(row).padStart(12, '0')}`;
    const connection = `${batch}.${row}.${(batch * 7919 + row) % 104_729}`;
    builder.add(
      networkRecord({
        ...(row % 2 === 0 ? {} : { id }),
        timestamp: Date.now(),
        connection_id: connection,
        src_port: row,
        duration_ms: batch,
      }),
    );
  }
  await store.commit({
    blocks: [builder.finish()],
    answer: { accepted: 100, rejected: 0, ignored: 0, duplicates: 0, errors: [] },
  });
  writeSync(1, `${batch}\n`);
}
