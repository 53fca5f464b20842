import { expect, test } from 'vitest';
import { alertedEdges } from '../../../src/console/pages/topology/alerted.ts';
import type { Node } from '../../../src/console/pages/topology/arrange.ts';
import { edge, node } from './graph.ts';

const network = (id: string): Node => ({ id, label: id, kind: 'external', degree: 1, bytes: 0 });
const alert = (src_ip?: string, dst_ip?: string) => ({
  severity: 'high' as const,
  ...(src_ip !== undefined && { src_ip }),
  ...(dst_ip !== undefined && { dst_ip }),
});

const nodes = [
  node('10.0.0.1', 'asset'),
  node('10.0.0.2', 'asset'),
  node('2001:db8::1', 'asset'),
  ...['203.0.0.0/16', '203.0.113.0/24', '2001:db8:1::/48', '0.0.0.0/0'].map(network),
];
const edges = [
  edge('10.0.0.1', '10.0.0.2', 1),
  edge('10.0.0.1', '203.0.113.0/24', 1),
  edge('203.0.0.0/16', '10.0.0.1', 1),
  edge('2001:db8::1', '2001:db8:1::/48', 1),
  edge('10.0.0.2', '0.0.0.0/0', 1),
];

test.each([
  ['its source and target', alert('10.0.0.1', '10.0.0.2'), ['10.0.0.1 10.0.0.2']],
  ['the way back, where that is the only one', alert('10.0.0.2', '10.0.0.1'), ['10.0.0.1 10.0.0.2']],
  ['the narrowest network with an address', alert('10.0.0.1', '203.0.113.9'), ['10.0.0.1 203.0.113.0/24']],
  ['a wider network, which asked', alert('203.0.7.7', '10.0.0.1'), ['203.0.0.0/16 10.0.0.1']],
  ['a network of IPv6', alert('2001:db8::1', '2001:db8:1::77'), ['2001:db8::1 2001:db8:1::/48']],
  ['the rest of the world', alert('10.0.0.2', '8.8.8.8'), ['10.0.0.2 0.0.0.0/0']],
  ['no edge, where there is none between them', alert('10.0.0.1', '8.8.8.8'), []],
  ['no edge, where it names no target', alert('10.0.0.1'), []],
  ['no edge, where it names no source', alert(undefined, '10.0.0.1'), []],
  ['no edge, where an address is in nothing shown', alert('2001:db9::1', '10.0.0.1'), []],
])('an alert is on the edge of %s', (_, one, on) => {
  expect([...alertedEdges({ nodes, edges }, [one]).keys()]).toEqual(on);
});

test.each([
  [['medium', 'high', 'medium'], { count: 3, severity: 'high' }],
  [['critical', 'low'], { count: 2, severity: 'critical' }],
] as const)('alerts on one edge are counted, and the gravest tells: %s', (severities, on) => {
  const alerts = severities.map((severity) => ({ ...alert('10.0.0.1', '10.0.0.2'), severity }));
  expect(alertedEdges({ nodes, edges }, alerts).get('10.0.0.1 10.0.0.2')).toEqual(on);
});
