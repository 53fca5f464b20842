import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { correlationLimits } from '../../../../src/detect/sigma/correlation/correlation-limits.ts';
import { parseCorrelation } from '../../../../src/detect/sigma/correlation/parse-correlation.ts';

const valid = {
  type: 'value_count',
  rules: ['a', 'bb'].map((name) => `rule_${name}`),
  'group-by': ['host'],
  timespan: '5m',
  condition: { field: 'user', gte: 3 },
};
const temporal = { ...valid, type: 'temporal', condition: undefined };
const ordered = { ...temporal, type: 'temporal_ordered' };
const count = { ...valid, type: 'event_count', condition: { gte: 3 } };
const parsed = (section: unknown) => parseCorrelation(section, (path) => 100 + path.length);

const shared = process.env.CANDOR_SHARED ?? join(import.meta.dirname, '../../../../../shared');
const spec = join(shared, 'data/sigma/spec');
const samples = join(spec, 'tests/schema/correlation');

describe.skipIf(!existsSync(samples))('the samples of the specification', () => {
  const expected: Record<string, object> = {
    event_count: { timespanMs: 3_600_000, groupBy: ['ComputerName'], threshold: { gte: 100 } },
    event_count_ecs: { timespanMs: 3_600_000, groupBy: ['dns.question.name'], threshold: { gte: 100 } },
    temporal: {
      timespanMs: 300_000,
      rules: ['recon_cmd_a', 'recon_cmd_b', 'recon_cmd_c'],
      threshold: undefined,
    },
    temporal_ordered: { timespanMs: 300_000, groupBy: ['ComputerName', 'User'], threshold: undefined },
    value_avg: { timespanMs: 86_400_000, valueFields: ['BytesOut'], threshold: { gt: 500 } },
    value_count: { timespanMs: 86_400_000, valueFields: ['User'], threshold: { gte: 100 } },
    value_percentile: { valueFields: ['Image'], percentile: undefined, threshold: { lte: 1 } },
    value_sum: { timespanMs: 3_600_000, valueFields: ['bytes_sent'], threshold: { gt: 1_000_000 } },
  };
  const read = (file: string) => readFileSync(join(samples, file), 'utf8');

  it('are all covered by this test', () => {
    expect(readdirSync(samples).sort()).toEqual(Object.keys(expected).map((name) => `${name}.yml`));
  });

  it.each(Object.keys(expected))('%s is parsed as specified', (name) => {
    const document = parse(read(`${name}.yml`));
    const type = name.replace('_ecs', '');
    expect(parsed(document.correlation)).toMatchObject({ type, generate: false, ...expected[name] });
  });

  it('match the schema, as does every section that the parser accepts, except text conditions', () => {
    const schema = JSON.parse(readFileSync(join(spec, 'json-schema/sigma-correlation-rules-schema.json'), 'utf8'));
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
    for (const file of readdirSync(samples)) expect(validate(parse(read(file)))).toBe(true);
    for (const key of ['type', 'rules', 'timespan', 'group-by', 'condition']) {
      for (const section of [valid, temporal, ordered, count]) {
        for (const value of [undefined, null, 7, 'x', [], ['x', 'x'], {}, [3]]) {
          const given = JSON.parse(JSON.stringify({ ...section, [key]: value }));
          if ('type' in parsed(given) && typeof given.condition !== 'string')
            expect(validate({ title: 't', correlation: given }), JSON.stringify(given)).toBe(true);
        }
      }
    }
  });
});

describe('a correlation is parsed', () => {
  it('with aliases, several fields as one value, and both bounds of a range', () => {
    const aliases = { peer: { rule_a: 'src_ip', rule_bb: 'dst_ip' } };
    const section = {
      ...valid,
      aliases,
      generate: true,
      condition: { field: ['user', 'host'], gt: 100, lte: 200 },
    };
    expect(parsed(section)).toEqual({
      type: 'value_count',
      rules: ['rule_a', 'rule_bb'],
      groupBy: ['host'],
      timespanMs: 300_000,
      threshold: { gt: 100, lte: 200 },
      valueFields: ['user', 'host'],
      percentile: undefined,
      condition: undefined,
      aliases: new Map([['peer', new Map(Object.entries(aliases.peer))]]),
      generate: true,
    });
  });

  it('with `generate` from the top level of the document, where the schema defines it', () => {
    expect(parseCorrelation(valid, () => 1, true)).toMatchObject({ generate: true });
  });

  it.each([
    { ...temporal, condition: 'rule_a AND NOT (rule_bb or rule_a)' },
    { ...temporal, condition: '1 of rule_*' },
    { ...ordered, condition: { gte: 2 } },
    { ...temporal, condition: { eq: 1 } },
    { ...count, 'group-by': [] },
    { ...count, condition: { neq: 2 } },
    { ...valid, type: 'value_avg', condition: { field: 'bytes', gt: 0.5, lt: 0.6 } },
    { ...valid, type: 'value_percentile', condition: { field: 'bytes', percentile: 99.9, gte: 1e9 } },
    { ...valid, type: 'value_sum', condition: { field: 'bytes', lt: 0 } },
  ])('%j', (section) => {
    expect(parsed(section)).toHaveProperty('type');
  });

  it.each([
    ['30s', 30_000],
    ['90m', 5_400_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
  ])('with the timespan %s', (timespan, timespanMs) => {
    expect(parsed({ ...valid, timespan })).toMatchObject({ timespanMs });
  });
});

describe('a correlation is rejected', () => {
  const many = Array.from({ length: correlationLimits.rules + 1 }, (_, i) => `rule_${i}`);
  it.each<[string, unknown]>([
    ['correlation', null],
    ['correlation', ['event_count']],
    ['correlation.type', { ...valid, type: 'value_median' }],
    ['correlation.type', { ...valid, type: undefined }],
    ['correlation.window', { ...valid, window: '5m' }],
    ['correlation.group_by', { ...valid, group_by: ['x'] }],
    ['correlation.rules', { ...valid, rules: undefined }],
    ['correlation.rules', { ...valid, rules: 'rule_a' }],
    ['correlation.rules', { ...valid, rules: [] }],
    ['correlation.rules', { ...valid, rules: many }],
    ['correlation.rules[1]', { ...valid, rules: ['rule_a', 'rule_a'] }],
    ['correlation.rules[0]', { ...valid, rules: ['x'] }],
    ['correlation.rules[0]', { ...valid, rules: [7] }],
    ['correlation.group-by', { ...valid, 'group-by': undefined }],
    ['correlation.group-by', { ...valid, 'group-by': 'host' }],
    ['correlation.group-by', { ...valid, 'group-by': many.slice(0, correlationLimits.fields + 1) }],
    ['correlation.group-by[1]', { ...valid, 'group-by': ['host', 'host'] }],
    ...[undefined, 60, '0s', '5', 'm', '5M', '1y', '2w', '5 m', '-5m', '91d', '9999999999s'].map(
      (timespan): [string, unknown] => ['correlation.timespan', { ...valid, timespan }],
    ),
    ['correlation.aliases', { ...valid, aliases: ['a'] }],
    ['correlation.aliases.peer', { ...valid, aliases: { peer: 'src_ip' } }],
    ['correlation.aliases.peer.rule_a', { ...valid, aliases: { peer: { rule_a: 7 } } }],
    ['correlation.generate', { ...valid, generate: 'yes' }],
    ['correlation.condition', { ...count, condition: undefined }],
    ['correlation.condition', { ...count, condition: 'rule_a and rule_bb' }],
    ['correlation.condition', { ...count, condition: {} }],
    ['correlation.condition', { ...count, condition: { lt: 1 } }],
    ['correlation.condition', { ...count, condition: { eq: 0 } }],
    ['correlation.condition', { ...count, condition: { gt: 5, lt: 6 } }],
    ['correlation.condition', { ...temporal, condition: { gte: 3 } }],
    ['correlation.condition', { ...temporal, condition: 'rule_a and (rule_bb' }],
    ['correlation.condition', { ...temporal, condition: '' }],
    ['correlation.condition', { ...ordered, condition: { lte: 1 } }],
    ['correlation.condition', { ...valid, type: 'value_percentile', condition: { field: 'x', gt: 100 } }],
    ['correlation.condition.gte', { ...count, condition: { gte: '3' } }],
    ['correlation.condition.gte', { ...count, condition: { gte: 2.5 } }],
    ['correlation.condition.gte', { ...valid, condition: { field: 'x', gte: correlationLimits.distinct + 1 } }],
    ['correlation.condition.gt', { ...valid, type: 'value_avg', condition: { field: 'x', gt: Infinity } }],
    ['correlation.condition.get', { ...count, condition: { get: 3 } }],
    ['correlation.condition.field', { ...count, condition: { gte: 3, field: 'x' } }],
    ['correlation.condition.field', { ...valid, condition: { gte: 3 } }],
    ['correlation.condition.field', { ...valid, condition: { gte: 3, field: [] } }],
    ['correlation.condition.field[1]', { ...valid, condition: { gte: 3, field: ['x', 'x'] } }],
    ['correlation.condition.percentile', { ...valid, condition: { field: 'x', gte: 3, percentile: 50 } }],
    [
      'correlation.condition.percentile',
      { ...valid, type: 'value_percentile', condition: { field: 'x', gte: 3, percentile: 101 } },
    ],
  ])('for its %s: %j', (field, section) => {
    const problems = parsed(section);
    const line = 100 + field.split(/[.[]/).length - 1;
    expect(problems).toEqual([{ line, field, reason: expect.stringMatching(/\w/) }]);
  });

  it('with all its errors reported together', () => {
    expect(parsed({ type: 'x', rules: 7, timespan: 7 })).toHaveLength(4);
  });

  it('for names of built-in object properties only if any other unknown name would be rejected too', () => {
    const section = JSON.parse('{"__proto__": 1, "constructor": 2}');
    expect(parsed({ ...valid, aliases: JSON.parse('{"__proto__": {"constructor": "x"}}') })).toMatchObject({
      aliases: new Map([['__proto__', new Map([['constructor', 'x']])]]),
    });
    expect(parsed({ ...valid, condition: { field: 'x', toString: 3 } })).toHaveLength(1);
    expect(parsed(section)).not.toHaveProperty('type');
  });
});
