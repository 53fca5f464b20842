import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Health } from '../../src/contract/resources/health.ts';
import type { Status } from '../../src/contract/resources/status.ts';
import { limits } from '../../src/limits.ts';
import { adminOf, openService, type Service } from './service.ts';

// Records that are received and not stored are counted, by sensor and reason, in the status, health and metrics.

let service: Service;
let admin: string;
beforeAll(async () => {
  service = await openService();
  admin = await adminOf(service);
});
afterAll(() => service.close());

const lines = { 'content-type': 'application/x-ndjson' };
const conn =
  '{"ts":1767268800,"uid":"C1","id.orig_h":"10.0.0.1","id.resp_h":"192.0.2.1","proto":"tcp","conn_state":"SF"}';

interface Sensor {
  readonly id: string;
  readonly jti: string;
  readonly token: string;
}

async function newSensor(name: string, more: object = {}): Promise<Sensor> {
  const made = await service.call('createPrincipal', 'POST /api/v1/principals', {
    token: admin,
    json: { name, kind: 'sensor', roles: ['sensor'] },
  });
  const { id } = (made.body as { data: { id: string } }).data;
  const json = { name, scopes: ['sensor'], principal_id: id, ...more };
  const issued = await service.call('issueToken', 'POST /api/v1/tokens', { token: admin, json });
  const { data } = issued.body as { data: { id: string; attributes: { token: string } } };
  return { id, jti: data.id, token: data.attributes.token };
}

const send = (token: string, text: string, path = '/api/v1/ingest', headers: Record<string, string> = lines) =>
  service.call('ingest', `POST ${path}`, { token, text, headers });

async function status(): Promise<Status> {
  const { body } = await service.call('getStatus', 'GET /api/v1/status', { token: admin });
  return (body as { data: { attributes: Status } }).data.attributes;
}
const reasonsOf = async ({ id }: Sensor) =>
  (await status()).not_stored.reasons.filter(({ sensor_id }) => sensor_id === id);

describe('records that are rejected', () => {
  test('are counted by sensor and by reason without the rejected value, with samples', async () => {
    const sensor = await newSensor('tap-1');
    const bad = (n: number) => conn.replace('1767268800', `"day ${n}"`);
    for (let n = 0; n < 5; n++) await send(sensor.token, `${bad(2 * n)}\n${conn}\n${bad(2 * n + 1)}\nnoise\n`);
    const reasons = await reasonsOf(sensor);
    expect(reasons.map(({ kind, sensor, reason, times }) => [kind, sensor, reason, times])).toEqual(
      expect.arrayContaining([
        ['rejected', 'tap-1', 'ts is …, not an ISO 8601 time in the years 1970 to 9999', 10],
        ['rejected', 'tap-1', 'line is neither a JSON object nor a row after a header of Zeek TSV', 5],
      ]),
    );
    const [ofTime] = reasons.filter(({ reason }) => reason.startsWith('ts'));
    expect(ofTime?.samples).toHaveLength(limits.maxNotStoredSamples);
    expect(ofTime?.samples[0]).toMatch(/^line 1: \{"ts":"day 8","uid":"C1"/);
    const { warnings, verdict } = await status();
    expect(verdict.well).toBe(false);
    expect(warnings).toContain(
      'Records of sensor tap-1 were rejected (10 so far): ts is …, not an ISO 8601 time in the years 1970 to 9999, and 1 more reason.',
    );
    const { body } = await service.call('getHealth', 'GET /health');
    expect((body as Health).not_stored).toMatchObject({ rejected: 15, ignored: 0 });
    const scrape = await service.call('getMetrics', 'GET /metrics', { token: admin });
    expect(scrape.body).toContain(`candor_ingest_not_stored_total{sensor="${sensor.id}",kind="rejected"} 15`);
  });

  test.each([
    ['/_bulk', '{"create":{}}\n{"message":"a line of something else"}\n', 'message is not valid JSON'],
    ['/services/collector/event', '{"event":"a line of something else"}', 'line is not valid JSON'],
    [
      '/v1/logs',
      '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"a line of something else"}}]}]}]}',
      'body is neither a JSON object nor a key-value list, and there are no attributes',
    ],
  ])('are counted whichever protocol they use: %s', async (path, text, reason) => {
    const sensor = await newSensor(`tap${path}`);
    await fetch(service.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${sensor.token}`, 'content-type': 'application/json' },
      body: text,
    });
    expect(await reasonsOf(sensor)).toMatchObject([{ kind: 'rejected', reason, times: 1 }]);
  });

  test('show no secrets in samples', async () => {
    const sensor = await newSensor('tap-2');
    const secrets = [
      '{"user":"ann","password":"hunter2x"}',
      '{"header":"Authorization: Bearer abc.def.ghi"}',
      '{"url":"https://ann:hunter2x@example.org/?api_key=hunter2x&a=1"}',
      `{"x":"${sensor.token}"}`,
      '{"note":"Zm9vYmFyMTIzNDU2Nzg5MGFiY2RlZkdISUpLTA"}',
      'login pwd=hunter2x ok',
    ];
    for (const line of secrets) await send(sensor.token, line);
    const samples = (await reasonsOf(sensor)).flatMap(({ samples }) => samples);
    expect(samples.length).toBeGreaterThan(3);
    expect(samples.join('\n')).not.toMatch(/hunter2x|def\.ghi|Zm9v|candor_0/);
  });

  test('are counted with a bounded number of reasons and samples of bounded length', async () => {
    const sensor = await newSensor('tap-3');
    for (let n = 0; n < 60; n++)
      await send(sensor.token, `{"type":"network_event","field_${'x'.repeat(n)}${n}":"${'y'.repeat(2000)}"}`);
    const reasons = await reasonsOf(sensor);
    expect(reasons.length).toBeLessThanOrEqual(limits.maxNotStoredReasons + 1);
    expect(reasons.reduce((sum, { times }) => sum + times, 0)).toBe(60);
    expect(Math.max(...reasons.flatMap(({ samples }) => samples).map(({ length }) => length))).toBeLessThan(200);
  });
});

test('records of kinds that are not stored are counted by kind, and cause no warning', async () => {
  const sensor = await newSensor('tap-4');
  const http = '{"_path":"http","ts":1767268800,"uid":"C1","method":"GET"}';
  await send(sensor.token, `${http}\n${http}\n{"event_type":"stats","timestamp":"2026-01-01T00:00:00Z"}\n`);
  expect(await reasonsOf(sensor)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ kind: 'ignored', reason: 'zeek.http', times: 2, samples: [] }),
      expect.objectContaining({ kind: 'ignored', reason: 'suricata.stats', times: 1 }),
    ]),
  );
  expect((await status()).warnings.join()).not.toContain('tap-4');
});

test('requests rejected completely are counted by reason, with their operation and address', async () => {
  const sensor = await newSensor('tap-5');
  await send(sensor.token, 'no gzip', '/api/v1/ingest', { ...lines, 'content-encoding': 'gzip' });
  await send(sensor.token, conn, '/api/v1/ingest', { 'content-type': 'image/png' });
  expect(await reasonsOf(sensor)).toEqual([
    expect.objectContaining({ kind: 'refused', times: 1, samples: ['ingest from 127.0.0.1'] }),
    expect.objectContaining({ kind: 'refused', reason: 'body is not valid gzip', times: 1 }),
  ]);
});

describe('refused credentials', () => {
  test('are counted for the sensor whose token was revoked, with a reason that the sensor does not get', async () => {
    const sensor = await newSensor('tap-6');
    await service.call('revokeToken', `DELETE /api/v1/tokens/${sensor.jti}`, { token: admin });
    const { body } = await send(sensor.token, conn);
    expect(body).toMatchObject({ error: { code: 'UNAUTHENTICATED', message: 'the token is not valid' } });
    expect(await reasonsOf(sensor)).toMatchObject([
      { kind: 'credentials', reason: 'the token was revoked', samples: ['ingest from 127.0.0.1'] },
    ]);
    expect((await status()).warnings).toContain(
      'Credentials of sensor tap-6 were rejected (1 so far): the token was revoked.',
    );
  });

  test('are counted together for unknown senders', async () => {
    const made = '0190d000-0000-7000-8000-000000000000';
    for (let n = 0; n < 5; n++) await send(`candor_${made}_${'x'.repeat(42)}${n}`, conn);
    const { reasons } = (await status()).not_stored;
    expect(reasons.filter(({ sensor_id }) => sensor_id === undefined)).toMatchObject([
      { kind: 'credentials', reason: 'the token is not valid', times: 5 },
    ]);
    expect((await status()).warnings).toContain(
      'Credentials of unknown senders were rejected (5 so far): the token is not valid.',
    );
  });
});

test('warnings have one sentence per sensor, and state how many more sensors and reasons there are', async () => {
  const own = await openService();
  const before = [service, admin] as const;
  service = own;
  admin = await adminOf(own);
  try {
    const names = Array.from({ length: 11 }, (_, n) => `wide-${n}`);
    for (const name of names) {
      const { token } = await newSensor(name);
      const bad = ['{"type":"network_event","a":1}', '{"type":"network_event","b":1}', 'noise', 'noise'];
      await send(token, bad.join('\n'));
    }
    const sentence = (name: string) =>
      `Records of sensor ${name} were rejected (2 so far): line is neither a JSON object nor a row after a header of Zeek TSV, and 2 more reasons.`;
    const { warnings } = await status();
    const ofSensors = warnings.filter((warning) => warning.includes('rejected'));
    expect(ofSensors.at(-1)).toBe('Data of 1 more sensor was rejected.');
    expect(ofSensors.slice(0, -1).sort()).toEqual(names.slice(1).map(sentence).sort());
  } finally {
    await own.close();
    [service, admin] = before;
  }
});
