import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { benchmarkNames } from '../../bench/benchmarks.ts';
import { type Asked, aboutIn, number, page, section, sectionsOf } from '../../bench/page.ts';
import { median, quantile, rowOfRounds } from '../../bench/result.ts';

const ground = { date: '2026-01-02', machine: '2 × a processor', versions: 'Candor 1.0.0, Node 22.0.0' };
const asked: Asked[] = [
  { name: 'first', about: 'How quick is the first? It is asked twice.' },
  { name: 'second', about: 'How quick is the second?' },
  { name: 'peers', about: 'How quick are others?', onlyNamed: 'takes a day' },
];
const [first, second, peers] = asked as [Asked, Asked, Asked];
const names = asked.map(({ name }) => name);
const row = { question: 'Events a second', variant: 'all', value: 1234, unit: 'events/s' };

describe('the page', () => {
  test('replaces only the section of a benchmark that runs again', () => {
    const written = page(
      asked,
      new Map([
        ['second', section(second, [row], ground)],
        ['first', section(first, [row], ground)],
      ]),
      ground,
    );
    const sections = sectionsOf(written, names);
    expect([...sections.keys()]).toEqual(['first', 'second']);
    const later = { ...ground, date: '2026-02-03' };
    const again = page(asked, sections.set('first', section(first, [{ ...row, value: 5678 }], later)), later);
    expect(sectionsOf(again, names).get('second')).toBe(sectionsOf(written, names).get('second'));
    expect(sectionsOf(again, names).get('first')).toContain('| all | 5,678 |  | events/s |  |');
    expect(again.match(/^## first$/gm)).toHaveLength(1);
    expect(again).toContain('The latest run was on 2026-02-03');
  });

  test('describes each benchmark, and the machine', () => {
    const written = page(asked, new Map(), ground);
    expect(written).toContain('| [first](first.ts) | How quick is the first? |');
    expect(written).toContain('`peers` runs only when it is named: it takes a day.');
    expect(written).toContain('- machine: 2 × a processor\n- versions: Candor 1.0.0, Node 22.0.0\n');
    expect(written).not.toContain('- peers:');
  });

  test('names the versions of the peers that ran', () => {
    const note = '10–20; ClickHouse 25.5.2.1; in its process';
    const rows = [row, { ...row, note }, { ...row, note: 'DuckDB v1.5.6; in its process' }];
    const syslog = section(
      first,
      [
        { ...row, note: 'rsyslog 8.2302.0; TCP' },
        { ...row, note: 'syslog-ng 3.38.1' },
      ],
      ground,
    );
    const written = page(
      asked,
      new Map([
        ['peers', section(peers, rows, ground)],
        ['syslog', syslog],
      ]),
      ground,
    );
    expect(written).toContain('- peers: ClickHouse 25.5.2.1, DuckDB v1.5.6, rsyslog 8.2302.0, syslog-ng 3.38.1\n');
  });

  test('shows the spread of rounds, and escapes pipe characters in texts', () => {
    const rows = [rowOfRounds({ question: 'q', variant: 'a|b', unit: 'ms', note: 'n' }, [3, 1, 2.5])];
    expect(section(first, rows, ground)).toContain('| a\\|b | 2.50 | 1–3 | ms | n |');
  });

  test('formats numbers with three digits, or as integers', () => {
    expect([1234.5, 12_345, 999.4, 12.345, 0.012345, 7].map(number)).toEqual([
      '1,235',
      '12,345',
      '999',
      '12.3',
      '0.0123',
      '7',
    ]);
  });

  test("finds a question for each benchmark: the first sentence of the benchmark's file", () => {
    for (const name of benchmarkNames) {
      const about = aboutIn(readFileSync(new URL(`../../bench/${name}.ts`, import.meta.url), 'utf8'));
      expect(about, name).toMatch(/^[A-Z][^?]+\?/);
    }
  });
});

describe('result rows of repeated measurements', () => {
  test('have the median with the lowest and the highest value, or only the value for one round', () => {
    const of = { question: 'q', variant: 'v', unit: 'ms' };
    expect(rowOfRounds(of, [10.4, 2.2, 7.3], Math.round)).toEqual({ ...of, value: 7, low: 2, high: 10 });
    expect(rowOfRounds(of, [5])).toEqual({ ...of, value: 5 });
    expect(() => rowOfRounds(of, [])).toThrow('no round');
  });

  test('have quantiles by the nearest rank', () => {
    const hundred = Array.from({ length: 100 }, (_, n) => n + 1);
    expect([0, 0.5, 0.99, 1].map((share) => quantile(hundred, share))).toEqual([1, 50, 99, 100]);
    expect(quantile([1, 9], 0.99)).toBe(9);
    expect(quantile([], 0.5)).toBeNaN();
    expect([median([4, 1, 3]), median([4, 1, 3, 2]), median([])]).toEqual([3, 2.5, Number.NaN]);
  });
});
