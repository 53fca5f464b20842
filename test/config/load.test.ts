import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/config/config-error.ts';
import { loadConfig, loadSettings } from '../../src/config/load.ts';
import { rulePlaceholders } from '../../src/config/part-settings.ts';
import { type SettingName, settings, variableOf } from '../../src/config/settings.ts';
import { limits } from '../../src/limits.ts';

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

/** Returns the line that rejects an invalid configuration. */
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
  test('the defaults apply without any source', () => {
    const config = loadConfig({});
    expect(config.host).toBe('127.0.0.1');
    expect(config.port).toBe(8080);
    expect(config.admin_password).toBeUndefined();
    expect(config['network.home']).toContain('fe80::/10');
    expect(config['alerts.window_ms']).toBe(3_600_000);
    expect(config['cors.origins']).toEqual([]);
  });

  test('by default, events are kept for 90 days without a fixed size; retention limits below the minimum are rejected', () => {
    const config = loadConfig({});
    expect(config['retention.max_age_ms']).toBe(90 * 24 * 3_600_000);
    expect(config['retention.max_bytes']).toBe(0);
    expect(loadConfig({ CANDOR_RETENTION_MAX_AGE_MS: '0' })['retention.max_age_ms']).toBe(0);
    expect(refusal({ CANDOR_RETENTION_MAX_AGE_MS: '90' })).toContain(
      'got "90" from CANDOR_RETENTION_MAX_AGE_MS, expected 0, or an integer from 86400000 to ',
    );
    expect(refusal({ CANDOR_RETENTION_MAX_BYTES: '100' })).toContain('expected 0, or an integer from 67108864 to ');
  });

  test('the environment overrides the file, the file overrides the default', () => {
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

  test('every setting has its own variable; lists are separated by commas', () => {
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

  test('named lists are an object in the file, and JSON in the environment', () => {
    const lists = { admin_hosts: ['10.0.0.5', 'srv*'], DomainControllers: ['10.0.0.9'] };
    const CANDOR_DETECTION_PLACEHOLDERS = JSON.stringify(lists);
    expect(loadConfig({ CANDOR_DETECTION_PLACEHOLDERS })['detection.placeholders']).toEqual(lists);
    const nested = file(
      'detection:\n  placeholders:\n    admin_hosts: [10.0.0.5, srv*]\n    DomainControllers:\n      - 10.0.0.9\n',
      'placeholders.yaml',
    );
    const config = loadConfig({ CANDOR_CONFIG: nested, CANDOR_NETWORK_HOME: '203.0.113.0/24' });
    expect(config['detection.placeholders']).toEqual(lists);
    expect(Object.fromEntries(rulePlaceholders(config))).toEqual({
      ...lists,
      home_networks: ['203.0.113.0/24'],
    });
  });

  test('an empty variable is ignored, as are variables of other programs', () => {
    const env = { CANDOR_PORT: '', CANDOR_TLS_CERT: '', CANDOR_TOKEN: 'x', PATH: '/bin' };
    expect(loadConfig(env)).toEqual(loadConfig({}));
  });

  test('relative paths become absolute', () => {
    expect(loadConfig({ CANDOR_DATA_DIR: 'here' }).data_dir).toBe(resolve('here'));
  });
});

describe('refusals name the setting, the actual value and the expected value', () => {
  test.each([
    ['CANDOR_PORT', '65536', 'port: got "65536" from CANDOR_PORT, expected an integer from 0 to 65535'],
    ['CANDOR_PORT', '0x50', 'port: got "0x50" from CANDOR_PORT, expected an integer'],
    ['CANDOR_PORT', '-1', 'port: got "-1"'],
    ['CANDOR_LOG_LEVEL', 'loud', 'log.level: got "loud" from CANDOR_LOG_LEVEL, expected one of trace, '],
    ['CANDOR_NETWORK_HOME', '10.0.0.0/33', 'network.home.0: got "10.0.0.0/33" from CANDOR_NETWORK_HOME, expected CIDR'],
    ['CANDOR_NETWORK_HOME', '10.0.0.0/8,home', 'network.home.1: got "home"'],
    ['CANDOR_CORS_ORIGINS', 'https://a.example/', 'cors.origins.0: got "https://a.example/"'],
    ['CANDOR_METRICS_REQUIRE_AUTH', 'yes', 'metrics.require_auth: got "yes" from '],
    ['CANDOR_DETECTION_PLACEHOLDERS', '10.0.0.5', 'detection.placeholders: got "10.0.0.5" from CANDOR_'],
    ['CANDOR_DETECTION_PLACEHOLDERS', '["a"]', 'detection.placeholders: got "[\\"a\\"]" from CANDOR_'],
    ['CANDOR_PROT', '80', 'CANDOR_PROT: unknown variable in the environment'],
    ['CANDOR_TLS_CERT', 'cert.pem', 'tls.key: not set; tls.cert and tls.key'],
    ['CANDOR_TLS_CLIENT_CA', 'ca.pem', 'tls.client_ca: set without tls.cert'],
    [
      'CANDOR_CONFIG',
      '/nonexistent.yaml',
      'CANDOR_CONFIG: cannot use "/nonexistent.yaml": it cannot be read; expected a readable YAML',
    ],
    ['CANDOR_LIMITS_MAX_BODY_BYTES', String(limits.maxBodyBytes + 1), 'limits.max_body_bytes: got '],
  ])('%s=%s', (variable, value, line) => {
    expect(refusal({ [variable]: value })).toContain(line);
  });

  test.each([
    ['ports: 80', 'ports: unknown setting in '],
    ['ports: 80', 'bad.yaml; expected a setting from `candor help settings`'],
    ['alerts: {window: 5}', 'alerts.window: unknown setting in '],
    ['port: [80]', 'port: got a list from '],
    ['port: 80.5', 'port: got 80.5 from '],
    ['network: {home: {a: 1}}', 'network.home: got an object from '],
    ['detection.placeholders: {a: 5}', 'detection.placeholders.a: got 5 from '],
    ['detection.placeholders: {a: [b, 5]}', 'detection.placeholders.a.1: got 5 from '],
    ['detection.placeholders: {a: [""]}', 'detection.placeholders.a.0: got "" from '],
    ['detection.placeholders: {a: }', 'detection.placeholders.a: got null from '],
    ['detection.placeholders: {a b: [c]}', 'detection.placeholders.a b: got "a b" from '],
    ['detection.placeholders: {__proto__: [c]}', 'detection.placeholders.__proto__: got "__proto__" from '],
    ['detection.placeholders: {home_networks: [c]}', 'detection.placeholders: contains a list home_networks; '],
    ['detection.placeholders.a: [b]', 'detection.placeholders.a: unknown setting in '],
    ['- port', 'it contains a list; expected a mapping of settings'],
    ['__proto__: {x: 1}', '__proto__: unknown setting in '],
    ['port: "80"', 'port: got "80" from '],
    ['host: "a b"', 'host: got "a b" from '],
    ['network.home: "10.0.0.0/8"', 'network.home: got "10.0.0.0/8" from '],
    ['network.home: [10.0.0.0/8, 7, home]', 'network.home.1: got 7 from '],
    ['alerts: 5', 'alerts: unknown setting in '],
    ['alerts: {window_ms: 5000}\nalerts.window_ms: 5000', 'alerts.window_ms: is set twice in '],
    ['alerts: {window_ms: 5000}\nalerts.window_ms: 5000', 'bad.yaml; remove one'],
    ['port: 1\nport: 2', 'duplicate key at line 2, column 1; expected plain YAML or JSON'],
    ['{"port": 1, "port": 2}', 'duplicate key at line 1, column 13'],
    ['port: 1\n---\nport: 2', 'multiple docs at line 2'],
    ['port: &p 1\nlog.level: *p', 'alias at line 2, column 12'],
    ['%YAML 1.1\n---\nport: 1', 'another version of yaml at line 1'],
    ['? [port]\n: 1', 'non string key at line 1'],
    ['port: !secret 1', 'tag resolve failed at line 1'],
    ['!!omap [port: 1]', 'it contains an object; expected a mapping'],
    ['alerts: !!omap [window_ms: 5000]', 'alerts: unknown setting in '],
    ['a: [', 'CANDOR_CONFIG: cannot use '],
  ])('a file with the text %j is rejected', (text, line) => {
    expect(refusal({ CANDOR_CONFIG: file(text, 'bad.yaml') })).toContain(line);
  });

  test.each(['', 'a b', 'a+b', 'a\tb', 'x'.repeat(256)])('a log cannot be named %j', (origin) => {
    const load = () => loadConfig({ CANDOR_LEDGER_ORIGIN: origin });
    if (origin === '') expect(load()['ledger.origin']).toBeUndefined();
    else expect(load).toThrow('ledger.origin');
  });

  test('a file that is too large or too deeply nested is rejected', () => {
    const large = file('#'.padEnd(limits.maxConfigFileBytes + 1, 'x'));
    expect(refusal({ CANDOR_CONFIG: large })).toContain('it is too large; expected at most 131072 bytes');
    for (const deep of ['[', '{a: ', '- ', '{"a":['])
      expect(refusal({ CANDOR_CONFIG: file(deep.repeat(20_000)) })).toContain('expected plain YAML or JSON');
  });

  test('too many lists, or too many items in a list, are rejected', () => {
    const refused = (lists: object) => refusal({ CANDOR_DETECTION_PLACEHOLDERS: JSON.stringify(lists) });
    const lists = (count: number, items: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`list${n}`, Array(items).fill('x')]));
    expect(refused(lists(limits.maxPlaceholders + 1, 0))).toContain(
      `expected an object of at most ${limits.maxPlaceholders} lists`,
    );
    expect(refused(lists(1, 1001))).toContain('detection.placeholders.list0: got a list from ');
    expect(refused(lists(11, 1000))).toContain(`expected at most ${limits.maxPlaceholderValues} items in all lists`);
    const { 'detection.placeholders': most } = loadConfig({
      CANDOR_DETECTION_PLACEHOLDERS: JSON.stringify(lists(10, 1000)),
    });
    expect(Object.values(most).flat()).toHaveLength(limits.maxPlaceholderValues);
  });

  test('a path that is not a file, and a file that is not text, are rejected', () => {
    expect(refusal({ CANDOR_CONFIG: folder })).toContain('it is not a file; expected a regular file');
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    expect(refusal({ CANDOR_CONFIG: pipe })).toContain('it is not a file; expected a regular file');
    const latin1 = file('', 'latin1.yaml');
    writeFileSync(latin1, Buffer.from('host: caf\xe9', 'latin1'));
    expect(refusal({ CANDOR_CONFIG: latin1 })).toContain('expected UTF-8');
  });

  test.each([
    ['admin_password: [hunter2]', 'a value that is not shown'],
    ['admin_pasword: hunter2', 'unknown setting in'],
    ['admin_password: *hunter2', 'alias'],
    ['admin_password: !hunter2 x', 'tag'],
    ['admin_password: "hunter2\\q"', 'escape'],
    ['admin_password: {a: hunter2}', 'a value that is not shown'],
    ['- admin_password: hunter2', 'a list'],
    ['hunter2', 'expected a mapping'],
  ])('a secret is not repeated in the error: %j', (text, line) => {
    const message = refusal({ CANDOR_CONFIG: file(text, 'secret.yaml') });
    expect(message).toContain(line);
    if (text !== 'hunter2') expect(message).not.toContain('hunter2');
  });

  test('a secret in the environment is not repeated in the error', () => {
    expect(refusal({ CANDOR_ADMIN_PASSWORD: 'short' })).toMatch(/^admin_password: got a value that is not shown/);
    expect(refusal({ CANDOR_ADMIN_PASSWROD: 'hunter2' })).not.toContain('hunter2');
  });
});

describe('the file in the data folder', () => {
  const stored = (text: string) => writeFileSync(join(folder, 'config.json'), text);
  const env = {
    get CANDOR_DATA_DIR() {
      return folder;
    },
  };

  test('is read only if CANDOR_CONFIG is not set', () => {
    stored('{"port": 9001, "alerts.window_ms": 5000}');
    expect(loadSettings(env).config).toMatchObject({ port: 9001, 'alerts.window_ms': 5000 });
    expect(loadSettings(env).sources.get('port')).toBe('file');
    expect(loadSettings({ ...env, CANDOR_PORT: '0' }).sources.get('port')).toBe('environment');
    expect(loadConfig({ ...env, CANDOR_CONFIG: file('', 'other.yaml') }).port).toBe(8080);
  });

  test('is named in errors together with the invalid setting, and cannot set data_dir', () => {
    stored('{"port": "many"}');
    expect(refusal(env)).toBe(
      `port: got "many" from ${join(folder, 'config.json')}, expected an integer from 0 to 65535`,
    );
    stored('{"data_dir": "/elsewhere"}');
    expect(refusal(env)).toMatch(/^data_dir: must not be set in /);
    stored('{');
    expect(refusal(env)).toMatch(/^settings file: .* \(".*config.json"\); expected /);
  });
});

test('a group whose settings are all commented out is ignored', () => {
  const path = file('alerts:\n  # window_ms: 5\nport: 9000\n');
  expect(loadConfig({ CANDOR_CONFIG: path })).toMatchObject({ port: 9000, 'alerts.window_ms': 3_600_000 });
});

test('every default is accepted by its reader, and matches its schema', () => {
  const ajv = new Ajv2020({ strict: true, formats: { network: true } });
  for (const [name, { default: value, schema, read }] of Object.entries(settings)) {
    expect(() => ajv.compile(schema), name).not.toThrow();
    if (value === undefined) continue;
    expect(ajv.validate(schema, value), name).toBe(true);
    expect(read(read(value)), name).toEqual(read(value));
  }
});

test('limits can be lowered, but not raised: the defaults are the maxima of the limits table', () => {
  const table = {
    'limits.max_body_bytes': limits.maxBodyBytes,
    'limits.max_json_body_bytes': limits.maxJsonBodyBytes,
    'limits.max_ingest_in_flight_bytes': limits.maxIngestInFlightBytes,
    'limits.max_queued_queries': limits.maxQueuedQueries,
    'limits.max_sockets': limits.maxSockets,
  } as const;
  for (const [name, limit] of Object.entries(table)) {
    expect(settings[name as keyof typeof table].default).toBe(limit);
    const variable = variableOf(name as SettingName);
    expect(refusal({ [variable]: String(limit + 1) })).toContain(name);
    expect(loadConfig({ [variable]: String(limit - 1) })).toMatchObject({ [name]: limit - 1 });
  }
});
