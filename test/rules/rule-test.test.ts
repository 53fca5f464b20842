import { expect, test } from 'vitest';
import { packDocuments } from '../../src/detect/packed-rules.ts';
import { parseSigma } from '../../src/detect/sigma/parse-document.ts';
import { BlockBuilder } from '../../src/events/block-builder.ts';
import { limits } from '../../src/limits.ts';
import { type RuleTest, type TestQuery, testRules } from '../../src/rules/rule-test.ts';
import { openReader } from '../../src/store/lmdb/reader.ts';
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

async function withEvents(count: number) {
  const { store, reader, dataDir } = opened();
  const builder = new BlockBuilder('network', start);
  for (let n = 0; n < count; n++)
    builder.add(
      networkRecord({ timestamp: start + n * 1000, src_ip: '10.0.0.1', dst_port: n % 2 === 0 ? 4444 : 443 }),
    );
  await store.commit(batchOf([], { blocks: [builder.finish()] }));
  const ask = (query: Partial<TestQuery>, cancelled?: () => boolean): RuleTest => {
    const its = cancelled === undefined ? reader : openReader(dataDir, cancelled);
    try {
      const all = { source: base, documents: packDocuments([]), from: 0, to: start * 2, now: start * 2 };
      return testRules(its, { ...all, ...query });
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

test('tells the newest of what is found, and how much there is', async () => {
  const { ask, reader } = await withEvents(500);
  const result = whole(ask({}));
  expect(result).toMatchObject({ lookedAt: 500, matched: 250, cutShort: false, answerable: true });
  expect(result.matches).toHaveLength(limits.maxRuleTestMatches);
  expect(result.matches.map(({ timestamp }) => timestamp)).toEqual(
    Array.from({ length: limits.maxRuleTestMatches }, (_, n) => start + (498 - 2 * n) * 1000),
  );
  const [id] = result.matches[0]!.event_ids;
  expect(reader.getEvent('network', id!)).toMatchObject({ dst_port: 4444 });
});

test('looks at the time that was asked for only', async () => {
  const { ask } = await withEvents(100);
  expect(whole(ask({ from: start + 10_000, to: start + 20_000 }))).toMatchObject({
    lookedAt: 10,
    matched: 5,
  });
  expect(whole(ask({ from: start + 100_000 }))).toMatchObject({ lookedAt: 0, matched: 0, matches: [] });
});

test('tries a correlation with the rules in effect that it names, which are not told of', async () => {
  const { ask } = await withEvents(20);
  const { documents } = parseSigma(base);
  const result = whole(ask({ source: correlation, documents: packDocuments(documents) }));
  expect(result.matches.at(-1)).toMatchObject({ rule_id: 'many', title: 'Many of them', src_ip: '10.0.0.1' });
  expect(result.matches.at(-1)!.event_ids).toHaveLength(5);
  expect(new Set(result.matches.map(({ rule_id }) => rule_id))).toEqual(new Set(['many']));
  expect(ask({ source: correlation })).toMatchObject({ problems: [{ line: 1, field: 'correlation.rules' }] });
  expect(whole(ask({ source: `${base}---\n${correlation}` })).matched).toBe(result.matched);
});

test('ends when nobody waits any more', async () => {
  const { ask } = await withEvents(10);
  expect(() => ask({}, () => true)).toThrow(expect.objectContaining({ code: 'CANCELLED' }));
});
