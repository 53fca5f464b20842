import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigError, loadConfig, type SettingName, settings, variableOf } from '../src/config.ts';
import { limits } from '../src/limits.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'candor-config-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function file(text: string, name = 'candor.yaml'): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** The one line that a bad configuration is refused with. */
function refusal(env: Record<string, string>): string {
  try {
    loadConfig(env);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as Error).message).not.toContain('\n');
    return (error as Error).message;
  }
  throw new Error('it was taken');
}

describe('sources', () => {
  test('without any, the defaults hold', () => {
    const config = loadConfig({});
    expect(config.host).toBe('127.0.0.1');
    expect(config.port).toBe(8080);
    expect(config.admin_password).toBeUndefined();
    expect(config['network.home']).toContain('fe80::/10');
    expect(config['alerts.window_ms']).toBe(3_600_000);
    expect(config['cors.origins']).toEqual([]);
  });

  test('the environment wins over the file, the file over the default', () => {
    const path = file('port: 9000\nalerts:\n  window_ms: 60000\nlog.level: warn\n');
    const config = loadConfig({ CANDOR_CONFIG: path, CANDOR_PORT: '0' });
    expect([config.port, config['alerts.window_ms'], config['log.level']]).toEqual([0, 60_000, 'warn']);
  });

  test('a file may be JSON, nested or dotted, or empty', () => {
    const nested = file('{"network": {"home": ["10.1.0.0/16", "::1"]}}', 'nested.json');
    expect(loadConfig({ CANDOR_CONFIG: nested })['network.home']).toEqual(['10.1.0.0/16', '::1/128']);
    const dotted = file('"network.home": [10.1.0.0/16]', 'dotted.yaml');
    expect(loadConfig({ CANDOR_CONFIG: dotted })['network.home']).toEqual(['10.1.0.0/16']);
    expect(loadConfig({ CANDOR_CONFIG: file('', 'empty.yaml') }).port).toBe(8080);
  });

  test('every setting has a variable of its own; lists are separated by commas', () => {
    const names = Object.keys(settings) as SettingName[];
    expect(new Set(names.map(variableOf)).size).toBe(names.length);
    const config = loadConfig({
      CANDOR_ALERTS_WINDOW_MS: '5000',
      CANDOR_CORS_ORIGINS: 'https://a.example, https://b.example:8443',
      CANDOR_METRICS_REQUIRE_AUTH: 'true',
    });
    expect(config['alerts.window_ms']).toBe(5000);
    expect(config['cors.origins']).toEqual(['https://a.example', 'https://b.example:8443']);
    expect(config['metrics.require_auth']).toBe(true);
  });

  test('an empty variable is none; variables of others are left alone', () => {
    const env = { CANDOR_PORT: '', CANDOR_TLS_CERT: '', CANDOR_TOKEN: 'x', PATH: '/bin' };
    expect(loadConfig(env)).toEqual(loadConfig({}));
  });

  test('paths are made absolute', () => {
    expect(loadConfig({ CANDOR_DATA_DIR: 'here' }).data_dir).toBe(resolve('here'));
  });
});

describe('refusals name the setting, what came and what is wanted', () => {
  test.each([
    ['CANDOR_PORT', '65536', 'port: came "65536" from CANDOR_PORT, wanted an integer from 0 to 65535'],
    ['CANDOR_PORT', '0x50', 'port: came "0x50" from CANDOR_PORT, wanted an integer'],
    ['CANDOR_PORT', '-1', 'port: came "-1"'],
    ['CANDOR_LOG_LEVEL', 'loud', 'log.level: came "loud" from CANDOR_LOG_LEVEL, wanted one of trace, '],
    [
      'CANDOR_NETWORK_HOME',
      '10.0.0.0/33',
      'network.home: came "10.0.0.0/33" from CANDOR_NETWORK_HOME, wanted CIDR',
    ],
    ['CANDOR_NETWORK_HOME', 'home', 'network.home: came "home"'],
    ['CANDOR_CORS_ORIGINS', 'https://a.example/', 'cors.origins: came "https://a.example/"'],
    ['CANDOR_METRICS_REQUIRE_AUTH', 'yes', 'metrics.require_auth: came "yes" from '],
    ['CANDOR_PROT', '80', 'CANDOR_PROT: came "80" from the environment, wanted no variable of this name'],
    ['CANDOR_TLS_CERT', 'cert.pem', 'tls.key: came nothing, wanted a path'],
    ['CANDOR_TLS_CLIENT_CA', 'ca.pem', 'tls.client_ca: came without tls.cert'],
    ['CANDOR_CONFIG', '/nonexistent.yaml', 'CANDOR_CONFIG: came "/nonexistent.yaml", wanted a readable YAML'],
    ['CANDOR_LIMITS_MAX_BODY_BYTES', String(limits.maxBodyBytes + 1), 'limits.max_body_bytes: came '],
  ])('%s=%s', (variable, value, line) => {
    expect(refusal({ [variable]: value })).toContain(line);
  });

  test.each([
    ['ports: 80', 'ports: came 80 from '],
    ['alerts: {window: 5}', 'alerts.window: came 5 from '],
    ['port: [80]', 'port: came [80] from '],
    ['port: 80.5', 'port: came 80.5 from '],
    ['network: {home: {a: 1}}', 'network.home: came {"a":1} from '],
    ['- port', 'CANDOR_CONFIG: came ["port"] in '],
    ['__proto__: {x: 1}', '__proto__.x: came 1 from '],
    ['port: 1\nport: 2', 'CANDOR_CONFIG: came '],
    ['a: [', 'CANDOR_CONFIG: came '],
  ])('a file that says %j', (text, line) => {
    expect(refusal({ CANDOR_CONFIG: file(text, 'bad.yaml') })).toContain(line);
  });

  test.each(['', 'a b', 'a+b', 'a\tb', 'x'.repeat(256)])('a log cannot be named %j', (origin) => {
    const load = () => loadConfig({ CANDOR_LEDGER_ORIGIN: origin });
    if (origin === '') expect(load()['ledger.origin']).toBeUndefined();
    else expect(load).toThrow('ledger.origin');
  });

  test('a secret is not repeated', () => {
    expect(refusal({ CANDOR_ADMIN_PASSWORD: 'short' })).toMatch(
      /^admin_password: came a value that is not shown/,
    );
  });
});

test('limits may be lowered, not raised: their defaults are those of the limits table', () => {
  const table = {
    'limits.max_body_bytes': limits.maxBodyBytes,
    'limits.max_json_body_bytes': limits.maxJsonBodyBytes,
    'limits.max_ingest_in_flight_bytes': limits.maxIngestInFlightBytes,
    'limits.max_queued_queries': limits.maxQueuedQueries,
    'limits.max_sockets': limits.maxSockets,
  } as const;
  expect(Object.keys(settings).filter((name) => name.startsWith('limits.'))).toEqual(Object.keys(table));
  for (const [name, limit] of Object.entries(table)) {
    expect(settings[name as keyof typeof table].default).toBe(limit);
    expect(refusal({ [variableOf(name as SettingName)]: String(limit + 1) })).toContain(name);
  }
});
