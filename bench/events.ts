/**
 * How much does a block cost? Measures the time to encode a record, to scan a row and to write a row as JSON, and the
 * bytes of a record.
 */
import { openBlock } from '../src/events/format/block.ts';
import { BlockBuilder } from '../src/events/format/block-builder.ts';
import type { EventFilter } from '../src/events/query/filter.ts';
import { compileFilter } from '../src/events/query/select.ts';
import type { NetworkRecord } from '../src/events/records.ts';
import { writeEventJson } from '../src/events/resource.ts';
import { limits } from '../src/limits.ts';
import { connRecords } from './conn-records.ts';
import type { BenchRow } from './result.ts';

const filters: Readonly<Record<string, EventFilter>> = {
  'dst_port = 22': { terms: [{ field: 'dst_port', values: [22] }] },
  'ip = address': { terms: [{ field: 'ip', values: ['10.0.1.17'] }] },
  'CIDR, port and time': {
    from: Date.UTC(2026, 0, 1),
    to: Date.UTC(2026, 0, 1) + 30_000,
    terms: [
      { field: 'dst_ip', values: ['93.0.0.0/12'] },
      { field: 'dst_port', values: [443] },
    ],
  },
  'connection_id = text': { terms: [{ field: 'connection_id', values: ['CnotThere'] }] },
  'q = text': { q: 'not there', terms: [] },
  'community_id = text': { terms: [{ field: 'community_id', values: ['1:wCb3OG7yAFWelaUydu0D+125CLM='] }] },
};

export async function run(): Promise<BenchRow[]> {
  const blocks = 12;
  const batches = await reparsed(blocks * limits.maxBlockRows);
  const rows: BenchRow[] = [];
  // The second round is used, because code is compiled during the first.
  let buffers: ArrayBuffer[] = [];
  let perRow = 0;
  for (let round = 0; round < 2; round++) {
    buffers = [];
    const builder = new BlockBuilder('network', Date.UTC(2026, 0, 2));
    const began = performance.now();
    for (const batch of batches) {
      for (const record of batch) builder.add(record);
      buffers.push(builder.finish());
    }
    perRow = ((performance.now() - began) * 1000) / (blocks * limits.maxBlockRows);
  }
  const bytes = buffers.reduce((sum, buffer) => sum + buffer.byteLength, 0) / (blocks * limits.maxBlockRows);
  const encoding = { question: 'Encoding conn records into blocks' };
  rows.push({ ...encoding, variant: 'add and finish', value: perRow, unit: 'µs/row' });
  rows.push({ ...encoding, variant: 'size', value: bytes, unit: 'bytes/row' });

  for (const [variant, filter] of Object.entries(filters)) {
    const compiled = compileFilter('network', filter);
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 5; round++) {
      const began = performance.now();
      for (const buffer of buffers) compiled.count(openBlock(buffer, 1));
      best = Math.min(best, performance.now() - began);
    }
    const value = (best * 1e6) / (blocks * limits.maxBlockRows);
    rows.push({ question: 'Scanning blocks in memory', variant, value, unit: 'ns/row' });
  }

  let written = 0;
  const began = performance.now();
  for (const buffer of buffers) {
    const block = openBlock(buffer, 1);
    for (let row = 0; row < block.rows; row++) written += writeEventJson(block, row).length;
  }
  const value = ((performance.now() - began) * 1000) / (blocks * limits.maxBlockRows);
  const note = `${Math.round(written / (blocks * limits.maxBlockRows))} bytes each`;
  rows.push({ question: 'Writing resources', variant: 'writeEventJson', value, unit: 'µs/row', note });
  return rows;
}

/** Returns records as in ingest: their strings come from JSON.parse, new for each record. */
async function reparsed(count: number): Promise<NetworkRecord[][]> {
  const batches: NetworkRecord[][] = [];
  let batch: NetworkRecord[] = [];
  const shape = [...connRecords(1)][0]!;
  const names = Object.keys(shape) as (keyof NetworkRecord)[];
  for (const record of connRecords(count)) {
    const parsed = JSON.parse(JSON.stringify(record)) as NetworkRecord;
    batch.push(Object.fromEntries(names.map((name) => [name, parsed[name]])) as unknown as NetworkRecord);
    if (batch.length === limits.maxBlockRows) {
      batches.push(batch);
      batch = [];
    }
  }
  return batches;
}
