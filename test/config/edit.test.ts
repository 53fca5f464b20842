/** Parts of a file that users edit are kept when the service changes a setting in it. */
import { describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config-file.ts';
import { type Changes, editConfig } from '../../src/config/edit.ts';

function edited(text: string, changes: Record<string, unknown>, path = '/etc/candor.yaml'): string {
  const file = { path, named: true };
  const before = { ...parseConfig(file, text), identity: '', mode: 0o600 };
  return editConfig(file, before, new Map(Object.entries(changes)) as Changes);
}

const yaml = `# Candor of the branch office

# asked for by the network team
port: 9000 # not 8080
network:
  # offices
  home:
    - 10.0.0.0/8 # headquarters
    - 192.168.7.0/24 # branch
# alerts
alerts: {window_ms: 5000}
log.level: warn
`;

describe('YAML', () => {
  test('keeps comments and order when a value is changed', () => {
    expect(edited(yaml, { port: 9001, 'log.level': 'debug', 'alerts.window_ms': 6000 })).toBe(
      yaml.replace('9000', '9001').replace('warn', 'debug').replace('{window_ms: 5000}', '{ window_ms: 6000 }'),
    );
  });

  test('keeps the comments of remaining list items', () => {
    const text = edited(yaml, { 'network.home': ['10.0.0.0/8', 'fc00::/7'] });
    expect(text).toContain('  # offices\n  home:\n    - 10.0.0.0/8 # headquarters\n    - fc00::/7\n# alerts');
  });

  test('gets a new setting in its group, or at the end', () => {
    expect(edited(yaml, { 'keys.overlap_ms': 1 })).toMatch(/log\.level: warn\nkeys\.overlap_ms: 1\n$/);
    expect(edited('witness:\n  fail: open\n', { 'witness.wait_ms': 200 })).toBe(
      'witness:\n  fail: open\n  wait_ms: 200\n',
    );
    expect(edited('# nothing yet\n', { port: 1 })).toBe('# nothing yet\n\nport: 1\n');
    expect(edited('', { host: '::1' })).toBe('host: ::1\n');
    expect(edited('port: # any\n', { port: 0 })).toBe('port: 0 # any\n');
  });

  test('keeps the comments above a removed setting, and removes empty groups', () => {
    const text = edited(yaml, { port: undefined, 'network.home': undefined, 'alerts.window_ms': undefined });
    expect(text).toBe(
      '# Candor of the branch office\n\n# asked for by the network team\n# offices\n# alerts\nlog.level: warn\n',
    );
    expect(edited('# a\nport: 1\n# b\nhost: ::1\n', { host: undefined })).toBe('# a\nport: 1\n# b\n');
    const nothing = edited('# a\nport: 1\n', { port: undefined });
    expect(nothing).toBe('{}\n# a\n');
    expect(edited(nothing, { port: 1, 'log.level': 'warn' })).toBe('port: 1\nlog.level: warn\n\n# a\n');
  });

  test('keeps the notation of unchanged values', () => {
    const odd = '{  port:   0x2328,\n   "host" : \'::1\' }';
    expect(edited(odd, { port: 9000, host: '::1', 'log.level': undefined })).toBe(odd);
  });

  test('keeps line endings', () => {
    expect(edited('port: 1\r\nhost: a\r\n', { port: 2 })).toBe('port: 2\r\nhost: a\r\n');
  });
});

describe('JSON', () => {
  test('stays JSON, with its order and its indentation', () => {
    const text = '{\n\t"port": 9000,\n\t"alerts": {\n\t\t"window_ms": 5000\n\t},\n\t"host": "::1"\n}\n';
    expect(edited(text, { 'alerts.window_ms': 6000 })).toBe(text.replace('5000', '6000'));
    expect(edited(text, { 'alerts.window_ms': undefined, 'keys.overlap_ms': 1 })).toBe(
      '{\n\t"port": 9000,\n\t"host": "::1",\n\t"keys.overlap_ms": 1\n}\n',
    );
    expect(edited('{"port":9000}', { port: 1 })).toBe('{"port":1}\n');
  });

  test('is the format of a new file with the extension .json', () => {
    expect(edited('', { port: 1 }, '/etc/candor.json')).toBe('{\n  "port": 1\n}\n');
  });
});
