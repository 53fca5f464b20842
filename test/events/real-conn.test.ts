import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { connRecords } from '../../bench/conn-records.ts';
import type { NetworkEvent } from '../../src/contract/resources/network-event.ts';
import { type EventBlock, openBlock } from '../../src/events/format/block.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import { compileFilter } from '../../src/events/query/select.ts';
import type { NetworkRecord } from '../../src/events/records.ts';
import { readEvent } from '../../src/events/resource.ts';

const file = join(process.env.CANDOR_SHARED ?? '../shared', 'data/zeek-lan/m57.conn.ndjson.gz');

/** Converts only the fields that need no interpretation; ingest is tested separately. */
function recordOf(line: Record<string, string | number>): NetworkRecord {
  const number = (name: string, factor = 1) => (line[name] === undefined ? undefined : (line[name] as number) * factor);
  return {
    ...[...connRecords(1)][0]!,
    timestamp: Math.round((line.ts as number) * 1000),
    duration_ms: number('duration', 1000),
    src_ip: line['id.orig_h'] as string,
    src_port: number('id.orig_p'),
    dst_ip: line['id.resp_h'] as string,
    dst_port: number('id.resp_p'),
    transport: line.proto as string,
    app_protocol: line.service as string | undefined,
    src_payload_bytes: number('orig_bytes'),
    dst_payload_bytes: number('resp_bytes'),
    conn_state: line.conn_state as string,
    history: line.history as string | undefined,
    connection_id: line.uid as string,
  };
}

describe.skipIf(!existsSync(file))('real connections', () => {
  it('are returned unchanged, and filters find as many connections as the file has', () => {
    const text = gunzipSync(readFileSync(file)).toString().trim();
    const lines = text.split('\n').map((line) => JSON.parse(line) as Record<string, string | number>);
    const blocks: EventBlock[] = [];
    for (let i = 0; i < lines.length; i += 5000) {
      const builder = new BlockBuilder('network', 0);
      for (const line of lines.slice(i, i + 5000)) builder.add(recordOf(line));
      blocks.push(openBlock(builder.finish(), 1 + i));
    }
    for (const [i, line] of lines.entries()) {
      const event = readEvent(blocks[Math.floor(i / 5000)]!, i % 5000).attributes as NetworkEvent;
      expect([event.src_ip, event.dst_port, event.duration_ms, event.history, event.connection_id]).toEqual([
        line['id.orig_h'],
        line['id.resp_p'],
        line.duration === undefined ? undefined : (line.duration as number) * 1000,
        line.history,
        line.uid,
      ]);
    }
    const count = (field: string, value: string | number) => {
      const filter = compileFilter('network', { terms: [{ field, values: [value] }] });
      return blocks.reduce((sum, block) => sum + filter.count(block), 0);
    };
    for (const [field, name, value] of [
      ['src_ip', 'id.orig_h', '192.168.1.102'],
      ['dst_port', 'id.resp_p', 53],
      ['conn_state', 'conn_state', 'SF'],
      ['app_protocol', 'service', 'http'],
      ['history', 'history', 'ShADadFf'],
      ['connection_id', 'uid', lines[4321]!.uid as string],
    ] as const) {
      expect([field, count(field, value)]).toEqual([field, lines.filter((line) => line[name] === value).length]);
    }
    const lan = count('ip', '192.168.0.0/16');
    expect(lan).toBe(lines.filter((l) => `${l['id.orig_h']} ${l['id.resp_h']}`.match(/(^| )192\.168\./)).length);
  });
});
