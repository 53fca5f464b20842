/** One office network, recorded as NDJSON and as Zeek TSV: over HTTP both are the same events, field by field. */
import { describe, expect, test } from 'vitest';
import { startService, tokenFor } from '../../scripts/service.ts';
import { type Item, listAll, send } from './call.ts';
import { hasSharedData, sharedText } from './shared-data.ts';

const logs = [
  ['listNetworkEvents', 'm57.conn.ndjson.gz', 'zeek_conn.log.gz', 8_462],
  ['listDnsEvents', 'm57.dns.ndjson.gz', 'zeek_dns.log.gz', 5_124],
] as const;

describe.skipIf(!hasSharedData)('NDJSON and TSV', () => {
  test.each(logs)('%s: the same events', async (operation, json, tsv, lines) => {
    const found: Item[][] = [];
    for (const [file, type] of [
      [json, 'application/x-ndjson'],
      [tsv, 'text/tab-separated-values'],
    ] as const) {
      const service = await startService();
      try {
        const sensor = await tokenFor(service, 'sensor');
        const headers = { 'content-type': type };
        const counts = await send(service, sensor, sharedText(`zeek-lan/${file}`), { headers });
        expect(counts).toEqual({ accepted: lines, rejected: 0, ignored: 0, duplicates: 0, errors: [] });
        found.push(await listAll(service, operation, await tokenFor(service, 'viewer')));
      } finally {
        expect(await service.stop()).toBe(0);
      }
    }
    const [fromJson = [], fromTsv = []] = found.map((items) => items.map(comparable).sort());
    expect(fromJson.length).toBe(lines);
    // Line by line first: a difference of whole lists takes minutes to print.
    for (const [n, event] of fromJson.entries()) expect(fromTsv[n]).toBe(event);
    expect(fromTsv.length).toBe(lines);
  });
});

/** Everything but what each service counts for itself: when it came, and the asset ids, which appear a little later. */
function comparable({ attributes }: Item): string {
  const { received_at: _, src_asset_id: __, dst_asset_id: ___, ...event } = attributes;
  return JSON.stringify(event);
}
