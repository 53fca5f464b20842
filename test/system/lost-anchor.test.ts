/** The volume of the anchor is lost under the running service, and returns. */
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { login, startService, tokenFor } from '../../scripts/service.ts';
import { call } from './call.ts';

type Health = { ledger: string; findings?: { code: string }[] };

test('while the volume of the anchor is lost, the service ingests and reports the loss; entries follow once the volume is back', async () => {
  const root = mkdtempSync(join(tmpdir(), 'candor-anchor-'));
  const volume = join(root, 'volume');
  mkdirSync(volume);
  const env = { CANDOR_LEDGER_ANCHOR_PATH: join(volume, 'anchor.json') };
  const service = await startService({ dataDir: join(root, 'data'), env });
  onTestFinished(async () => {
    await service.kill().catch(() => {});
    rmSync(root, { recursive: true, force: true });
  });
  // A new folder has not lost its events (lost-events.test.ts).
  expect(service.output.join('\n')).not.toContain('siem.mdb');
  const admin = await login(service);
  const sensor = await tokenFor(service, 'sensor');
  const health = async () => (await call(service, 'getHealth')).body as Health;
  const codes = async () => ((await health()).findings ?? []).map(({ code }) => code);
  const until = async (isSo: () => Promise<boolean>) => {
    while (!(await isSo())) await sleep(100);
  };
  const size = async () => ((await call(service, 'getTreeHead')).body as { tree_size: number }).tree_size;
  let n = 0;
  const ingest = () => {
    const lines = Array.from({ length: 20 }, () => zeekLine(n++));
    const headers = { 'content-type': 'application/x-ndjson' };
    return call(service, 'ingest', { token: sensor, headers, body: [...lines, alertLine(n)].join('\n') });
  };
  const stored = async () => {
    const { body } = await call(service, 'listNetworkEvents', {
      token: admin,
      query: 'source=zeek&per_page=1000',
    });
    return (body as { data: unknown[] }).data.length;
  };

  expect((await ingest()).status).toBe(200);
  await until(async () => (await size()) >= 2);
  expect(await health()).toMatchObject({ ledger: 'ok' });
  renameSync(volume, `${volume}-away`);
  // The loss is detected when the next head must be anchored.
  expect((await ingest()).status).toBe(200);
  await until(async () => (await codes()).includes('anchor_unavailable'));
  expect(await health()).toMatchObject({ status: 'degraded', ledger: 'anchor_unavailable' });
  const before = await size();
  // A change that must be logged is refused; the alerts of ingested events wait.
  const json = { name: 'refused', scopes: ['viewer'] };
  expect(await call(service, 'issueToken', { token: admin, json })).toMatchObject({
    status: 503,
    body: { error: { code: 'UNAVAILABLE' } },
  });
  expect((await ingest()).status).toBe(200);
  await until(async () => (await stored()) === 60);
  expect(await size()).toBe(before);
  expect((await call(service, 'getTreeHead')).status).toBe(200);

  renameSync(`${volume}-away`, volume);
  await until(async () => (await health()).ledger === 'ok');
  await until(async () => (await size()) > before);
  expect(await codes()).toEqual([]);
  expect(await service.stop()).toBe(0);
});

const zeekLine = (n: number) =>
  `{"ts":1763683200.${n},"uid":"C${n}","id.orig_h":"10.0.0.${n % 250}","id.orig_p":51000,"id.resp_h":"203.0.113.7","id.resp_p":443,"proto":"tcp","conn_state":"SF"}`;

const alertLine = (n: number) =>
  `{"timestamp":"2025-11-21T00:00:00.000000+0000","flow_id":${n + 1},"event_type":"alert","src_ip":"10.0.0.1","src_port":1,"dest_ip":"203.0.113.9","dest_port":80,"proto":"TCP","alert":{"action":"allowed","gid":1,"signature_id":${1_000_000 + n},"rev":1,"signature":"Rule ${n}","category":"Test","severity":1}}`;
