import { describe, expect, it } from 'vitest';
import { compiled, matches, type Rule, reasonsOf } from './rules.ts';

const dns = { category: 'dns' };
const tunnel: Rule = {
  title: 'Tunnel',
  name: 'tunnel',
  level: 'high',
  logsource: dns,
  detection: { s: { query: '*.evil.example' }, condition: 's' },
};
const txt: Rule = {
  title: 'Text',
  id: '545a5da6-f103-4919-a519-e9aec1026ee4',
  logsource: dns,
  detection: { s: { record_type: 'TXT' }, condition: 's' },
};
const filter = (rules: unknown, condition = 's', more: Rule = {}): Rule => ({
  title: 'Ours',
  logsource: dns,
  filter: { rules, s: { src_ip: '10.0.0.53' }, condition },
  ...more,
});

const record = { query: 'x.evil.example', qtype_name: 'TXT' };

it('a rule set lists rules in order, with their properties', () => {
  const set = compiled([txt, tunnel]);
  expect(matches(set, 'zeek.dns', record)).toEqual(['Text', 'Tunnel']);
  expect(set.rules.map(({ id, level }) => [id, level])).toEqual([
    ['545a5da6-f103-4919-a519-e9aec1026ee4', 'medium'],
    ['tunnel', 'high'],
  ]);
  expect([...set.kinds]).toEqual(['zeek.dns', 'suricata.dns', 'ecs.dns', 'candor.dns_event']);
  expect(matches(set, 'zeek.conn', record)).toEqual([]);
  expect(matches(set, 'constructor', record)).toEqual([]);
});

describe('filters', () => {
  it.each([
    ['named rules', filter(['tunnel']), ['Text']],
    ['rules by id', filter(['545a5da6-f103-4919-a519-e9aec1026ee4']), ['Tunnel']],
    ['any rule', filter('any'), []],
    ['any rule, if the filter has the form of pySigma', filter('any', 'not s'), []],
  ])('exclude records from %s', (_, one, left) => {
    const set = compiled([txt, tunnel, one]);
    expect(set.refused).toEqual([]);
    expect(matches(set, 'zeek.dns', { ...record, 'id.orig_h': '10.0.0.53' })).toEqual(left);
    expect(matches(set, 'zeek.dns', { ...record, 'id.orig_h': '10.0.0.54' })).toEqual(['Text', 'Tunnel']);
  });

  it.each([
    ['not a and not b', [true, false, false, false]],
    ['not a or not b', [true, true, true, false]],
    ['not (a or b)', [true, false, false, false]],
    ['not 1 of them', [true, false, false, false]],
    ['not a and b', [true, true, false, true]],
    ['not (not a) and b', [true, true, true, false]],
    ['a and not b', [true, false, true, true]],
    ['a or b', [true, false, false, false]],
    ['all of them', [true, true, true, false]],
  ])(
    'with the condition %s keep the expected records (of four: matching nothing, a, b, and both)',
    (condition, left) => {
      const own = { rules: 'any', a: { src_ip: '10.0.0.53' }, b: { dst_port: 53 }, condition };
      const set = compiled([tunnel, { title: 'Ours', logsource: dns, filter: own }]);
      expect(set.refused).toEqual([]);
      const records = [0, 1, 2, 3].map((n) => ({
        ...record,
        'id.orig_h': n & 1 ? '10.0.0.53' : '10.0.0.54',
        'id.resp_p': n & 2 ? 53 : 5353,
      }));
      expect(records.map((one) => matches(set, 'zeek.dns', one).length === 1)).toEqual(left);
    },
  );

  it('are listed with the rules', () => {
    expect(compiled([tunnel, filter(['tunnel'])]).rules[0]!.filters).toEqual(['Ours']);
  });

  it.each([
    ['that name no existing rule', filter(['other']), /does not name an existing rule/],
    [
      'of another log source than their rules',
      filter('any', 's', { logsource: { category: 'proxy' } }),
      /does not match any of its rules/,
    ],
  ])('%s are rejected', (_, one, reason) => {
    const set = compiled([tunnel, one]);
    expect(set.refused.map(({ problems }) => problems[0]!.reason)).toEqual([expect.stringMatching(reason)]);
    expect(set.rules.length).toBe(1);
  });

  it('of any rule are rejected for their log source, if there is no rule', () => {
    const [problem] = compiled([filter('any')]).refused.flatMap(({ problems }) => problems);
    expect(problem).toMatchObject({ field: 'logsource', reason: 'does not match any of its rules' });
  });
});

describe('a rule is rejected', () => {
  const rule = (logsource: unknown, search: unknown, condition = 's'): Rule => ({
    title: 'R',
    logsource,
    detection: { s: search, condition },
  });
  it.each([
    [
      'that uses a field that none of its records has',
      rule(dns, { Image: 'x' }),
      /needs 'Image', which records of zeek.dns/,
    ],
    ['that cannot match without a field that its records lack', rule(dns, { query: 'x', Image: 'y' }), /'Image'/],
    ['that would match all records without a field that they lack', rule(dns, { Image: 'y' }, 'not s'), /'Image'/],
    [
      'for hosts, with an exception that no sensor reports',
      {
        title: 'W',
        logsource: { product: 'windows', category: 'dns_query' },
        detection: { s: { QueryName: 'x' }, f: { Image: 'y' }, condition: 's and not f' },
      },
      /'Image'/,
    ],
    ['whose status is unsupported', { ...tunnel, status: 'unsupported' }, /cannot be used in its current state/],
    ['for records of no sensor', rule({ product: 'windows', category: 'process_creation' }, { a: 'b' }), /'windows'/],
  ])('%s', (_, one, reason) => {
    expect(reasonsOf(one)).toEqual([expect.stringMatching(reason)]);
  });

  it('that has the id of another rule', () => {
    const set = compiled([txt, { ...tunnel, id: txt.id }]);
    expect(set.rules.map(({ title }) => title)).toEqual(['Text']);
    expect(set.refused[0]!.problems).toMatchObject([{ field: 'id', reason: expect.stringMatching(/earlier rule/) }]);
  });
});

it('a missing field that only an exception uses is reported, and the rule runs', () => {
  const rule = {
    title: 'R',
    logsource: dns,
    detection: { s: { query: 'x' }, f: { Image: 'y' }, condition: 's and not f' },
  };
  const set = compiled([rule]);
  expect(set.rules[0]!.missingFields).toEqual(['Image']);
  expect(matches(set, 'zeek.dns', { query: 'X' })).toEqual(['R']);
});

it('rules for hosts run on sensor records that have all their fields', () => {
  const set = compiled([
    {
      title: 'W',
      logsource: { product: 'windows', category: 'dns_query' },
      detection: { s: { 'QueryName|endswith': '.evil.example' }, condition: 's' },
    },
  ]);
  expect(matches(set, 'suricata.dns', { dns: { rrname: 'a.evil.example' } })).toEqual(['W']);
});

describe('correlations', () => {
  const count = (more: Rule): Rule => ({
    title: 'Many',
    correlation: {
      type: 'event_count',
      rules: ['tunnel'],
      'group-by': ['src_ip'],
      timespan: '1m',
      condition: { gte: 10 },
      ...more,
    },
  });

  it('are fed by their rules, which do not raise alerts themselves unless configured', () => {
    const set = compiled([tunnel, txt, count({})]);
    expect(set.refused).toEqual([]);
    expect(set.correlations.map(({ key }) => key)).toEqual(['Many']);
    expect(set.rules.map(({ silent, feeds }) => [silent, feeds.length])).toEqual([
      [true, 1],
      [false, 0],
    ]);
    expect(compiled([tunnel, count({ generate: true })]).rules[0]!.silent).toBe(false);
    expect(set.reader('zeek.dns', set.rules[0]!.feeds[0]!.group[0]!)({ id: { orig_h: '10.0.0.1' } })).toBe('10.0.0.1');
  });

  it('are rejected if their rules are rejected, or if no record has their group-by fields', () => {
    const broken = { ...tunnel, logsource: { product: 'cisco' } };
    expect(compiled([broken, count({})]).refused.length).toBe(2);
    const set = compiled([tunnel, count({ 'group-by': ['Computer'] })]);
    expect(set.refused.map(({ problems }) => problems[0]!.reason)).toEqual([
      expect.stringMatching(/'Computer', which no record/),
    ]);
    expect(set.rules[0]!.silent).toBe(false);
  });
});
