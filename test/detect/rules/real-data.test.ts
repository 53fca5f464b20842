import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { hasShared, sharedFile } from '../../ingest/ingesting.ts';
import { Watch } from './shipped.ts';

/** Counts the resulting alerts by title: findings of one rule between the same two hosts are one alert. */
function alerts(files: readonly string[]): Record<string, number> {
  const watch = new Watch();
  for (const file of files) {
    const bytes = sharedFile(file);
    const lines = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8').split('\n');
    for (let at = 0; at < lines.length; at += 5000) watch.take(Buffer.from(lines.slice(at, at + 5000).join('\n')));
  }
  const pairs = Map.groupBy(
    new Map(watch.findings.map((one) => [`${one.rule_id} ${one.src_ip} ${one.dst_ip}`, one])).values(),
    ({ title }) => title,
  );
  return Object.fromEntries([...pairs].map(([title, its]) => [title, its.length]));
}

describe.skipIf(!hasShared)('in recordings of real networks, the rules raise', () => {
  test('no alerts for an Internet host scanned by 15,000 hosts in 72 hours, because behaviour detection reports scans', () => {
    const logs = ['conn', 'dns', 'open_conn'];
    expect(alerts(logs.map((log) => `zeek-internet-host/missing_host.${log}.ndjson.gz`))).toEqual({});
  });

  test('no alerts for a small office without attacks', () => {
    expect(alerts(['zeek-lan/m57.conn.ndjson.gz', 'zeek-lan/m57.dns.ndjson.gz'])).toEqual({});
  });

  test('one alert, about the tunnel, for captures with a DNS tunnel', () => {
    const files = ['all-fields.conn.ndjson', 'all-fields.dns.ndjson', 'four-dialects.ndjson'];
    expect(alerts(files.map((file) => `zeek-variants/${file}`))).toEqual({
      'DNS tunnelling (TXT or NULL volume)': 1,
    });
  });
});
