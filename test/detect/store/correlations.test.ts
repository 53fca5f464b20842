import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDatabase, type RootDatabase } from '../../../src/database/lmdb.ts';
import { packCorrelations } from '../../../src/detect/packed-rules.ts';
import type { CorrelationInput } from '../../../src/detect/sigma/correlation/correlation-input.ts';
import { Correlator } from '../../../src/detect/sigma/correlation/correlator.ts';
import type { LinkedCorrelation } from '../../../src/detect/sigma/correlation/linked.ts';
import { parseSigma } from '../../../src/detect/sigma/parse-document.ts';
import { compileRules } from '../../../src/detect/sigma/rule-set.ts';
import { correlationFinding } from '../../../src/detect/sigma-finding.ts';
import { Correlations } from '../../../src/detect/store/correlations.ts';
import { limits } from '../../../src/limits.ts';
import { openTables, type Tables } from '../../../src/store/tables.ts';

const text = (timespan: string, gte: number) => `title: base
name: base
logsource: {category: dns}
detection: {selection: {query: x}, condition: selection}
---
title: counted
name: counted
correlation:
  type: event_count
  rules: [base]
  group-by: [src_ip]
  timespan: ${timespan}
  condition: {gte: ${gte}}
---
title: of those
name: of_those
correlation:
  type: value_count
  rules: [counted]
  group-by: [dst_ip]
  timespan: 10m
  condition: {field: src_ip, gte: 2}
  generate: true
`;
const linkedOf = (timespan = '1m', gte = 3): readonly LinkedCorrelation[] =>
  compileRules(parseSigma(text(timespan, gte)).documents).correlations;
const linked = linkedOf();
const byKey = new Map(linked.map((one) => [one.key, one]));

let dir: string;
let root: RootDatabase;
let tables: Tables;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'candor-correlations-'));
  root = openDatabase(join(dir, 'siem.mdb'));
  tables = openTables(root);
});
afterEach(async () => {
  await root.close();
  rmSync(dir, { recursive: true });
});

const at = Date.UTC(2026, 0, 1);
const input = (host: number, second: number): CorrelationInput => ({
  correlation: 'counted',
  rule: 'base',
  timestamp: at + second * 1000,
  group: [`10.0.0.${host}`],
  value: null,
  carried: ['192.0.2.1'],
  ends: { src_ip: `10.0.0.${host}` },
});

const event = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('commit' as const, 'undone' as const),
      inputs: fc.array(fc.tuple(fc.nat(3), fc.nat(200)), { minLength: 1, maxLength: 6 }),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom({ kind: 'crash' as const }, { kind: 'written' as const }) },
);

test('results do not depend on aborted transactions or interruptions', () => {
  expect(linked.map(({ key }) => key)).toEqual(['counted', 'of_those']);
  fc.assert(
    fc.property(fc.array(event, { maxLength: 30 }), (events) => {
      for (const table of [tables.rulesState, tables.correlationInputs]) table.clearSync();
      let correlations = new Correlations(tables);
      root.transactionSync(() => correlations.use(packCorrelations(linked)));
      const plain = new Correlator(linked);
      for (const one of events) {
        if (one.kind === 'crash') correlations = new Correlations(tables);
        else if (one.kind === 'written') root.transactionSync(() => correlations.write());
        else {
          const inputs = one.inputs.map(([host, second]) => input(host, second));
          if (one.kind === 'undone') {
            expect(() =>
              root.transactionSync(() => {
                correlations.take(inputs, at + 300_000);
                throw new Error('undone');
              }),
            ).toThrow('undone');
            correlations.forget();
          } else {
            const found = root.transactionSync(() => correlations.take(inputs, at + 300_000));
            const fired = plain.take(inputs, at + 300_000);
            expect(found.map(({ finding }) => finding)).toEqual(
              fired.map((one) => correlationFinding(byKey.get(one.correlation)!, one)),
            );
          }
        }
      }
    }),
    { numRuns: 100 },
  );
});

test('stored inputs are removed at the limit, without loss of findings', () => {
  const count = () => tables.correlationInputs.getKeysCount();
  let correlations = new Correlations(tables);
  root.transactionSync(() => correlations.use(packCorrelations(linked)));
  const take = (...inputs: CorrelationInput[]) =>
    root.transactionSync(() => correlations.take(inputs, at + 300_000)).map(({ finding }) => finding.rule_id);
  take(input(1, 0), input(1, 1));
  expect(count()).toBe(1);
  // Each of these hosts occurs once, so that the inputs reach the limit without findings.
  take(...Array.from({ length: limits.factsPerState }, (_, n) => input(10 + n, 1)));
  expect(count()).toBe(0);
  take(input(2, 0), input(2, 1));
  expect(count()).toBe(1);
  correlations = new Correlations(tables);
  expect(take(input(1, 2))).toEqual(['counted']);
  expect(take(input(2, 2))).toContain('counted');
});

test('unchanged correlations keep their state, and changed correlations start over', () => {
  const correlations = new Correlations(tables);
  const take = (...inputs: CorrelationInput[]) =>
    root.transactionSync(() => correlations.take(inputs, at + 300_000)).map(({ finding }) => finding.rule_id);
  root.transactionSync(() => correlations.use(packCorrelations(linked)));
  expect(take(input(1, 0), input(1, 1))).toEqual([]);
  root.transactionSync(() => correlations.use(packCorrelations(linkedOf())));
  expect(take(input(1, 2))).toEqual(['counted']);
  root.transactionSync(() => correlations.use(packCorrelations(linkedOf('1m', 4))));
  expect(take(input(1, 3), input(1, 4), input(1, 5))).toEqual([]);
  expect(take(input(1, 6))).toEqual(['counted']);
});

test('each late input is counted once', () => {
  let correlations = new Correlations(tables);
  const take = (...inputs: CorrelationInput[]) => root.transactionSync(() => correlations.take(inputs, at + 4_100_000));
  root.transactionSync(() => correlations.use(packCorrelations(linked)));
  take(input(1, 4000));
  take(input(1, 0));
  expect(correlations.limitsReached()).toEqual({ maxCorrelationDelay: 1 });
  correlations.forget();
  take(input(1, 1));
  expect(correlations.limitsReached()).toEqual({ maxCorrelationDelay: 2 });
  root.transactionSync(() => correlations.use(packCorrelations(linked)));
  expect(correlations.limitsReached()).toEqual({ maxCorrelationDelay: 2 });
  correlations = new Correlations(tables);
  take(input(1, 4001));
  expect(correlations.limitsReached()).toEqual({});
});

test('figures of ongoing episodes are updated at intervals, and after a crash', () => {
  let correlations = new Correlations(tables);
  const refreshed = () => {
    const all: unknown[] = [];
    const due = root.transactionSync(() => correlations.refresh((found) => void all.push(...found)));
    return [all, due];
  };
  const take = (...inputs: CorrelationInput[]) => root.transactionSync(() => correlations.take(inputs, at + 300_000));
  root.transactionSync(() => correlations.use(packCorrelations(linked)));
  expect(take(input(1, 0), input(1, 1), input(1, 2))).toHaveLength(1);
  expect(refreshed()).toEqual([[], undefined]);
  take(input(1, 3));
  const grown = { continues: 'grown', evidence: { matches: 4, value: 4 }, group: '["10.0.0.1"]' };
  expect(refreshed()).toMatchObject([[{ finding: grown }], undefined]);
  take(input(1, 4));
  expect(refreshed()).toEqual([[], expect.any(Number)]);
  correlations = new Correlations(tables);
  expect(refreshed()).toMatchObject([[{ finding: { evidence: { matches: 5, value: 5 } } }], undefined]);
});
