import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { loadSettings } from '../../src/config/load.ts';
import { type SettingName, settingOf } from '../../src/config/settings.ts';
import { openStoredSettings } from '../../src/config/stored-settings.ts';
import { ServiceError } from '../../src/errors.ts';
import { storable, subset } from './given-values.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'candor-settings-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

type Values = Partial<Record<SettingName, unknown>>;

/** Returns `{a: {b: 1}}` for `{"a.b": 1}`. */
function nested(values: Values): Record<string, unknown> {
  const root: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    const keys = name.split('.');
    const last = keys.pop()!;
    let at = root;
    for (const key of keys) {
      at[key] ??= {};
      at = at[key] as Record<string, unknown>;
    }
    at[last] = value;
  }
  return root;
}

/** Functions, by form of the file, that write the initial file and return its path and the environment. */
const forms: Readonly<Record<string, (values: Values) => { env: Record<string, string>; path: string }>> = {
  'config.json in the data folder': (values) => {
    const path = join(folder, 'config.json');
    writeFileSync(path, JSON.stringify(values, null, 2));
    return { env: { CANDOR_DATA_DIR: folder }, path };
  },
  'a JSON file, nested': (values) => named('nested.json', JSON.stringify(nested(values))),
  'a YAML file, nested': (values) => named('nested.yaml', `# top\n${stringify(nested(values))}# end\n`),
  'a YAML file, dotted': (values) =>
    named(
      'dotted.yaml',
      Object.entries(values)
        .map(([name, value]) => `# about ${name}\n${stringify({ [name]: value })}`)
        .join('\n'),
    ),
  'an empty YAML file': () => named('empty.yaml', '# nothing yet\n'),
};

function named(name: string, text: string) {
  const path = join(folder, name);
  writeFileSync(path, text);
  return { env: { CANDOR_DATA_DIR: folder, CANDOR_CONFIG: path }, path };
}

const withoutNulls = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));

describe.each(Object.entries(forms))('%s', (_, write) => {
  test('a start uses any subset of valid values that was stored', async () => {
    await fc.assert(
      fc.asyncProperty(subset, fc.array(subset, { minLength: 1, maxLength: 3 }), async (first, changes) => {
        const initial = withoutNulls(first);
        const { env, path } = write(initial);
        let loaded: ReturnType<typeof loadSettings>;
        try {
          loaded = loadSettings(env);
        } catch {
          return fc.pre(false);
        }
        const stored = openStoredSettings(env, loaded);
        for (const values of changes) {
          const before = readFileSync(path, 'utf8');
          const wanted: Record<string, unknown> = { ...loadSettings(env).config };
          for (const [name, value] of Object.entries(values)) {
            const { default: byDefault, read } = settingOf(name as SettingName);
            wanted[name] = value === null ? byDefault : read(value);
          }
          try {
            const { pending, restart_required } = await stored.change(values);
            expect(restart_required).toBe(Object.keys(pending).length > 0);
            for (const [name, value] of Object.entries(pending)) expect(value ?? undefined).toEqual(wanted[name]);
          } catch (error) {
            // The change violates a rule between settings, so nothing is stored.
            expect((error as ServiceError).details?.field).toMatch(/^settings\./);
            expect(readFileSync(path, 'utf8')).toBe(before);
            continue;
          }
          expect(loadSettings(env).config).toEqual(wanted);
        }
      }),
      { numRuns: 30 },
    );
  });
});

test('any JSON body is accepted or rejected with a field, and a start accepts every stored value', async () => {
  const { env } = forms['config.json in the data folder']!({});
  const stored = openStoredSettings(env, loadSettings(env));
  const name = fc.oneof(fc.constantFrom<string>(...storable, 'alerts', 'data_dir', '__proto__', ''), fc.string());
  const body = fc.dictionary(name, fc.oneof(fc.jsonValue(), fc.dictionary(name, fc.jsonValue())), {
    maxKeys: 5,
  });
  await fc.assert(
    fc.asyncProperty(body, async (values) => {
      try {
        await stored.change(JSON.parse(JSON.stringify(values)));
      } catch (error) {
        expect(error).toBeInstanceOf(ServiceError);
        expect((error as ServiceError).code).toBe('INVALID_REQUEST');
        expect((error as ServiceError).details?.field).toMatch(/^settings\./);
      }
      loadSettings(env);
    }),
    { numRuns: 150 },
  );
});

test('a change is stored, or rejected with the file unchanged, for any content of the file', async () => {
  const line = fc.constantFrom(
    ...['port: 9000', 'port: 1e400', 'port: !!int "7"', '"port": &a 0x1F', 'port: |\n  9', '? port\n: 5', 'port:'],
    ...['alerts:', '  window_ms: 5000 # c', '  window_ms: >-\n    5', 'alerts: {}', 'alerts: {window_ms: 6e3}'],
    ...['alerts.window_ms: 5000', 'alerts: !!map {window_ms: 5000}', 'alerts: []', 'network: {home: [::1]}', '# c'],
    ...['network:', '  home:', '  # d', '  - 10.0.0.0/8', '    - fc00::/7 # e', '...', '---', '', '{', '}', '\t'],
    ...['log.level: 2001-01-01', 'log: !!timestamp 2001-01-01', 'log: {level: "warn"}', '{"port": 1e400}', '\ufeff'],
  );
  const text = fc.array(line, { maxLength: 7 }).map((lines) => lines.join('\n'));
  const { env, path } = forms['an empty YAML file']!({});
  const stored = openStoredSettings(env, loadSettings(env));
  await fc.assert(
    fc.asyncProperty(text, subset, async (before, values) => {
      writeFileSync(path, before);
      try {
        const { problem } = await stored.change(values);
        if (readFileSync(path, 'utf8') !== before) expect(problem).toBeUndefined();
      } catch (error) {
        expect((error as ServiceError).code, String(error)).toMatch(/^(CONFLICT|INVALID_REQUEST)$/);
        expect(readFileSync(path, 'utf8')).toBe(before);
      }
    }),
    { numRuns: 100 },
  );
});

test('concurrent changes are all stored', async () => {
  const { env } = forms['a YAML file, nested']!({});
  const stored = openStoredSettings(env, loadSettings(env));
  await Promise.all([
    stored.change({ port: 9000 }),
    stored.change({ 'log.level': 'warn' }),
    stored.change({ alerts: { window_ms: 5000 } }),
    stored.change({ port: 70_000 }).catch(() => undefined),
    stored.change({ 'keys.overlap_ms': 1 }),
  ]);
  expect(loadSettings(env).config).toMatchObject({
    port: 9000,
    'log.level': 'warn',
    'alerts.window_ms': 5000,
    'keys.overlap_ms': 1,
  });
});

test('the callback of a change is called only if the file was written', async () => {
  const path = join(folder, 'told.yaml');
  writeFileSync(path, 'port: 9000\n');
  const env = { CANDOR_DATA_DIR: folder, CANDOR_CONFIG: path };
  const stored = openStoredSettings(env, loadSettings(env));
  const written: unknown[] = [];
  for (const values of [{}, { port: 9000 }, { port: 9001 }, { port: 9001, 'log.level': null }])
    await stored.change(values, () => written.push(values));
  expect(written).toEqual([{ port: 9001 }]);
});
