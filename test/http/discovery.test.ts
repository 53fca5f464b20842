import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { assertServerMessage } from '../../scripts/contract-assertions.ts';
import type { Scan } from '../../src/contract/resources/scan.ts';
import { closedPort, greeter, listen, secureWeb, tarpit, web } from '../discovery/servers.ts';
import { openService, password, type Service } from './service.ts';
import { Authority, temporaryFolder, withoutOpenssl } from './tls-certificates.ts';

interface Item {
  readonly id: string;
  readonly type: string;
  readonly attributes: Scan;
}

let service: Service;
let admin: string;
let viewer: string;
let analyst: string;

beforeAll(async () => {
  service = await openService();
  const { body } = await service.call('login', 'POST /auth/login', { json: { username: 'admin', password } });
  admin = (body as { access_token: string }).access_token;
  [viewer, analyst] = [await tokenOf('viewer'), await tokenOf('analyst')];
});
afterAll(() => service.close());

async function tokenOf(role: string): Promise<string> {
  const json = { name: role, scopes: [role] };
  const { body } = await service.call('issueToken', 'POST /api/v1/tokens', { token: admin, json });
  return (body as { data: { attributes: { token: string } } }).data.attributes.token;
}

const start = (json: object, token = analyst) =>
  service.call('startScan', 'POST /api/v1/discovery/scan', { token, json });
const itemOf = ({ body }: { body: unknown }) => (body as { data: Item }).data;
const errorOf = ({ status, body }: { status: number; body: unknown }) => {
  const { code, details } = (body as { error: { code: string; details?: { field?: string } } }).error;
  return [status, code, ...(details?.field === undefined ? [] : [details.field])];
};
const get = async (id: string, token = viewer) =>
  itemOf(await service.call('getScan', `GET /api/v1/discovery/scan/${id}`, { token }));

async function over(id: string): Promise<Scan> {
  for (;;) {
    const { attributes } = await get(id);
    if (attributes.status !== 'queued' && attributes.status !== 'running') return attributes;
    await delay(20);
  }
}

const endless = { targets: ['127.9.0.0/16'], ports: '1-200', rate: 50 };

describe('discovery over HTTP', () => {
  test('before the first scan the status is idle', async () => {
    const answer = await service.call('getScanStatus', 'GET /api/v1/discovery/status', { token: viewer });
    expect(answer).toMatchObject({ status: 200, body: { data: { attributes: { status: 'idle' } } } });
  });

  test.skipIf(withoutOpenssl !== undefined)('a scan of real servers finds the right services', async () => {
    const folder = temporaryFolder();
    const authority = Authority.root(folder.path, 'Discovery authority');
    const pair = authority.issue('files.example.org', {
      extensions: ['subjectAltName=DNS:files.example.org'],
    });
    const ssh = await listen(greeter('SSH-2.0-OpenSSH_9.6\r\n'));
    const http = await listen(web('nginx/1.24.0'));
    const https = await listen(secureWeb(pair, 'Apache/2.4.57'));
    const silent = await listen(tarpit());
    const mail = await listen(greeter('220 mx ESMTP Postfix\r\n'), '127.0.0.2');
    const ports = [ssh, http, https, silent, mail].map(({ port }) => port);
    const begun = await start({
      targets: ['127.0.0.1', '127.0.0.2/32'],
      ports: [...ports, await closedPort()].join(),
    });
    const { id, attributes } = itemOf(begun);
    expect(begun.status).toBe(202);
    expect(begun.headers.get('location')).toBe(`/api/v1/discovery/scan/${id}`);
    expect(attributes).toMatchObject({
      status: 'queued',
      requested_by: 'admin',
      rate: 500,
      engine: 'connect',
    });
    expect(await over(id)).toMatchObject({
      status: 'completed',
      progress: { hosts_total: 2, hosts_done: 2, probes_total: 12, probes_done: 12 },
      result: { hosts_up: 2, services_found: 5, assets_created: 2, assets_updated: 0 },
    });
    const status = await service.call('getScanStatus', 'GET /api/v1/discovery/status', { token: viewer });
    expect(itemOf(status).id).toBe(id);
    const services = await service.call('listServices', 'GET /api/v1/services?sort=port', { token: viewer });
    const found = (services.body as { data: { attributes: Record<string, unknown> }[] }).data.map(
      (one) => one.attributes,
    );
    const offered = Object.fromEntries(
      found.map(({ port, name, product, version }) => [String(port), { name, product, version }]),
    );
    expect(offered).toEqual({
      [ssh.port]: { name: 'ssh', product: 'OpenSSH', version: '9.6' },
      [http.port]: { name: 'http', product: 'nginx', version: '1.24.0' },
      [https.port]: { name: 'https', product: 'Apache', version: '2.4.57' },
      [silent.port]: {},
      [mail.port]: { name: 'smtp', product: 'Postfix' },
    });
    for (const { source, state } of found) expect([source, state]).toEqual(['scan', 'open']);
    const assets = await service.call('listAssets', 'GET /api/v1/assets?hostname=files.example.org', {
      token: viewer,
    });
    expect((assets.body as { data: unknown[] }).data).toHaveLength(1);
    folder.remove();
  });

  test('a scan is watched, cancelled and listed', async () => {
    const socket = new WebSocket(`${service.url.replace('http', 'ws')}/ws`, {
      headers: { authorization: `Bearer ${viewer}` },
    });
    const messages: { type: string; seq?: number; data?: Item }[] = [];
    socket.on('message', (text) => {
      const message = JSON.parse(String(text));
      assertServerMessage(message);
      messages.push(message);
    });
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'subscribe', channel: 'discovery', filters: { target: '127.9.0.0/16' } }));
    while (!messages.some(({ type }) => type === 'subscribed')) await delay(10);
    const { id } = itemOf(await start(endless));
    const other = itemOf(await start({ targets: ['127.0.0.1'], ports: '1' }));
    while (((await get(id)).attributes.progress.probes_done ?? 0) === 0) await delay(20);
    expect((await get(other.id)).attributes.status).toBe('queued');
    const cancel = (scanId: string, token = analyst) =>
      service.call('cancelScan', `POST /api/v1/discovery/scan/${scanId}/cancel`, { token });
    expect((await cancel(id, viewer)).status).toBe(403);
    const cancelled = await cancel(id.toUpperCase());
    expect(cancelled.status).toBe(200);
    expect(itemOf(cancelled).attributes).toMatchObject({ status: 'cancelled' });
    expect(errorOf(await cancel(id))).toEqual([409, 'INVALID_TRANSITION', 'status']);
    expect(errorOf(await cancel('018f0000-0000-7000-8000-000000000001'))).toEqual([404, 'NOT_FOUND', 'scan_id']);
    expect(await over(other.id)).toMatchObject({
      status: 'completed',
      result: { hosts_up: 1, services_found: 0 },
    });
    const seen = () =>
      messages
        .filter(({ type, data }) => type === 'event' && data?.id === id)
        .map(({ data }) => data!.attributes.status);
    while (seen().at(-1) !== 'cancelled') await delay(10);
    expect([...new Set(seen())]).toEqual(['queued', 'running', 'cancelled']);
    // The other scan does not include the target of the filter.
    expect(messages.some(({ data }) => data?.id === other.id)).toBe(false);
    const first = messages.find(({ type }) => type === 'event')?.seq ?? 0;
    socket.send(JSON.stringify({ type: 'subscribe', channel: 'discovery', id: 'again', since: first }));
    while (!messages.some(({ data }) => data?.id === other.id)) await delay(10);
    socket.terminate();

    const history = await service.call(
      'listScans',
      'GET /api/v1/discovery/history?status=cancelled&requested_by=admin',
      { token: viewer },
    );
    expect((history.body as { data: Item[] }).data.map((one) => one.id)).toEqual([id]);
  });

  test('an invalid scan is rejected, and the error names the field or the target', async () => {
    const refused = async (json: object) => errorOf(await start(json));
    const invalid = (field: string) => [400, 'INVALID_REQUEST', field];
    expect(await refused({})).toEqual(invalid('targets'));
    expect(await refused({ targets: [] })).toEqual(invalid('targets'));
    expect(await refused({ targets: '127.0.0.1' })).toEqual(invalid('targets'));
    expect(await refused({ targets: ['127.0.0.1', '10.0.0.0/8'] })).toEqual(invalid('targets.1'));
    expect(await refused({ targets: ['localhost'] })).toEqual(invalid('targets.0'));
    expect(await refused({ targets: ['127.0.0.1'], ports: '0' })).toEqual(invalid('ports'));
    expect(await refused({ targets: ['127.0.0.1'], ports: 22 })).toEqual(invalid('ports'));
    expect(await refused({ targets: ['127.0.0.1'], rate: 0 })).toEqual(invalid('rate'));
    expect(await refused({ targets: ['127.0.0.1'], rate: 1e6 })).toEqual(invalid('rate'));
    expect(await refused({ targets: ['127.0.0.1'], engine: 'masscan' })).toEqual(invalid('engine'));
    expect(await refused({ targets: ['127.0.0.1'], engine: 'nmap' })).toEqual(invalid('engine'));
    expect(await refused({ targets: ['127.0.0.1'], status: 'completed' })).toEqual(invalid('status'));
    expect(await refused({ targets: ['127.0.0.1'], colour: 'red' })).toEqual(invalid('colour'));
  });

  test('viewers cannot start scans, and get 404 or 400 for a scan that does not exist', async () => {
    expect((await start({ targets: ['127.0.0.1'] }, viewer)).status).toBe(403);
    expect(
      errorOf(
        await service.call('getScan', 'GET /api/v1/discovery/scan/018f0000-0000-7000-8000-000000000001', {
          token: viewer,
        }),
      ),
    ).toEqual([404, 'NOT_FOUND', 'scan_id']);
    expect(errorOf(await service.call('getScan', 'GET /api/v1/discovery/scan/x', { token: viewer }))).toEqual([
      400,
      'INVALID_REQUEST',
      'scan_id',
    ]);
  });
});
