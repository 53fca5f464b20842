import { describe, expect, test } from 'vitest';
import { conn, flow, type Line, outside, own, zeek } from './records.ts';
import { Watch } from './shipped.ts';

const found = (networks: readonly string[] | undefined, lines: readonly Line[]): string[] => {
  const watch = new Watch(networks);
  watch.take(Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n')));
  expect(watch.records).toBe(lines.length);
  return [...new Set(watch.findings.map(({ title, src_ip }) => `${title}: ${src_ip}`))].toSorted();
};

const socks = (from: string, to = outside): Line =>
  zeek('socks', { version: 5, status: 'succeeded', 'id.orig_h': from, 'id.resp_h': to });

describe('rules about home hosts use the home networks of the site', () => {
  const site = ['203.0.113.0/24', '2001:db8:7::/48'];

  test.each(['203.0.113.9', '2001:db8:7::9'])('%s is a home host', (ip) => {
    expect(found(site, [socks(ip)])).toEqual([`Outbound SOCKS proxy: ${ip}`]);
    expect(
      found(site, [
        conn({ 'id.orig_h': ip, 'id.resp_p': 445 }),
        flow({ src_ip: ip, dest_port: 445 }),
        own({ src_ip: ip, dst_port: 445, conn_state: 'SF', history: 'ShADadFf' }),
      ]),
    ).toEqual([`Outbound SMB to the Internet: ${ip}`]);
  });

  test.each(['10.20.16.5', '192.168.1.5', 'fd00::5', '203.0.114.9', '2001:db8:8::9'])('%s is not a home host', (ip) => {
    expect(found(site, [socks(ip), conn({ 'id.orig_h': ip, 'id.resp_p': 445 })])).toEqual([]);
  });

  test.each(['203.0.113.10', '2001:db8:7::a', '10.0.0.20', 'fd00::20'])(
    '%s, a home or private address, is not an Internet address',
    (ip) => expect(found(site, [socks('203.0.113.9', ip)])).toEqual([]),
  );

  test('without a setting, the home networks are the private networks', () => {
    expect(found(undefined, [socks('203.0.113.9')])).toEqual([]);
    expect(found(undefined, [socks('10.20.16.5')])).toHaveLength(1);
  });
});
