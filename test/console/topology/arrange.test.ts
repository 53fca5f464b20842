import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  boxesOf,
  elsewhere,
  nameWithin,
  networkOf,
  placesOf,
  shownAs,
} from '../../../src/console/pages/topology/arrange.ts';
import { node } from './graph.ts';

test.each([
  ['10.20.30.40', '10.20.30.0/24'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8::/64'],
  ['::1', '::/64'],
  ['2001:0:0:1::9', '2001:0:0:1::/64'],
  ['fe80::1:2', 'fe80::/64'],
])('the address %s is shown in the network %s', (ip, network) => {
  expect(networkOf({ id: ip, ip })).toBe(network);
});

test.each([
  [{ label: '10.0.0.7', ip: '10.0.0.7' }, '.7'],
  [{ label: 'fe80::1:2', ip: 'fe80::1:2' }, ':2'],
  [{ label: 'printer', ip: '10.0.0.7' }, 'printer'],
  [{ label: '10.0.0.0/24' }, 'others'],
])('the node %j has the label %s within its network', (node, name) => {
  expect(nameWithin(node)).toBe(name);
});

test('the network of a node without an address is the block in its id', () => {
  expect(networkOf({ id: '10.0.0.0/8' })).toBe('10.0.0.0/8');
});

test('home networks come first and are open; external networks are closed until opened', () => {
  const nodes = [node('198.51.100.1', 'external', 9), node('198.51.100.2', 'external'), node('10.0.0.1', 'asset')];
  expect(boxesOf(nodes, new Set()).map(({ id, isOpen }) => [id, isOpen])).toEqual([
    ['10.0.0.0/24', true],
    ['198.51.100.0/24', false],
  ]);
  expect(boxesOf(nodes, new Set(['198.51.100.0/24']))[1]?.isOpen).toBe(true);
});

test('hosts with the most edges come first', () => {
  const [box] = boxesOf([node('10.0.0.1', 'asset', 2), node('10.0.0.2', 'asset', 7)], new Set());
  expect(box?.nodes.map(({ id }) => id)).toEqual(['10.0.0.2', '10.0.0.1']);
});

test('external networks with the fewest edges share one box', () => {
  const nodes = Array.from({ length: 100 }, (_, i) => node(`203.0.${i}.1`, 'external', 100 - i));
  const boxes = boxesOf(nodes, new Set());
  expect(boxes.length).toBeLessThan(25);
  expect(boxes.at(-1)?.id).toBe(elsewhere);
  expect(boxes.flatMap((box) => box.nodes)).toHaveLength(100);
  expect(boxes.at(-1)?.nodes.every(({ degree }) => degree < boxes[0]!.nodes[0]!.degree)).toBe(true);
});

const graphs = fc.uniqueArray(
  fc.record({ net: fc.nat(40), host: fc.nat(255), home: fc.boolean(), degree: fc.nat(50) }),
  { selector: ({ net, host, home }) => `${net} ${host} ${home}`, maxLength: 300 },
);

test('every drawn element has exactly one position, apart from all others', () => {
  fc.assert(
    fc.property(graphs, fc.array(fc.nat(40)), (hosts, opened) => {
      const nodes = hosts.map(({ net, host, home, degree }) =>
        node(`${home ? '10.0' : '203.0'}.${net}.${host}`, home ? 'asset' : 'external', degree),
      );
      const boxes = boxesOf(nodes, new Set(opened.map((net) => `203.0.${net}.0/24`)));
      const shown = shownAs(boxes);
      const places = placesOf(boxes);
      expect([...shown.keys()].toSorted()).toEqual(nodes.map(({ id }) => id).toSorted());
      expect([...new Set(shown.values())].toSorted()).toEqual([...places.keys()].toSorted());
      const all = [...places.values()];
      for (const [i, a] of all.entries())
        for (const b of all.slice(i + 1)) expect(Math.hypot(a.x - b.x, a.y - b.y)).toBeGreaterThan(20);
    }),
  );
});
