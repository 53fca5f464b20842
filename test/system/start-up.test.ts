/**
 * A start does not read all stored events, and its banner reports settings that the operator should change.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../../bench/startup.ts';
import { startService, tokenFor } from '../../scripts/service.ts';
import { call } from './call.ts';

test('30,000 stored events are available after each start', async () => {
  const rows = await run(30_000, 2);
  expect(rows.every(({ value }) => value > 0)).toBe(true);
});

test('the banner proposes network.home for a public host that takes part in most connections', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const env = { CANDOR_NETWORK_HOME: '10.0.0.0/8' };
  const first = await startService({ dataDir, env });
  const body = Array.from({ length: 3000 }, (_, n) =>
    JSON.stringify({
      ...{ _path: 'conn', ts: Date.now() / 1000, uid: `C${n}`, proto: 'tcp', conn_state: 'SF' },
      ...{ 'id.orig_h': `203.0.113.${n % 250}`, 'id.orig_p': 40_000 },
      ...{ 'id.resp_h': '198.51.100.7', 'id.resp_p': 443 },
    }),
  ).join('\n');
  const token = await tokenFor(first, 'sensor');
  const headers = { 'content-type': 'application/x-ndjson' };
  expect((await call(first, 'ingest', { token, body, headers })).status).toBe(200);
  expect(await first.stop()).toBe(0);
  const second = await startService({ dataDir, env });
  expect(await second.stop()).toBe(0);
  const proposed = (lines: readonly string[]) => lines.filter((line) => line.includes('198.51.100.7'));
  expect(proposed(first.output)).toEqual([]);
  expect(proposed(second.output).join()).toContain('CANDOR_NETWORK_HOME=10.0.0.0/8,198.51.100.7/32');
});

test('the log is checked in the background before anyone reads it', async () => {
  const service = await startService();
  const token = await tokenFor(service, 'viewer');
  const scrub = async () => {
    const { body } = await call(service, 'getStatus', { token });
    return (body as { data: { attributes: { ledger: { scrub?: object } } } }).data.attributes.ledger.scrub;
  };
  await expect.poll(scrub).toMatchObject({ pass_began_at: expect.anything() });
  expect(await service.stop()).toBe(0);
});
