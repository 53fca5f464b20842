import { describe, expect, test } from 'vitest';
import { packRules } from '../../src/detect/packed-rules.ts';
import type { SigmaDocument } from '../../src/detect/sigma/document.ts';
import { parseSigma } from '../../src/detect/sigma/parse-document.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import { limits } from '../../src/limits.ts';
import { type RuleTest, type TestQuery, testRules } from '../../src/rules/rule-test.ts';
import { openReader } from '../../src/store/reader.ts';
import { batchOf, opened, start } from '../store/opened.ts';
import { networkRecord } from '../store/records.ts';

const base = `title: Port 4444
name: port
logsource: {category: firewall}
detection: {selection: {dst_port: 4444}, condition: selection}
`;
const correlation = `title: Many of them
name: many
correlation:
  type: event_count
  rules: [port]
  group-by: [src_ip]
  timespan: 1m
  condition: {gte: 5}
`;

const packed = (documents: readonly SigmaDocument[], placeholders = new Map<string, readonly string[]>()) =>
  packRules({ documents, placeholders });

async function withEvents(count: number) {
  const { store, reader, dataDir } = opened();
  const builder = new BlockBuilder('network', start);
  for (let n = 0; n < count; n++)
    builder.add(networkRecord({ timestamp: start + n * 1000, src_ip: '10.0.0.1', dst_port: n % 2 === 0 ? 4444 : 443 }));
  await store.commit(batchOf([], { blocks: [builder.finish()] }));
  const ask = (query: Partial<TestQuery>, cancelled?: () => boolean, clock = () => 0): RuleTest => {
    const its = cancelled === undefined ? reader : openReader(dataDir, cancelled);
    try {
      const all = { source: base, documents: packed([]), from: 0, to: start * 2, now: start * 2 };
      return testRules(its, { ...all, ...query }, undefined, clock);
    } finally {
      if (its !== reader) its.close();
    }
  };
  return { ask, reader };
}

const whole = (result: RuleTest) => {
  if (!('lookedAt' in result)) throw new Error(JSON.stringify(result.problems));
  return result;
};

test('a rule test returns the newest matches, and the number of all matches', async () => {
  const { ask, reader } = await withEvents(500);
  const result = whole(ask({}));
  expect(result).toMatchObject({ lookedAt: 500, matched: 250, cutShort: undefined, answerable: true });
  expect(result.matches).toHaveLength(limits.maxRuleTestMatches);
  expect(result.matches.map(({ timestamp }) => timestamp)).toEqual(
    Array.from({ length: limits.maxRuleTestMatches }, (_, n) => start + (498 - 2 * n) * 1000),
  );
  const [id] = result.matches[0]!.event_ids;
  expect(reader.getEvent('network', id!)).toMatchObject({ dst_port: 4444 });
});

test('a rule test evaluates the requested time range only', async () => {
  const { ask } = await withEvents(100);
  expect(whole(ask({ from: start + 10_000, to: start + 20_000 }))).toMatchObject({
    lookedAt: 10,
    matched: 5,
  });
  expect(whole(ask({ from: start + 100_000 }))).toMatchObject({ lookedAt: 0, matched: 0, matches: [] });
});

test('a rule test evaluates installed rules that a correlation names, but returns no matches of them', async () => {
  const { ask } = await withEvents(20);
  const { documents } = parseSigma(base);
  const result = whole(ask({ source: correlation, documents: packed(documents) }));
  expect(result.matches.at(-1)).toMatchObject({ rule_id: 'many', title: 'Many of them', src_ip: '10.0.0.1' });
  expect(result.matches.at(-1)!.event_ids).toHaveLength(limits.maxCorrelationSamples);
  expect(new Set(result.matches.map(({ rule_id }) => rule_id))).toEqual(new Set(['many']));
  expect(ask({ source: correlation })).toMatchObject({
    problems: [{ line: 5, field: 'correlation.rules[0]' }],
  });
  expect(whole(ask({ source: `${base}---\n${correlation}` })).matched).toBe(result.matched);
});

describe('a rule test with too much work', () => {
  /** Returns a clock that advances by `ms` whenever it is read. */
  const every = (ms: number) => {
    let now = 0;
    return () => (now += ms);
  };

  test('returns the matches so far, in the newest events', async () => {
    const { ask } = await withEvents(2000);
    const result = whole(ask({}, undefined, every(limits.ruleTestMs / 12)));
    expect(result.cutShort).toBe('time');
    expect(result.matches[0]!.timestamp).toBe(start + 1998_000);
    expect(result.lookedAt).toBeGreaterThan(100);
    expect(result.lookedAt).toBeLessThan(250);
    expect(result.matched).toBe(result.lookedAt >> 1);
  });

  test('evaluates at least one event, even if compiling the rules took long', async () => {
    const { ask } = await withEvents(100);
    expect(whole(ask({}, undefined, every(10 * limits.ruleTestMs)))).toMatchObject({
      lookedAt: 1,
      cutShort: 'time',
    });
  });

  test('leaves time for correlations', async () => {
    const { ask } = await withEvents(4000);
    const source = `${base}---\n${correlation}`;
    const result = whole(ask({ source }, undefined, every(limits.ruleTestMs / 100)));
    expect(result.cutShort).toBe('time');
    expect(result.matches.map(({ rule_id }) => rule_id)).toContain('many');
  });

  test('rejects rules that cost too much to be installed', async () => {
    const { ask } = await withEvents(1);
    const regexes = Array.from({ length: 30 }, (_, n) => `'([a-z]|[a-m0-9])*${n}[a-z0-9]{150}[!_]'`);
    const source = base.replace('dst_port: 4444', `service|re: [${regexes.join(', ')}]`);
    expect(ask({ source })).toMatchObject({
      problems: [{ line: 4, field: 'detection', reason: expect.stringMatching(/^costs at least /) }],
    });
  });
});

test('a rule test ends between two events when its caller disconnects', async () => {
  const { reader } = await withEvents(2000);
  let asked = 0;
  const query = { source: base, documents: packed([]), from: 0, to: start * 2, now: start * 2 };
  expect(() =>
    testRules(
      reader,
      query,
      () => ++asked > 3,
      () => 0,
    ),
  ).toThrow(expect.objectContaining({ code: 'CANCELLED' }));
  expect(asked).toBe(4);
});

test('a rule test is cancelled if its caller has already disconnected', async () => {
  const { ask } = await withEvents(10);
  expect(() => ask({}, () => true)).toThrow(expect.objectContaining({ code: 'CANCELLED' }));
});

describe('installed filters', () => {
  const ofPort = (more: string) => `title: Our own scanner
id: 5f0ad0fb-6a0c-4f2e-8a34-0b3d9c1f7a10
logsource: {category: firewall}
filter: {rules: ${more}, scanner: {src_ip: 10.0.0.1}, condition: scanner}
`;
  const inEffect = (...texts: readonly string[]) => packed(texts.flatMap((text) => parseSigma(text).documents));

  test('exclude matches from the tested rules, both filters of one rule and filters of all rules', async () => {
    const { ask } = await withEvents(100);
    for (const rules of ['[port]', 'any']) expect(whole(ask({ documents: inEffect(ofPort(rules)) })).matched).toBe(0);
    expect(whole(ask({ documents: inEffect(ofPort('[another]')) })).matched).toBe(50);
  });

  test('exclude matches from the rules that a tested correlation names', async () => {
    const { ask } = await withEvents(20);
    const tried = { source: correlation, documents: inEffect(base, ofPort('[port]')) };
    expect(whole(ask(tried)).matched).toBe(0);
  });

  test('are replaced by a tested filter with the id of an installed filter', async () => {
    const { ask } = await withEvents(100);
    const narrower = ofPort('[port]').replace('10.0.0.1', '10.0.0.2');
    expect(whole(ask({ source: `${base}---\n${narrower}`, documents: inEffect(ofPort('[port]')) })).matched).toBe(50);
  });
});

describe('a rule test names the records that it could not evaluate', () => {
  const rule = (logsource: string, selection: string) =>
    `title: x\nlogsource: {${logsource}}\ndetection: {selection: {${selection}}, condition: selection}\n`;

  test.each([
    ['category: firewall', 'dst_port: 4444', []],
    ['product: zeek, service: conn', 'id.resp_p: 4444', []],
    ['category: dns', 'query: x', []],
    ['product: zeek, service: ssl', 'server_name: x', ['ecs.tls', 'zeek.ssl']],
    ['category: proxy', 'cs-host: x', ['ecs.http', 'suricata.http', 'zeek.http']],
    ['product: suricata, service: flow', 'flow.reason: x', ['suricata.flow']],
    ['product: zeek, service: conn', 'tunnel_parents: x', ['zeek.conn', 'zeek.conn_long', 'zeek.open_conn']],
  ])('for the log source %s and the selection %s', async (logsource, selection, notStored) => {
    const { ask } = await withEvents(1);
    const result = whole(ask({ source: rule(logsource, selection) }));
    expect(result.notStored).toEqual(notStored);
    expect(result.answerable).toBe(notStored.length === 0);
  });

  test('including records for the rules that a tested correlation names', async () => {
    const { ask } = await withEvents(1);
    const ssh = `title: y\nname: port\nlogsource: {product: zeek, service: ssh}\ndetection: {s: {auth_success: false}, condition: s}\n`;
    const { documents } = parseSigma(ssh);
    const source = correlation.replace('[src_ip]', '[id.orig_h]');
    expect(whole(ask({ source, documents: packed(documents) }))).toMatchObject({
      answerable: false,
      notStored: ['zeek.ssh'],
    });
  });
});

test('placeholders have their installed values, and an unknown placeholder is rejected by name', async () => {
  const { ask } = await withEvents(50);
  const of = (name: string) => `title: From a host of a list
logsource: {category: firewall}
detection: {selection: {src_ip|expand|cidr: '%${name}%'}, condition: selection}
`;
  const inEffect = (...networks: string[]) => packed([], new Map([['home_networks', networks]]));
  const source = of('home_networks');
  expect(whole(ask({ source, documents: inEffect('10.0.0.0/8') })).matched).toBe(50);
  expect(whole(ask({ source, documents: inEffect('203.0.113.0/24') })).matched).toBe(0);
  expect(ask({ source: of('admins'), documents: inEffect('10.0.0.0/8') })).toMatchObject({
    problems: [{ line: 3, reason: "has the placeholder '%admins%', which is not defined" }],
  });
});
