import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Config } from '../../src/contract/resources/config.ts';
import { openService, password, type Service } from './service.ts';

let service: Service;
let admin: string;
let viewer: string;
beforeAll(async () => {
  service = await openService({ CANDOR_HTTP_DRAIN_MS: '5000', CANDOR_KEY_PASSPHRASE: 'hunter2hunter2' });
  const login = await service.call('login', 'POST /auth/login', { json: { username: 'admin', password } });
  admin = (login.body as { access_token: string }).access_token;
  const issued = await service.call('issueToken', 'POST /api/v1/tokens', {
    token: admin,
    json: { name: 'reader', scopes: ['viewer'] },
  });
  viewer = (issued.body as { data: { attributes: { token: string } } }).data.attributes.token;
});
afterAll(() => service.close());

async function get(): Promise<Config> {
  const { status, body } = await service.call('getConfig', 'GET /api/v1/config', { token: admin });
  expect(status).toBe(200);
  return (body as { data: { attributes: Config } }).data.attributes;
}

function put(settings: unknown, token = admin) {
  return service.call('updateConfig', 'PUT /api/v1/config', { token, json: { settings } });
}

interface Refusal {
  readonly error: { readonly code: string; readonly details: Readonly<Record<string, unknown>> };
}

test('the configuration describes every setting, with its schema and source, and why it is read-only', async () => {
  const { active, pending, restart_required, settings, problem } = await get();
  expect([pending, restart_required, problem]).toEqual([{}, false, undefined]);
  expect(active).toMatchObject({ host: '127.0.0.1', 'http.drain_ms': 5000 });
  const described = new Map(settings.map((setting) => [setting.name, setting]));
  expect(described.get('alerts.window_ms')).toEqual({
    name: 'alerts.window_ms',
    variable: 'CANDOR_ALERTS_WINDOW_MS',
    description: expect.stringContaining('Zeek notices'),
    schema: { type: 'integer', minimum: 1000, maximum: 2_592_000_000, default: 3_600_000 },
    source: 'default',
    secret: false,
  });
  expect(described.get('http.drain_ms')).toMatchObject({
    source: 'environment',
    read_only: expect.stringContaining('CANDOR_HTTP_DRAIN_MS'),
  });
  expect(described.get('key_passphrase')).toMatchObject({ secret: true, source: 'environment' });
  expect(Object.keys(active)).not.toContain('key_passphrase');
});

test('a stored value is pending until a restart; null removes it', async () => {
  const { status } = await put({ port: 9000, alerts: { window_ms: 5000 }, 'log.level': 'info' });
  expect(status).toBe(200);
  const stored = await get();
  expect(stored.active).toMatchObject({ 'alerts.window_ms': 3_600_000 });
  expect([stored.pending, stored.restart_required]).toEqual([{ port: 9000, 'alerts.window_ms': 5000 }, true]);
  const path = join(service.services.config.data_dir, 'config.json');
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ port: 9000, 'alerts.window_ms': 5000 });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await put({ port: null, 'alerts.window_ms': 3_600_000 });
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({});
  expect((await get()).restart_required).toBe(false);
});

test('a bad value is reported with its setting and the expected value, and nothing is stored', async () => {
  const { status, body } = await put({ 'log.level': 'warn', port: 65_536 });
  expect([status, (body as Refusal).error.details]).toEqual([
    400,
    { field: 'settings.port', reason: 'got 65536, expected an integer from 0 to 65535' },
  ]);
  const { body: list } = await put({ 'network.home': ['10.0.0.0/8', 'home'] });
  expect((list as Refusal).error.details).toMatchObject({
    field: 'settings.network.home.1',
    reason: expect.stringMatching(/^got "home", expected CIDR/),
  });
  const { body: lists } = await put({ detection: { placeholders: { kiosks: ['10.0.0.66', 7] } } });
  expect((lists as Refusal).error.details).toMatchObject({
    field: 'settings.detection.placeholders.kiosks.1',
    reason: 'got 7, expected a text of 1 to 4096 characters',
  });
  const { body: environment } = await put({ 'http.drain_ms': 1 });
  expect((environment as Refusal).error.details.field).toBe('settings.http.drain_ms');
  expect((await get()).pending).toEqual({});
});

test('two concurrent changes both take effect', async () => {
  const answers = await Promise.all([put({ 'log.level': 'warn' }), put({ 'keys.overlap_ms': 5 })]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect((await get()).pending).toEqual({ 'log.level': 'warn', 'keys.overlap_ms': 5 });
  await put({ 'log.level': null, 'keys.overlap_ms': null });
});

test('only an administrator can read and change settings', async () => {
  expect((await service.call('getConfig', 'GET /api/v1/config', { token: viewer })).status).toBe(403);
  expect((await put({ port: 1 }, viewer)).status).toBe(403);
  expect((await service.call('getConfig', 'GET /api/v1/config')).status).toBe(401);
});

test('any JSON body gets 200, or 400 with a field', async () => {
  const deep = `{"settings":{"alerts":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}}}`;
  const deepList = `{"settings":{"port":${'['.repeat(50_000)}${']'.repeat(50_000)}}}`;
  const body = fc.oneof(
    fc.json(),
    fc.json().map((value) => `{"settings":${value}}`),
    fc.constantFrom(deep, deepList, '{"settings":{"__proto__":{"port":1}}}', '{"settings":{"constructor":1}}'),
  );
  await fc.assert(
    fc.asyncProperty(body, async (text) => {
      const { status, body: answer } = await service.call('updateConfig', 'PUT /api/v1/config', {
        token: admin,
        text,
        headers: { 'content-type': 'application/json' },
      });
      if (status === 200) return;
      expect(status).toBe(400);
      expect((answer as Refusal).error.details.field).toEqual(expect.any(String));
    }),
    { numRuns: 50, examples: [[deep], [deepList]] },
  );
});

test('responses and log lines contain no secrets', async () => {
  const answers = [await get(), (await put({ key_passphrase: 'hunter2hunter3' })).body];
  expect(JSON.stringify([answers, service.logged])).not.toContain('hunter2');
});
