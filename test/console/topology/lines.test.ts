import { expect, test } from 'vitest';
import { alertedEdges } from '../../../src/console/pages/topology/alerted.ts';
import { boxesOf, shownAs } from '../../../src/console/pages/topology/arrange.ts';
import { bundlesOf, linesOf, thickness } from '../../../src/console/pages/topology/lines.ts';
import { edge, node } from './graph.ts';

test('edges to a closed network are one; nothing of their bytes is lost, and what stays within it is not drawn', () => {
  const nodes = ['203.0.113.1', '203.0.113.2'].map((ip) => node(ip, 'external'));
  const boxes = boxesOf([node('10.0.0.1', 'asset'), ...nodes], new Set());
  const edges = [
    edge('10.0.0.1', '203.0.113.1', 5),
    edge('10.0.0.1', '203.0.113.2', 7),
    edge('203.0.113.1', '203.0.113.2', 99),
    edge('203.0.113.2', '10.0.0.1', 1),
  ];
  expect(
    bundlesOf(edges, shownAs(boxes)).map(({ source, target, bytes }) => [source, target, bytes]),
  ).toEqual([
    ['10.0.0.1', '203.0.113.0/24', 12],
    ['203.0.113.0/24', '10.0.0.1', 1],
  ]);
});

test('lines are between networks; those of hosts are only of what is selected, or all where that is asked for', () => {
  const boxes = boxesOf(
    ['10.0.0.1', '10.0.0.2', '10.0.1.1', '10.0.1.2'].map((ip) => node(ip, 'asset')),
    new Set(),
  );
  const edges = [
    edge('10.0.0.1', '10.0.1.1', 5),
    edge('10.0.0.2', '10.0.1.2', 7),
    edge('10.0.0.1', '10.0.0.2', 1),
  ];
  const ids = (selected: string | undefined, all: boolean) =>
    linesOf(edges, boxes, selected, all, new Map()).map(({ source, target, bytes }) => [
      source,
      target,
      bytes,
    ]);
  const networks = ['box 10.0.0.0/24', 'box 10.0.1.0/24', 12];
  expect(ids(undefined, false)).toEqual([networks]);
  expect(ids('10.0.0.1', false)).toEqual([
    networks,
    ['10.0.0.1', '10.0.1.1', 5],
    ['10.0.0.1', '10.0.0.2', 1],
  ]);
  expect(ids(undefined, true)).toHaveLength(3);
});

test('lines get thicker with bytes, and stay lines', () => {
  const widths = [0, 1, 1e3, 1e6, 1e9, 1e12, Number.MAX_SAFE_INTEGER].map(thickness);
  expect(widths).toEqual(widths.toSorted((a, b) => a - b));
  expect(Math.max(...widths)).toBeLessThanOrEqual(7);
});

test('an edge that is alerted on has a line of its own between its hosts, and that of their networks stays as it is', () => {
  const nodes = ['10.0.0.1', '10.0.0.2', '10.0.1.1'].map((ip) => node(ip, 'asset'));
  const edges = [edge('10.0.0.1', '10.0.1.1', 5), edge('10.0.0.2', '10.0.1.1', 7)];
  const alerted = alertedEdges({ nodes, edges }, [
    { severity: 'medium', src_ip: '10.0.0.2', dst_ip: '10.0.1.1' },
    { severity: 'high', src_ip: '10.0.0.2', dst_ip: '10.0.1.1' },
  ]);
  const lines = linesOf(edges, boxesOf(nodes, new Set()), undefined, false, alerted);
  expect(lines.map(({ source, target, alerted: its }) => [source, target, its])).toEqual([
    ['box 10.0.0.0/24', '10.0.1.1', undefined],
    ['10.0.0.2', '10.0.1.1', { count: 2, severity: 'high' }],
  ]);
});

test('a line to a closed network tells of the gravest alert on what is in it', () => {
  const nodes = [
    node('10.0.0.1', 'asset'),
    ...['203.0.113.1', '203.0.113.2'].map((ip) => node(ip, 'external')),
  ];
  const edges = [edge('10.0.0.1', '203.0.113.1', 5), edge('10.0.0.1', '203.0.113.2', 7)];
  const alerted = alertedEdges({ nodes, edges }, [
    { severity: 'critical', src_ip: '10.0.0.1', dst_ip: '203.0.113.2' },
    { severity: 'medium', src_ip: '10.0.0.1', dst_ip: '203.0.113.1' },
  ]);
  for (const all of [false, true])
    expect(linesOf(edges, boxesOf(nodes, new Set()), undefined, all, alerted)).toEqual([
      expect.objectContaining({
        target: '203.0.113.0/24',
        bytes: 12,
        alerted: { count: 2, severity: 'critical' },
      }),
    ]);
});
