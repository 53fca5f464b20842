/** Scans of a running service: in its audit log, and across stops and crashes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { login, type Service, startService } from '../../scripts/service.ts';
import type { Scan } from '../../src/contract/resources/scan.ts';
import { greeter, listen } from '../discovery/servers.ts';
import { call } from './call.ts';

let service: Service;
let token: string;
const dataDir = mkdtempSync(join(tmpdir(), 'candor-discovery-'));

beforeAll(() => begin());
afterAll(async () => {
  await service.stop();
  rmSync(dataDir, { recursive: true });
});

async function begin(): Promise<void> {
  service = await startService({ dataDir });
  token = await login(service);
}

interface One {
  readonly data: { readonly id: string; readonly attributes: Scan };
}

const endless = { targets: ['127.9.0.0/16'], ports: '1-200', rate: 50 };

async function start(json: object): Promise<string> {
  const { status, body } = await call(service, 'startScan', { token, json });
  expect(status).toBe(202);
  return (body as One).data.id;
}

const get = async (id: string) =>
  ((await call(service, 'getScan', { token, params: [id] })).body as One).data.attributes;

async function until(id: string, wanted: (scan: Scan) => boolean): Promise<Scan> {
  for (;;) {
    const scan = await get(id);
    if (wanted(scan)) return scan;
    await delay(20);
  }
}

const isOver = ({ status }: Scan) => status !== 'queued' && status !== 'running';
const underWay = ({ progress }: Scan) => progress.probes_done > 0;

test('every scan and every cancellation is in the audit log', async () => {
  const id = await start(endless);
  await until(id, underWay);
  const status = (
    (await call(service, 'getStatus', { token })).body as {
      data: { attributes: { threads: { name: string }[] } };
    }
  ).data;
  expect(status.attributes.threads.map(({ name }) => name)).toContain('discovery');
  await call(service, 'cancelScan', { token, params: [id] });
  const { body } = await call(service, 'listAuditRecords', {
    token,
    query: 'operation=startScan&operation=cancelScan',
  });
  const records = (body as { data: { attributes: object }[] }).data.map(({ attributes }) => attributes);
  const resource = { type: 'scan', id };
  expect(records).toContainEqual(
    expect.objectContaining({ operation: 'startScan', outcome: 'success', actor_name: 'admin', resource }),
  );
  expect(records).toContainEqual(expect.objectContaining({ operation: 'cancelScan', outcome: 'success', resource }));
});

test('after a crash during a scan, the scan is marked as failed, and queued scans run', async () => {
  const server = await listen(greeter('SSH-2.0-OpenSSH_9.6\r\n'));
  const running = await start(endless);
  const queued = await start({ targets: ['127.0.0.1'], ports: String(server.port) });
  await until(running, underWay);
  await service.kill();
  await begin();
  expect(await get(running)).toMatchObject({
    status: 'failed',
    error: 'interrupted by a restart',
    result: { hosts_up: expect.any(Number), assets_created: expect.any(Number) },
  });
  expect(await until(queued, isOver)).toMatchObject({ status: 'completed', result: { services_found: 1 } });
});

test('a stop during a scan ends the scan and the process', async () => {
  const running = await start(endless);
  await until(running, underWay);
  expect(await service.stop()).toBe(0);
  await begin();
  expect(await get(running)).toMatchObject({ status: 'failed', error: 'interrupted by a restart' });
  const { body } = await call(service, 'getScanStatus', { token });
  expect((body as One).data.id).toBe(running);
});
