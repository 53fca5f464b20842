import { describe, expect, test } from 'vitest';
import { settingNames, settingOf } from '../../../src/config/settings.ts';
import {
  draftOf,
  groupOf,
  inputOf,
  inWords,
  matching,
  rangeOf,
  readDraft,
  type SettingSchema,
  settingsOf,
  shown,
} from '../../../src/console/pages/administration/configuration/settings.ts';

const withDefaults = settingNames.flatMap((name) => {
  const { schema, default: value } = settingOf(name);
  return value === undefined ? [] : [[name, schema as SettingSchema, value] as const];
});

test.each(withDefaults)('the default of %s survives the round trip through its input', (name, schema, value) => {
  const input = inputOf(schema);
  const read = readDraft(input, draftOf(input, value));
  expect(read).toEqual({ value });
  expect(() => settingOf(name).read('value' in read ? read.value : undefined)).not.toThrow();
  expect(rangeOf(name, schema)).not.toBe('');
});

describe('typed values', () => {
  test('are integers with or without grouped digits; other text is rejected', () => {
    expect(readDraft('integer', ' 7,776,000_000 ')).toEqual({ value: 7_776_000_000 });
    expect(readDraft('integer', '-1')).toEqual({ value: -1 });
    expect(readDraft('integer', '1.5')).toHaveProperty('fault');
    expect(readDraft('integer', '')).toHaveProperty('fault');
  });

  test('form lists with one value per line; blank lines are ignored', () => {
    expect(readDraft('list', ' 10.0.0.0/8\n\nfc00::/7 \n')).toEqual({ value: ['10.0.0.0/8', 'fc00::/7'] });
    expect(readDraft('list', '')).toEqual({ value: [] });
  });

  test('are JSON for objects; invalid JSON is reported', () => {
    expect(readDraft('json', '{"admin_hosts":["10.0.0.1"]}')).toEqual({
      value: { admin_hosts: ['10.0.0.1'] },
    });
    expect(readDraft('json', '{')).toEqual({ fault: expect.stringContaining('Invalid JSON') });
  });
});

test('the settings page formats values in readable units', () => {
  expect(inWords('retention.max_age_ms', 7_776_000_000)).toBe('90 d');
  expect(inWords('limits.max_body_bytes', 2 ** 24)).toBe('16 MiB');
  expect(inWords('retention.max_bytes', 0)).toBeUndefined();
  expect(inWords('port', 8080)).toBeUndefined();
  expect([shown(8080), shown(7_776_000_000), shown(undefined), shown(null), shown([]), shown({})]).toEqual([
    '8080',
    '7,776,000,000',
    'absent',
    'absent',
    'none',
    'none',
  ]);
});

test('settings have a pending value and a group, and are found by words of their name and description', () => {
  const described = (name: string) => ({
    name,
    variable: `CANDOR_${name.toUpperCase()}`,
    description: 'what it is for',
    schema: { type: 'string' },
    source: 'file' as const,
    secret: false,
  });
  const [a, b, c] = settingsOf({
    active: { a: 'x', 'g.b': 'y' },
    pending: { a: 'z', 'g.b': null },
    restart_required: true,
    settings: [described('a'), described('g.b'), described('c')],
  });
  expect([a?.pending, b?.pending, c?.pending]).toEqual(['z', null, undefined]);
  expect([a && groupOf(a), b && groupOf(b)]).toEqual(['', 'g']);
  expect(matching([a!, b!, c!], 'candor_g WHAT').map(({ name }) => name)).toEqual(['g.b']);
});
