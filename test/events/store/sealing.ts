import { eventId } from '../../../src/events/event-id.ts';
import { BlockBuilder } from '../../../src/events/format/block-builder.ts';
import type { DnsRecord, NetworkRecord, Table } from '../../../src/events/records.ts';
import { SealScheduler } from '../../../src/events/store/seal-scheduler.ts';
import type { Store, StoreReader } from '../../../src/store/store.ts';
import { dnsRecord } from '../../rollups/store/dns-records.ts';
import { networkRecord } from '../../store/records.ts';

const start = Date.UTC(2026, 10, 20);

/** Returns a block of events; each event has its index in the block as its port. */
export function blockOf(
  table: Table,
  rows: number,
  {
    receivedAt = start,
    sensorId = 'sensor-1',
    records = [],
  }: { receivedAt?: number; sensorId?: string; records?: readonly object[] } = {},
): ArrayBuffer {
  const builder = new BlockBuilder(table, receivedAt);
  builder.sensorId = sensorId;
  const make: (changes: object) => NetworkRecord | DnsRecord = table === 'network' ? networkRecord : dnsRecord;
  for (let row = 0; row < rows; row++)
    builder.add(make({ timestamp: start, src_port: row % 65_536, ...records[row] }) as never);
  return builder.finish();
}

/** Returns the id of an event of `blockOf` without an explicit id. */
export const idAt = (table: Table, sequence: number) => eventId(table, start, sequence);

/** Opens a sealer that seals on each call of `seal`, and in each interval. */
export async function openSealer(store: Store, reader: StoreReader, intervalMs = 3_600_000): Promise<SealScheduler> {
  const sealer = await SealScheduler.open(true, {
    store,
    reader,
    digest: async ({ table, from, maxRows }) => reader.digestEvents(table, from, maxRows),
    onTrouble: (error) => {
      throw error;
    },
    intervalMs,
  });
  return sealer!;
}
