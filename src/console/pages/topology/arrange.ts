import type { Topology } from '../../../contract/resources/topology.ts';
import { addressRanges, printAddress } from '../../../events/ip.ts';

/**
 * Where everything stands in the picture. Ranked, not a hairball: hosts stand in the box of their network, those on which
 * most depends first; networks at home are at the left, the outside at the right. The same graph gives the same picture,
 * and what is new moves as little as it can.
 *
 *     home                      outside
 *     ┌ 10.20.0.0/24 ┐          ┌ 198.51.100.0/24 ┐
 *     │ ●  ●  ∙  ∙   │ ──────── │ 12 addresses    │
 *     └──────────────┘          └─────────────────┘
 */
export type Node = Topology['nodes'][number];
export type Edge = Topology['edges'][number];

export const edgeId = ({ source, target }: Pick<Edge, 'source' | 'target'>): string => `${source} ${target}`;

/** A network and what is shown of it. */
export interface Box {
  /** The network as a CIDR block. */
  readonly id: string;
  readonly isHome: boolean;
  /** Its hosts, those with most edges first. */
  readonly nodes: readonly Node[];
  /** Its hosts stand in it; else it is one thing with a number on it. */
  readonly isOpen: boolean;
}

export interface Place {
  readonly x: number;
  readonly y: number;
}

/** The network that an address is shown in: /24 of IPv4, /64 of IPv6. Nodes that are networks stand for themselves. */
export function networkOf({ id, ip }: Pick<Node, 'id' | 'ip'>): string {
  if (ip === undefined) return id;
  return networkOfLength(ip, ip.includes(':') ? 64 : 24) ?? id;
}

/** The block of an address with a prefix so long; undefined where the address has fewer bits, or is none. */
export function networkOfLength(ip: string, length: number): string | undefined {
  const [network] = addressRanges(`${ip}/${length}`) ?? [];
  return network && `${printAddress(network.first)}/${length}`;
}

/**
 * What a host is called where its network is written beside it: the end of its address, unless it has a name. A network
 * within itself stands for those of its addresses that are no hosts.
 */
export function nameWithin({ label, ip }: Pick<Node, 'label' | 'ip'>): string {
  if (ip === undefined) return 'others';
  return label === ip ? ip.slice(ip.search(/[.:][^.:]*$/)) : label;
}

/** So many networks outside are shown each; those with less traffic are one thing together. */
const maxOutside = 18;
export const elsewhere = 'elsewhere';

/** Networks, those at home and those with most edges first. `opened` are those outside whose hosts are asked for. */
export function boxesOf(nodes: readonly Node[], opened: ReadonlySet<string>): Box[] {
  const byNetwork = new Map<string, Node[]>();
  for (const node of nodes) add(byNetwork, networkOf(node), node);
  const boxes = [...byNetwork].map(([id, own]) => boxOf(id, own, opened)).toSorted(byWeight);
  const home = boxes.filter(({ isHome }) => isHome);
  const outside = boxes.filter(({ isHome }) => !isHome);
  if (outside.length <= maxOutside + 1) return [...home, ...outside];
  const rest = outside.slice(maxOutside).flatMap((box) => box.nodes);
  return [...home, ...outside.slice(0, maxOutside), boxOf(elsewhere, rest, opened)];
}

function boxOf(id: string, nodes: readonly Node[], opened: ReadonlySet<string>): Box {
  const isHome = nodes.some(({ kind }) => kind !== 'external');
  return {
    id,
    isHome,
    nodes: nodes.toSorted(byRank),
    isOpen: isHome || opened.has(id) || nodes.length === 1,
  };
}

function add<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

const byWeight = (a: Box, b: Box): number => weight(b) - weight(a) || order(a.id, b.id);
const byRank = (a: Node, b: Node): number => b.degree - a.degree || b.bytes - a.bytes || order(a.id, b.id);
const weight = ({ nodes }: Box): number => nodes.reduce((sum, { degree }) => sum + degree, 0);
const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Distance between hosts, which leaves room for their short names, and the room around the hosts of a box. */
const step = 56;
const margin = 34;
/** Between boxes. */
const gap = 40;
/** How much wider than high the picture is to be. */
const aspect = 1.5;

/** How many hosts stand beside each other in a box: wider than high. */
export const columnsOf = (count: number): number => Math.max(1, Math.ceil(Math.sqrt(count * 2.2)));

interface Size {
  readonly width: number;
  readonly height: number;
}

function sizeOf({ nodes, isOpen }: Box): Size {
  if (!isOpen || nodes.length === 1) return { width: 3 * step, height: step };
  const columns = columnsOf(nodes.length);
  return {
    width: Math.max(3, columns) * step + 2 * margin,
    height: Math.ceil(nodes.length / columns) * step + 2 * margin,
  };
}

/** The middle of each host, and of each box that is closed, by its id. No two of them overlap. */
export function placesOf(boxes: readonly Box[]): Map<string, Place> {
  const places = new Map<string, Place>();
  const sizes = boxes.map(sizeOf);
  const area = sizes.reduce((sum, { width, height }) => sum + (width + gap) * (height + gap), 0);
  /** Boxes are put under each other up to this height, then in the next column. */
  const columnHeight = Math.max(Math.sqrt(area / aspect), ...sizes.map(({ height }) => height));
  let left = 0;
  for (const side of [boxes.filter(({ isHome }) => isHome), boxes.filter(({ isHome }) => !isHome)]) {
    let top = 0;
    let widest = 0;
    for (const box of side) {
      const { width, height } = sizeOf(box);
      if (top > 0 && top + height > columnHeight) {
        left += widest + gap;
        top = 0;
        widest = 0;
      }
      place(box, left, top, places);
      widest = Math.max(widest, width);
      top += height + gap;
    }
    left += widest + 3 * gap;
  }
  return places;
}

function place(box: Box, left: number, top: number, places: Map<string, Place>): void {
  if (!box.isOpen || box.nodes.length === 1) {
    places.set(box.isOpen ? box.nodes[0]!.id : box.id, { x: left + 1.5 * step, y: top + step / 2 });
    return;
  }
  const columns = columnsOf(box.nodes.length);
  box.nodes.forEach(({ id }, index) => {
    places.set(id, {
      x: left + margin + ((index % columns) + 0.5) * step,
      y: top + margin + (Math.floor(index / columns) + 0.5) * step,
    });
  });
}

/** What stands for each node: itself, or the closed box that it is in. */
export function shownAs(boxes: readonly Box[]): Map<string, string> {
  const shown = new Map<string, string>();
  for (const { id: box, nodes, isOpen } of boxes)
    for (const { id } of nodes) shown.set(id, isOpen ? id : box);
  return shown;
}

/** The element that stands for an open network and its hosts. */
export const boxId = (network: string): string => `box ${network}`;

/** The network that stands for each node: the box around its hosts, where it has one. */
export function shownAsNetworks(boxes: readonly Box[]): Map<string, string> {
  const shown = new Map<string, string>();
  for (const { id: box, nodes, isOpen } of boxes)
    for (const { id } of nodes) shown.set(id, !isOpen ? box : nodes.length === 1 ? id : boxId(box));
  return shown;
}
