/**
 * One office network, recorded as NDJSON and as Zeek TSV: over HTTP, both formats give the same events, field
 * by field.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { startService, tokenFor } from '../../scripts/service.ts';
import { type Item, listAll, send } from './call.ts';
import { hasSharedData, sharedText } from './shared-data.ts';

const logs = [
  { operation: 'listNetworkEvents', files: ['m57.conn.ndjson.gz', 'zeek_conn.log.gz'], lines: 8_462 },
  { operation: 'listDnsEvents', files: ['m57.dns.ndjson.gz', 'zeek_dns.log.gz'], lines: 5_124 },
] as const;

describe.skipIf(!hasSharedData)('NDJSON and TSV', () => {
  /** The stored events of each log, by the form in which the log was sent. */
  const found: Item[][][] = [];

  beforeAll(async () => {
    for (const [form, type] of ['application/x-ndjson', 'text/tab-separated-values'].entries()) {
      const service = await startService();
      try {
        const sensor = await tokenFor(service, 'sensor');
        const viewer = await tokenFor(service, 'viewer');
        const headers = { 'content-type': type };
        found[form] = [];
        for (const { operation, files, lines } of logs) {
          const counts = await send(service, sensor, sharedText(`zeek-lan/${files[form]}`), { headers });
          expect(counts).toEqual({ accepted: lines, rejected: 0, ignored: 0, duplicates: 0, errors: [] });
          found[form].push(await listAll(service, operation, viewer));
        }
      } finally {
        expect(await service.stop()).toBe(0);
      }
    }
  });

  test.each(logs)('return the same events in $operation', ({ operation, lines }) => {
    const log = logs.findIndex((one) => one.operation === operation);
    const [fromJson = [], fromTsv = []] = found.map((lists) => lists[log]!.map(comparable).sort());
    expect(fromJson.length).toBe(lines);
    // Line by line first: printing a difference of whole lists takes minutes.
    for (const [n, event] of fromJson.entries()) expect(fromTsv[n]).toBe(event);
    expect(fromTsv.length).toBe(lines);
  });
});

/**
 * Formats an event without values that differ between services: time of receipt, asset ids (which appear
 * later) and the sensor's id.
 */
function comparable({ attributes }: Item): string {
  const { received_at: _, src_asset_id: __, dst_asset_id: ___, sensor_id: ____, ...event } = attributes;
  return JSON.stringify(event);
}
