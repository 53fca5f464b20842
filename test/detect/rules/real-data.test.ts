import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { hasShared, sharedFile } from '../../ingest/ingesting.ts';
import { Watch } from './shipped.ts';

/** Alerts that there would be, by title: findings of one rule between the same two hosts are one. */
function alerts(files: readonly string[]): Record<string, number> {
  const watch = new Watch();
  for (const file of files) {
    const bytes = sharedFile(file);
    const lines = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8').split('\n');
    for (let at = 0; at < lines.length; at += 5000)
      watch.take(Buffer.from(lines.slice(at, at + 5000).join('\n')));
  }
  const pairs = Map.groupBy(
    new Map(watch.findings.map((one) => [`${one.rule_id} ${one.src_ip} ${one.dst_ip}`, one])).values(),
    ({ title }) => title,
  );
  return Object.fromEntries([...pairs].map(([title, its]) => [title, its.length]));
}

describe.skipIf(!hasShared)('on real networks the rules give what a person can look at', () => {
  test('of an Internet host in 72 hours, in which 15,000 hosts scan it, none: that is told by behaviour', () => {
    const logs = ['conn', 'dns', 'open_conn'];
    expect(alerts(logs.map((log) => `zeek-internet-host/missing_host.${log}.ndjson.gz`))).toEqual({});
  });

  test('of a small office without attacks, none', () => {
    expect(alerts(['zeek-lan/m57.conn.ndjson.gz', 'zeek-lan/m57.dns.ndjson.gz'])).toEqual({});
  });

  test('of captures with a tunnel in DNS, the tunnel', () => {
    const files = ['all-fields.conn.ndjson', 'all-fields.dns.ndjson', 'four-dialects.ndjson'];
    expect(alerts(files.map((file) => `zeek-variants/${file}`))).toEqual({
      'DNS tunnelling (TXT or NULL volume)': 1,
    });
  });
});
