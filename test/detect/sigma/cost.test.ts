import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sigmaRules } from '../../../bench/sigma-rules.ts';
import { parseSigma } from '../../../src/detect/sigma/parse-document.ts';
import { compileRules } from '../../../src/detect/sigma/rule-set.ts';
import { limits } from '../../../src/limits.ts';
import { compiled, type Rule, ruleOf } from './rules.ts';

const maxCost = limits.maxRuleCost;
const rule = (search: unknown, more: Rule = {}): Rule =>
  ruleOf({ s: search, condition: 's' }, { logsource: { category: 'dns' }, ...more });
const costOf = (search: unknown): number => {
  const { costs, refused } = compiled([rule(search)], { maxCost: Number.MAX_SAFE_INTEGER });
  expect(refused).toEqual([]);
  return [...costs.values()][0]!;
};

describe('the cost of a rule', () => {
  it('is lowest for whole values, higher for parts and expressions, highest for expressions with many states', () => {
    const searches = [
      { query: 'www.example.org' },
      { 'query|contains': 'example' },
      { 'query|re': 'example[0-9]{1,3}' },
      { 'query|re': 'example([a-z]|[a-m0-9])*x[a-z0-9]{12}!' },
      { 'query|re': 'example([a-z]|[a-m0-9])*x[a-z0-9]{150}!' },
    ];
    const costs = searches.map(costOf);
    expect(costs).toEqual(costs.toSorted((a, b) => a - b));
    expect(costs[3]! / costs[2]!).toBeGreaterThan(10);
  });

  it.each([
    ['after a literal prefix', 'secret-prefix(a|b)*a(a|b){12}!', 'secret-prefix[0-9]{12}!', 10],
    [
      'next to a longer alternative with few states',
      `(${'x'.repeat(150)}|(a|b)*a(a|b){60})!`,
      `(${'x'.repeat(150)}|[a-b]{60})!`,
      2,
    ],
    ['after a prefix that fills the state cache', '^[a-c]{258}(a|b)*a(a|b){60}!', '^[a-c]{320}!', 8],
    ['if texts often match all but its last character', '^abc[ab]{200}(a|b)*a(a|b){20}!', '^abc[ab]{220}!', 4],
  ])('is higher for an expression with many states %s', (_, source, other, times) => {
    expect(costOf({ 'query|re': source })).toBeGreaterThan(times * costOf({ 'query|re': other }));
  });

  it('is higher if no literal selects the records that may match', () => {
    expect(costOf({ 'query|re': '[a-z]{9}' })).toBeGreaterThan(3 * costOf({ 'query|re': 'abcdefghi' }));
  });

  it.each([
    [{ proto: 'tcp' }, { 'query|re': '(a|b)*a(a|b){60}!' }],
    [{ transport: 'udp' }, { 'query|contains': 'R' }],
    [{ 'query|endswith': 'Dad' }, { 'service|contains': '$' }],
  ])('is lower with a literal that selects records, %o, than without: %o', (selective, other) => {
    expect(costOf({ ...selective, ...other })).toBeLessThan(costOf(other));
  });

  it('counts a search once, even if the condition names it repeatedly', () => {
    const often = { s: { query: 'a' }, condition: Array(100).fill('s').join(' or ') };
    const { costs } = compiled([ruleOf(often)], { maxCost });
    expect([...costs.values()]).toEqual([costOf({ query: 'a' })]);
  });

  it('is reproducible', () => {
    const search = { 'query|re': '(foo|ba[rz])+[a-z]{20,40}!' };
    expect(costOf(search)).toBe(costOf(search));
  });
});

describe('rules whose total cost exceeds the limit', () => {
  const costly = (n: number) =>
    rule({ 'query|re': `([a-z]|[a-m0-9])*${n}[a-z0-9]{60}[!_]` }, { title: `costly ${n}`, name: `n${n}` });
  const plain = rule({ query: 'x' }, { title: 'plain', name: 'plain' });

  it('are rejected one by one, with their cost and the remaining budget; cheaper rules still fit', () => {
    const { rules, refused } = compiled([...Array.from({ length: 50 }, (_, n) => costly(n)), plain], {
      maxCost,
    });
    expect(rules.length).toBeGreaterThan(1);
    expect(rules.length + refused.length).toBe(51);
    expect(rules.at(-1)!.title).toBe('plain');
    for (const { problems } of refused)
      expect(problems).toEqual([
        {
          line: expect.any(Number),
          field: 'detection',
          reason: expect.stringMatching(
            /^costs at least \d+ for a record of \S+; all rules together may cost 3000000, of which \d+ remain$/,
          ),
        },
      ]);
  });

  it('are rejected according to upper bounds when the time to measure their cost is used up', () => {
    const [document] = compiled([costly(98), plain]).rules.map((one) => one.document);
    const measureBudget = { of: new Set([document!]), ms: 0 };
    const { refused } = compileRules([document!], { maxCost, measureBudget });
    expect(refused.map(({ problems }) => problems[0]!.reason)).toEqual([expect.stringMatching(/^costs at least /)]);
    expect(compileRules([document!], { maxCost }).refused).toEqual([]);
  });

  it('do not affect rules for other kinds of record', () => {
    const conn = { logsource: { category: 'firewall' }, title: 'other' };
    const other = ruleOf({ s: { 'service|re': '([a-z]|[a-m0-9])*a[a-z0-9]{60}[!_]' }, condition: 's' }, conn);
    const { rules } = compiled([...Array.from({ length: 50 }, (_, n) => costly(n)), other], { maxCost });
    expect(rules.map(({ title }) => title)).toContain('other');
  });

  it('are rejected; so are filters, and correlations of one rule, that exceed the limit', () => {
    const filter = {
      title: 'filter',
      logsource: { category: 'dns' },
      filter: {
        rules: 'any',
        s: { 'query|re': Array.from({ length: 50 }, (_, n) => `([a-z]|[a-m0-9])*${n}[a-z0-9]{60}[!_]`) },
        condition: 's',
      },
    };
    const correlation = (n: number) => ({
      title: `c${n}`,
      name: `c${n}`,
      correlation: {
        ...{ type: 'event_count', rules: ['plain'], timespan: '1m' },
        ...{ 'group-by': ['src_ip'], condition: { gte: 2 } },
      },
    });
    const many = Array.from({ length: 20 }, (_, n) => correlation(n));
    const { rules, refused, correlations } = compiled([plain, filter, ...many], { maxCost: 10_000 });
    expect(rules.map(({ filters }) => filters)).toEqual([[]]);
    expect(refused.map(({ document }) => document.title)).toContain('filter');
    expect(correlations.length).toBe(9);
    expect(refused.length).toBe(12);
  });

  it('are never built-in rules, even next to thousands of ordinary rules', () => {
    const folder = join(import.meta.dirname, '../../../src/detect/rules');
    const shipped = globSync('*.yml', { cwd: folder }).map((file) => readFileSync(join(folder, file), 'utf8'));
    const documents = [...shipped, ...sigmaRules(4000)].flatMap((text) => parseSigma(text).documents);
    const placeholders = new Map([
      ['home_networks', ['10.0.0.0/8']],
      ['guarded_ports', [22]],
    ]);
    const { refused } = compileRules(documents, { maxCost, placeholders });
    expect(refused.map(({ document, problems }) => [document.title, problems[0]!.reason])).toEqual([]);
  });
});
