import { writeSync } from 'node:fs';
import { openStore } from '../../src/store/writer.ts';
import { uuid7 } from '../../src/uuid.ts';
import { batchOf } from './opened.ts';

/** Commits bodies with receipts while entries cover them; prints the id of each acknowledged receipt. */
const [dataDir] = process.argv.slice(2);
const store = openStore({ dataDir: dataDir!, alertWindowMs: 3_600_000, receiptIntervalMs: 1 });

async function commit(): Promise<void> {
  const { receipt } = await store.commit(
    batchOf([], {
      receipt: {
        id: uuid7(Date.now()),
        sha256: 'ab'.repeat(32),
        bytes: 10,
        sensor: { id: '01900000-0000-7000-8000-00000000000a', name: 'zeek' },
        received_at: new Date().toISOString(),
      },
    }),
  );
  writeSync(1, `${receipt!.id}\n`);
}

for (;;) await Promise.all([0, 1, 2, 3].map(() => commit()));
