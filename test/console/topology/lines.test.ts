import { describe, expect, test } from 'vitest';
import { alertedEdges } from '../../../src/console/pages/topology/alerted.ts';
import { boxesOf, shownAs } from '../../../src/console/pages/topology/arrange.ts';
import {
  type Bundle,
  bundlesOf,
  linesOf,
  mostImportant,
  thickness,
} from '../../../src/console/pages/topology/lines.ts';
import type { Severity } from '../../../src/contract/vocabulary.ts';
import { edge, node } from './graph.ts';

test('edges to a closed network become one line with all bytes; edges within it are not drawn', () => {
  const nodes = ['203.0.113.1', '203.0.113.2'].map((ip) => node(ip, 'external'));
  const boxes = boxesOf([node('10.0.0.1', 'asset'), ...nodes], new Set());
  const edges = [
    edge('10.0.0.1', '203.0.113.1', 5),
    edge('10.0.0.1', '203.0.113.2', 7),
    edge('203.0.113.1', '203.0.113.2', 99),
    edge('203.0.113.2', '10.0.0.1', 1),
  ];
  expect(bundlesOf(edges, shownAs(boxes)).map(({ source, target, bytes }) => [source, target, bytes])).toEqual([
    ['10.0.0.1', '203.0.113.0/24', 12],
    ['203.0.113.0/24', '10.0.0.1', 1],
  ]);
});

test('lines connect networks; lines of hosts are shown for the selected host, or all on request', () => {
  const boxes = boxesOf(
    ['10.0.0.1', '10.0.0.2', '10.0.1.1', '10.0.1.2'].map((ip) => node(ip, 'asset')),
    new Set(),
  );
  const edges = [edge('10.0.0.1', '10.0.1.1', 5), edge('10.0.0.2', '10.0.1.2', 7), edge('10.0.0.1', '10.0.0.2', 1)];
  const ids = (selected: string | undefined, all: boolean) =>
    linesOf(edges, boxes, selected, all, new Map()).map(({ source, target, bytes }) => [source, target, bytes]);
  const networks = ['box 10.0.0.0/24', 'box 10.0.1.0/24', 12];
  expect(ids(undefined, false)).toEqual([networks]);
  expect(ids('10.0.0.1', false)).toEqual([networks, ['10.0.0.1', '10.0.1.1', 5], ['10.0.0.1', '10.0.0.2', 1]]);
  expect(ids(undefined, true)).toHaveLength(3);
});

test('lines get thicker with bytes, up to a limit', () => {
  const widths = [0, 1, 1e3, 1e6, 1e9, 1e12, Number.MAX_SAFE_INTEGER].map(thickness);
  expect(widths).toEqual(widths.toSorted((a, b) => a - b));
  expect(Math.max(...widths)).toBeLessThanOrEqual(7);
});

const told = ({ source, target, bytes, alerted }: Bundle) => [
  source,
  target,
  bytes,
  alerted && [alerted.count, alerted.severity],
];
const alertOn = (src_ip: string, dst_ip: string, severity: Severity) => ({ severity, src_ip, dst_ip });

test('an edge with alerts has a separate line between hosts, and the line between networks stays', () => {
  const nodes = ['10.0.0.1', '10.0.0.2', '10.0.1.1'].map((ip) => node(ip, 'asset'));
  const edges = [edge('10.0.0.1', '10.0.1.1', 5), edge('10.0.0.2', '10.0.1.1', 7)];
  const alerted = alertedEdges({ nodes, edges }, [
    alertOn('10.0.0.2', '10.0.1.1', 'medium'),
    alertOn('10.0.0.2', '10.0.1.1', 'high'),
  ]);
  expect(linesOf(edges, boxesOf(nodes, new Set()), undefined, false, alerted).map(told)).toEqual([
    ['box 10.0.0.0/24', '10.0.1.1', 12, undefined],
    ['10.0.0.2', '10.0.1.1', 7, [2, 'high']],
  ]);
});

describe('a line to a closed network has all bytes and the highest severity', () => {
  const outside = ['203.0.113.1', '203.0.113.2', '203.0.113.3'].map((ip) => node(ip, 'external'));
  const alerts = [alertOn('10.0.0.1', '203.0.113.2', 'critical'), alertOn('10.0.0.1', '203.0.113.1', 'medium')];
  test.each([
    ['from a host alone in its network', ['10.0.0.1'], []],
    ['from one of several hosts', ['10.0.0.1', '10.0.0.2'], [['box 10.0.0.0/24', '203.0.113.0/24', 24, undefined]]],
  ])('%s', (_, home, besides) => {
    const nodes = [...home.map((ip) => node(ip, 'asset')), ...outside];
    const edges = outside.map(({ id }, n) => edge('10.0.0.1', id, 7 + n));
    const alerted = alertedEdges({ nodes, edges }, alerts);
    const boxes = boxesOf(nodes, new Set());
    const line = ['10.0.0.1', '203.0.113.0/24', 24, [2, 'critical']];
    for (const selected of [undefined, '10.0.0.1'])
      expect(linesOf(edges, boxes, selected, false, alerted).map(told)).toEqual([...besides, line]);
    expect(linesOf(edges, boxes, undefined, true, alerted).map(told)).toEqual([line]);
  });
});

test('if there is no room for all lines, lines with alerts are drawn first, then lines with the most bytes', () => {
  const nodes = Array.from({ length: 9 }, (_, n) => node(`10.0.0.${n}`, 'asset'));
  const edges = nodes.slice(1).map(({ id }, n) => edge('10.0.0.0', id, 100 - n));
  const alerted = alertedEdges({ nodes, edges }, [alertOn('10.0.0.0', '10.0.0.8', 'medium')]);
  const lines = linesOf(edges, boxesOf(nodes, new Set()), undefined, true, alerted);
  expect(mostImportant(lines, 3).map(({ target }) => target)).toEqual(['10.0.0.8', '10.0.0.1', '10.0.0.2']);
  expect(mostImportant(lines, lines.length)).toEqual(lines);
});
