/** Warnings about a host that takes part in most connections, but whose public address is not in `network.home`. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import type { Status } from '../../src/contract/resources/status.ts';
import { adminOf, issue, openService } from './service.ts';

const shared = process.env.CANDOR_SHARED ?? join(import.meta.dirname, '../../../shared');
const recorded = join(shared, 'data/zeek-internet-host/missing_host.conn.ndjson.gz');

/** Returns the warnings in a service's status after it received these lines. */
async function warningsAfter(lines: readonly string[], env: Record<string, string> = {}) {
  const service = await openService(env);
  onTestFinished(() => service.close());
  const admin = await adminOf(service);
  const token = await issue(service, admin, ['sensor']);
  const headers = { 'content-type': 'application/x-ndjson' };
  for (let n = 0; n < lines.length; n += 5000) {
    const text = lines.slice(n, n + 5000).join('\n');
    const { status } = await service.call('ingest', 'POST /api/v1/ingest', { token, text, headers });
    expect(status).toBe(200);
  }
  const { body } = await service.call('getStatus', 'GET /api/v1/status', { token: admin });
  return (body as { data: { attributes: Status } }).data.attributes.warnings;
}

const conn = (n: number, from: string, to: string) =>
  JSON.stringify({
    ...{ _path: 'conn', ts: Date.now() / 1000, uid: `C${n}`, proto: 'tcp', conn_state: 'SF' },
    ...{ 'id.orig_h': from, 'id.orig_p': 40_000, 'id.resp_h': to, 'id.resp_p': 443 },
  });
const many = (ends: (n: number) => [string, string]) => Array.from({ length: 3000 }, (_, n) => conn(n, ...ends(n)));
const outside = (n: number) => `203.0.113.${n % 250}`;

test('the status proposes the setting that makes a host in all connections a home host', async () => {
  const mixed = many((n) => (n % 3 === 0 ? ['198.51.100.7', outside(n)] : [outside(n), '198.51.100.7']));
  const [warning, ...others] = await warningsAfter(mixed, { CANDOR_NETWORK_HOME: '10.0.0.0/8' });
  expect(warning).toMatch(/^198\.51\.100\.7 takes part in 100 % of the newest connections/);
  expect(warning).toContain('CANDOR_NETWORK_HOME=10.0.0.0/8,198.51.100.7/32 ');
  expect(others).toEqual([]);
});

test('a resolver on the Internet, a home host, and a host in too few connections are not reported', async () => {
  const inside = { CANDOR_NETWORK_HOME: '10.0.0.0/8' };
  expect(
    await warningsAfter(
      many((n) => [`10.0.0.${n % 200}`, '198.51.100.7']),
      inside,
    ),
  ).toEqual([]);
  const home = { CANDOR_NETWORK_HOME: '10.0.0.0/8,198.51.100.7/32' };
  expect(
    await warningsAfter(
      many((n) => [outside(n), '198.51.100.7']),
      home,
    ),
  ).toEqual([]);
  expect(await warningsAfter(many((n) => [outside(n), '198.51.100.7']).slice(0, 500), inside)).toEqual([]);
});

test.skipIf(!existsSync(recorded))('the status reports the recorded Internet host', async () => {
  const lines = gunzipSync(readFileSync(recorded)).toString().split('\n', 12_000);
  expect(await warningsAfter(lines, { CANDOR_NETWORK_HOME: '10.0.0.0/8' })).toEqual([
    expect.stringMatching(/^64\.225\.56\.201 takes part in /),
  ]);
});
