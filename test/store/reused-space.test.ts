/** At the size limit, new events reuse the space of removed events: the file stops growing. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { mulberry32 } from '../../bench/conn-records.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import { databaseFile } from '../../src/store/tables.ts';
import { batchOf, opened, start } from './opened.ts';
import { networkRecord } from './records.ts';

const maxBytes = 2 ** 19;

test.for([
  ['large batches', 2000, false],
  ['small batches, which are merged', 100, false],
  ['events with explicit ids', 1000, true],
] as const)('steady ingest of %s keeps the file from growing', async ([, rows, withIds]) => {
  const { store, reader, dataDir } = opened({ retention: { maxAgeMs: 0, maxBytes }, detectors: () => [] });
  const random = mulberry32(7);
  const hex = (digits: number) =>
    Math.floor(random() * 16 ** digits)
      .toString(16)
      .padStart(digits, '0');
  const size = () => statSync(join(dataDir, databaseFile)).size;
  const expired = async () => (await store.status()).retention.expired.reduce((sum, { bytes }) => sum + bytes, 0);
  let sent = 0;
  const ingest = async () => {
    const builder = new BlockBuilder('network', start + sent);
    for (let row = 0; row < rows; row++) {
      const id = withIds ? { id: `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}` } : {};
      builder.add(networkRecord({ ...id, timestamp: start + sent + row, connection_id: `C${hex(10)}${hex(7)}` }));
    }
    sent += rows;
    await store.commit(batchOf([], { blocks: [builder.finish()] }));
    reader.listEvents({ table: 'network', filter: { terms: [] }, order: 'desc', per_page: 10, page: 1 });
    await sleep(0);
  };
  // Adds events until retention has removed `times` times the size limit. The waits let retention keep up.
  const turnOver = async (times: number) => {
    const until = (await expired()) + times * maxBytes;
    while ((await expired()) < until) {
      for (let n = 0; n < 2000 / rows; n++) await ingest();
      await vi.waitFor(async () => expect((await store.status()).retention.event_bytes).toBeLessThan(1.3 * maxBytes), {
        timeout: 60_000,
        interval: 5,
      });
    }
  };
  await turnOver(6);
  // Without reuse, the file would have at least seven times the size limit: the removed and the stored events.
  expect(size()).toBeLessThan(5 * maxBytes);
  await vi.waitFor(async () => {
    expect((await store.status()).retention.event_bytes).toBeLessThanOrEqual(maxBytes);
  }, 60_000);
});
