import type { Topology } from '../../../contract/resources/topology.ts';
import { addressRanges, printAddress } from '../../../net/ip.ts';

/**
 * The layout of the graph. Hosts are in the box of their network, hosts with the most edges first. Home networks are on
 * the left, external networks on the right. The layout is deterministic.
 *
 *     home                      outside
 *     ┌ 10.20.0.0/24 ┐          ┌ 198.51.100.0/24 ┐
 *     │ ●  ●  ∙  ∙   │ ──────── │ 12 addresses    │
 *     └──────────────┘          └─────────────────┘
 */

export type Node = Topology['nodes'][number];
export type Edge = Topology['edges'][number];

export const edgeId = ({ source, target }: Pick<Edge, 'source' | 'target'>): string => `${source} ${target}`;

/** A network and its hosts. */
export interface Box {
  /** The network as a CIDR block. */
  readonly id: string;
  readonly isHome: boolean;
  /** Hosts of the network; hosts with the most edges come first. */
  readonly nodes: readonly Node[];
  /** Whether the hosts are drawn; a closed box shows only their number. */
  readonly isOpen: boolean;
}

export interface Place {
  readonly x: number;
  readonly y: number;
}

/** Returns the network of a node: /24 for IPv4, /64 for IPv6, or the node's own block if the node is a network. */
export function networkOf({ id, ip }: Pick<Node, 'id' | 'ip'>): string {
  if (ip === undefined) return id;
  return networkOfLength(ip, ip.includes(':') ? 64 : 24) ?? id;
}

/** Returns the block of this prefix length around an address; undefined if address or length is not valid. */
export function networkOfLength(ip: string, length: number): string | undefined {
  const [network] = addressRanges(`${ip}/${length}`) ?? [];
  return network && `${printAddress(network.first)}/${length}`;
}

/**
 * Returns the label of a host inside its network's box: its name, or the last part of its address. The node of the
 * network itself is labelled `others`, because it covers all other addresses of the network.
 */
export function nameWithin({ label, ip }: Pick<Node, 'label' | 'ip'>): string {
  if (ip === undefined) return 'others';
  return label === ip ? ip.slice(ip.search(/[.:][^.:]*$/)) : label;
}

/** Maximum number of external networks shown separately; all other external networks share one box. */
const maxOutside = 18;
export const elsewhere = 'elsewhere';

/**
 * Returns the networks: home networks first, then external networks, each by number of edges. `opened` are external
 * networks whose hosts are shown.
 */
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

/** Distance between hosts, with room for short names. */
const step = 56;
/** Margin inside a box. */
const margin = 34;
/** Distance between boxes. */
const gap = 40;
/** The target ratio of width to height. */
const aspect = 1.5;

/** Returns the number of columns that makes a box about twice as wide as it is high. */
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

/** Returns the centers of hosts and closed boxes by id, without overlaps. */
export function placesOf(boxes: readonly Box[]): Map<string, Place> {
  const places = new Map<string, Place>();
  const sizes = boxes.map(sizeOf);
  const area = sizes.reduce((sum, { width, height }) => sum + (width + gap) * (height + gap), 0);
  /** Boxes are stacked up to this height, then continue in the next column. */
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

/** Returns the drawn element of each node: the node itself, or the closed box around it. */
export function shownAs(boxes: readonly Box[]): Map<string, string> {
  const shown = new Map<string, string>();
  for (const { id: box, nodes, isOpen } of boxes) for (const { id } of nodes) shown.set(id, isOpen ? id : box);
  return shown;
}

/** Returns the element id of an open network. */
export const boxId = (network: string): string => `box ${network}`;

/** Returns the drawn network of each node: its box, or the node itself if it is the only node of an open box. */
export function shownAsNetworks(boxes: readonly Box[]): Map<string, string> {
  const shown = new Map<string, string>();
  for (const { id: box, nodes, isOpen } of boxes)
    for (const { id } of nodes) shown.set(id, !isOpen ? box : nodes.length === 1 ? id : boxId(box));
  return shown;
}
