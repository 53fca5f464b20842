import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RiskHistory } from '../../src/contract/resources/risk-history.ts';
import type { RiskScore } from '../../src/contract/resources/risk-score.ts';
import { openService, password, type Service } from './service.ts';

let service: Service;
let token: string;
const path = '/api/v1/analytics/risk-score';
const nobody = '01900000-0000-7000-8000-00000000000a';

beforeAll(async () => {
  service = await openService();
  token = await tokenOf('admin', password);
});
afterAll(() => service.close());

async function tokenOf(username: string, secret: string): Promise<string> {
  const login = await service.call('login', 'POST /auth/login', { json: { username, password: secret } });
  return (login.body as { access_token: string }).access_token;
}

async function risk(by = token): Promise<RiskScore> {
  const { status, body } = await service.call('getRiskScore', `GET ${path}`, { token: by });
  expect(status).toBe(200);
  return (body as { data: { attributes: RiskScore } }).data.attributes;
}

async function raise(srcIp: string, dstIp: string, severity: 1 | 2 | 3, signature = 'Rule'): Promise<void> {
  const json = {
    event_type: 'alert',
    timestamp: new Date().toISOString(),
    src_ip: srcIp,
    src_port: 4711,
    dest_ip: dstIp,
    dest_port: 22,
    proto: 'TCP',
    alert: {
      gid: 1,
      signature_id: 2_000_000 + signature.length,
      rev: 1,
      signature,
      category: 'test',
      severity,
    },
  };
  const { status, body } = await service.call('ingest', 'POST /api/v1/ingest', { token, json });
  expect([status, body]).toMatchObject([200, { data: { accepted: 1 } }]);
}

const alerts = async (): Promise<{ id: string; attributes: { dst_ip?: string } }[]> => {
  const { body } = await service.call('listAlerts', 'GET /api/v1/alerts', { token });
  return (body as { data: { id: string; attributes: { dst_ip?: string } }[] }).data;
};

test('the risk score is 0 for a network without alerts, and explains its formula', async () => {
  expect(await risk()).toMatchObject({ score: 0, level: 'low', entities: [], entities_at_risk: 0 });
  const { method, as_of } = await risk();
  expect(method).toContain('halves every 7 days');
  expect(Math.abs(Date.now() - Date.parse(as_of))).toBeLessThan(60_000);
});

test('the risk score names assets, alerts and their contributions, and follows their changes immediately', async () => {
  const asset = async (name: string, ip: string) => {
    const json = { name, ip_addresses: [ip] };
    const { body } = await service.call('createAsset', 'POST /api/v1/assets', { token, json });
    return (body as { data: { id: string } }).data.id;
  };
  const [web, desk] = [await asset('web', '10.0.0.1'), await asset('desk', '10.0.0.2')];
  await raise('198.51.100.7', '10.0.0.1', 1);
  await raise('198.51.100.7', '10.0.0.2', 3);
  await raise('198.51.100.7', '203.0.113.9', 2);
  const before = await risk();
  expect(before).toMatchObject({
    entities: [
      {
        asset_id: web,
        name: 'web',
        criticality: 'medium',
        score: 73,
        level: 'high',
        alerts: [{ points: 73 }],
      },
      { asset_id: desk, name: 'desk', score: 21, level: 'low' },
    ],
    unassigned: { score: 47, level: 'moderate' },
    entities_at_risk: 2,
  });
  expect(before.score).toBeGreaterThan(73);

  const json = { criticality: 'critical' };
  await service.call('updateAsset', `PUT /api/v1/assets/${desk}`, { token, json });
  expect((await risk()).entities.find(({ asset_id }) => asset_id === desk)).toMatchObject({ score: 39 });

  const grave = (await alerts()).find(({ attributes }) => attributes.dst_ip === '10.0.0.1')!;
  const verdict = { verdict: 'false_positive' };
  await service.call('updateAlert', `PUT /api/v1/alerts/${grave.id}`, { token, json: verdict });
  const after = await risk();
  expect(after.entities.map(({ asset_id }) => asset_id)).toEqual([desk]);
  expect(after.score).toBeLessThan(before.score);

  const historyOf = async (id: string, query = '') =>
    (await service.call('getAssetRiskHistory', `GET /api/v1/assets/${id}/risk${query}`, { token })) as {
      status: number;
      body: { data: { type: string; id: string; attributes: RiskHistory } };
    };
  const { status, body: told } = await historyOf(web);
  expect([status, told.data.type, told.data.id]).toEqual([200, 'risk_history', web]);
  expect(told.data.attributes).toMatchObject({ window: '24h', score: 0, level: 'low', highest: 73 });
  expect(told.data.attributes.points.map(({ score }) => score)).toEqual([0, 73, 0]);
  expect((await historyOf(desk, '?window=7d')).body.data.attributes.points.map(({ score }) => score)).toEqual([
    0, 21, 39,
  ]);
  expect(await historyOf(desk, '?window=2d')).toMatchObject({
    status: 400,
    body: { error: { code: 'INVALID_REQUEST', details: { field: 'window' } } },
  });
  expect(await historyOf(nobody)).toMatchObject({ status: 404, body: { error: { code: 'NOT_FOUND' } } });

  const listed = await service.call('listAssets', 'GET /api/v1/assets?sort=-risk_score', { token });
  const { data } = listed.body as { data: { attributes: { risk_score: number } }[] };
  expect(data.map(({ attributes }) => attributes.risk_score)).toEqual([39, 0]);
});

test.each(['page', 'limit', 'window', 'q', 'entities'])('the risk score rejects the parameter %s', async (field) => {
  const { status, body } = await service.call('getRiskScore', `GET ${path}?${field}=1`, { token });
  expect([status, body]).toMatchObject([400, { error: { code: 'INVALID_REQUEST', details: { field } } }]);
});

test('the risk score requires read access', async () => {
  const status = async (by?: string) =>
    (await service.call('getRiskScore', `GET ${path}`, by === undefined ? {} : { token: by })).status;
  expect(await status()).toBe(401);
  const secret = 'a long enough passphrase of nobody';
  const tokens = new Map<string, string>();
  for (const role of ['viewer', 'analyst', 'sensor']) {
    const json = { name: `${role}-1`, kind: 'user', roles: [role], password: secret };
    const made = await service.call('createPrincipal', 'POST /api/v1/principals', { token, json });
    expect(made.status).toBe(201);
    tokens.set(role, await tokenOf(`${role}-1`, secret));
  }
  expect(await status(tokens.get('viewer'))).toBe(200);
  expect(await status(tokens.get('analyst'))).toBe(200);
  expect(await status(tokens.get('sensor'))).toBe(403);
});
