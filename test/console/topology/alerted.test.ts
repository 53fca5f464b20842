import { expect, test } from 'vitest';
import { alertedEdges, alertRank } from '../../../src/console/pages/topology/alerted.ts';
import type { Node } from '../../../src/console/pages/topology/arrange.ts';
import { type Severity, severities } from '../../../src/contract/vocabulary.ts';
import { edge, node } from './graph.ts';

const network = (id: string): Node => ({ id, label: id, kind: 'external', degree: 1, bytes: 0 });
const alert = (src_ip?: string, dst_ip?: string, severity: Severity = 'high') => ({
  severity,
  ...(src_ip !== undefined && { src_ip }),
  ...(dst_ip !== undefined && { dst_ip }),
});

const nodes = [
  node('10.0.0.1', 'asset'),
  node('10.0.0.2', 'asset'),
  node('2001:db8::1', 'asset'),
  ...['203.0.0.0/16', '203.0.113.0/24', '2001:db8:1::/48', '10.0.9.0/24', '0.0.0.0/0', '::/0'].map(network),
];
const edges = [
  edge('10.0.0.1', '10.0.0.2', 1),
  edge('10.0.0.1', '203.0.113.0/24', 1),
  edge('203.0.113.0/24', '10.0.0.1', 1),
  edge('203.0.0.0/16', '10.0.0.1', 1),
  edge('2001:db8::1', '2001:db8:1::/48', 1),
  edge('10.0.0.2', '0.0.0.0/0', 1),
  edge('2001:db8::1', '::/0', 1),
  edge('10.0.9.0/24', '10.0.9.0/24', 1),
];

test.each([
  ['the edge from source to target', alert('10.0.0.1', '10.0.0.2'), ['10.0.0.1 10.0.0.2']],
  ['the reverse edge, if it is the only edge', alert('10.0.0.2', '10.0.0.1'), ['10.0.0.1 10.0.0.2']],
  ['the edge of its own direction, if both exist', alert('203.0.113.9', '10.0.0.1'), ['203.0.113.0/24 10.0.0.1']],
  ['the edge to the narrowest network with the address', alert('10.0.0.1', '203.0.113.9'), ['10.0.0.1 203.0.113.0/24']],
  ['the edge from a wider network', alert('203.0.7.7', '10.0.0.1'), ['203.0.0.0/16 10.0.0.1']],
  ['the edge to an IPv6 network', alert('2001:db8::1', '2001:db8:1::77'), ['2001:db8::1 2001:db8:1::/48']],
  ['the edge of a network to itself', alert('10.0.9.1', '10.0.9.2'), ['10.0.9.0/24 10.0.9.0/24']],
  ['no edge of the catch-all network for an omitted node', alert('10.0.0.2', '10.7.7.7'), []],
  ['no edge of the catch-all network in IPv6', alert('2001:db8::1', '2001:db9::1'), []],
  ['no edge, if its endpoints have no edge', alert('10.0.0.2', '203.0.113.9'), []],
  ['no edge, if it has no target', alert('10.0.0.1'), []],
  ['no edge, if it has no source', alert(undefined, '10.0.0.1'), []],
])('an alert is shown on %s', (_, one, on) => {
  expect([...alertedEdges({ nodes, edges }, [one]).keys()]).toEqual(on);
});

test('alerts on one edge are counted, with their directions and highest severity', () => {
  const alerts = [
    alert('10.0.0.1', '10.0.0.2', 'medium'),
    alert('10.0.0.2', '10.0.0.1', 'critical'),
    alert('10.0.0.1', '10.0.0.2', 'high'),
  ];
  const told = (some: typeof alerts) => alertedEdges({ nodes, edges }, some).get('10.0.0.1 10.0.0.2');
  expect(told(alerts)).toEqual({ count: 3, severity: 'critical', forth: true, back: true });
  expect(told(alerts.slice(0, 1))).toEqual({ count: 1, severity: 'medium', forth: true, back: false });
  expect(told(alerts.slice(1, 2))).toEqual({ count: 1, severity: 'critical', forth: false, back: true });
});

test('alerts are ranked by severity first, then by count', () => {
  const of = (severity: Severity, count: number) => alertRank({ severity, count, forth: true, back: false });
  const rising = [
    alertRank(undefined),
    ...severities.flatMap((severity) => [of(severity, 1), of(severity, 2), of(severity, 1e6)]),
  ];
  expect(rising).toEqual([...new Set(rising)].toSorted((a, b) => a - b));
});
