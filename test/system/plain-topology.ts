/**
 * The graph of Zeek's conn lines, implemented from the contract alone: slow and simple, with maps and sets.
 */
import { isIP } from 'node:net';
import { protocols, stateOf } from './naive.ts';

type Line = Readonly<Record<string, unknown>>;

interface PlainEdge {
  readonly source: string;
  readonly target: string;
  ports: number[];
  protocols: string[];
  connections: number;
  bytes: number;
  first_seen: string;
  last_seen: string;
}

export interface PlainNode {
  readonly id: string;
  readonly kind: 'asset' | 'subnet' | 'external';
  degree: number;
  bytes: number;
}

export interface PlainGraph {
  readonly nodes: Map<string, PlainNode>;
  readonly edges: Map<string, PlainEdge>;
}

const hour = 3_600_000;
const established = new Set(['S1', 'SF', 'S2', 'S3', 'RSTO', 'RSTR']);

/**
 * Returns the graph of the lines.
 *
 * @param isHome - returns whether an address is in a home network
 * @param range - whole hours, half-open, epoch milliseconds
 */
export function plainGraph(
  lines: readonly string[],
  isHome: (address: string) => boolean,
  groupBy: 'host' | 'subnet' = 'host',
  range: readonly [number, number] = [0, Number.POSITIVE_INFINITY],
): PlainGraph {
  const graph: PlainGraph = { nodes: new Map(), edges: new Map() };
  const ports = new Map<PlainEdge, Set<number>>();
  for (const report of reportsOf(lines)) {
    const { src, dst, answered, begin, end, added, isFirst, port } = report;
    if (report.hour < range[0] || report.start >= range[1]) continue;
    const node = (address: string, role: 'host' | 'network') => {
      if (/^2(2[4-9]|3[0-9])\./.test(address)) return touch(graph, '224.0.0.0/4', 'subnet');
      if (/^ff/i.test(address)) return touch(graph, 'ff00::/8', 'subnet');
      if (address === '255.255.255.255') return touch(graph, address, 'subnet');
      const home = isHome(address);
      if (home && role === 'host' && groupBy === 'host') return touch(graph, address, 'asset');
      return touch(graph, networkOf(address, home ? 4 : 3), home ? 'subnet' : 'external');
    };
    const source = node(src, 'host');
    const target = node(dst, answered ? 'host' : 'network');
    const id = `${source.id} ${target.id}`;
    let edge = graph.edges.get(id);
    if (edge === undefined) {
      edge = {
        source: source.id,
        target: target.id,
        ports: [],
        protocols: [],
        connections: 0,
        bytes: 0,
        first_seen: begin,
        last_seen: end,
      };
      graph.edges.set(id, edge);
      ports.set(edge, new Set());
      for (const each of new Set([source, target])) each.degree++;
    }
    edge.connections += isFirst ? 1 : 0;
    edge.bytes += added;
    for (const each of new Set([source, target])) each.bytes += added;
    if (begin < edge.first_seen) edge.first_seen = begin;
    if (end > edge.last_seen) edge.last_seen = end;
    if (port !== undefined) ports.get(edge)!.add(port);
    for (const protocol of report.protocols) if (!edge.protocols.includes(protocol)) edge.protocols.push(protocol);
  }
  for (const edge of graph.edges.values()) {
    edge.ports = [...ports.get(edge)!].sort((a, b) => a - b).slice(0, 16);
    edge.protocols = edge.protocols.sort().slice(0, 8);
  }
  return graph;
}

/** One line: a report about a connection. */
interface Report {
  readonly src: string;
  readonly dst: string;
  readonly answered: boolean;
  /** Epoch milliseconds. */
  readonly start: number;
  readonly hour: number;
  readonly begin: string;
  readonly end: string;
  /** Bytes since the previous report about the connection. */
  readonly added: number;
  readonly isFirst: boolean;
  readonly port: number | undefined;
  readonly protocols: readonly string[];
}

/** Reports by file, because each file is counted in several ways. */
const parsed = new WeakMap<readonly string[], readonly Report[]>();

function reportsOf(lines: readonly string[]): readonly Report[] {
  let reports = parsed.get(lines);
  if (reports === undefined) {
    const reported = new Map<string, number>();
    reports = lines.map((line) => reportOf(JSON.parse(line) as Line, reported));
    parsed.set(lines, reports);
  }
  return reports;
}

/** @param reported - the largest number of bytes reported so far, by connection */
function reportOf(r: Line, reported: Map<string, number>): Report {
  const start = Math.floor(Math.round((r.ts as number) * 1e6) / 1e3);
  const [src, dst] = [r['id.orig_h'] as string, r['id.resp_h'] as string];
  const number = (name: string) => (r[name] as number | undefined) ?? 0;
  const bytesOf = (ip: string, payload: string) => (r[ip] === undefined ? number(payload) : number(ip));
  const total = bytesOf('orig_ip_bytes', 'orig_bytes') + bytesOf('resp_ip_bytes', 'resp_bytes');
  const key = [r.uid, src, r['id.orig_p'], dst, r['id.resp_p']].join(' ');
  const before = reported.get(key);
  reported.set(key, Math.max(total, before ?? 0));
  return {
    src,
    dst,
    answered:
      r.proto === 'tcp'
        ? established.has(r.conn_state as string) && !['refused', 'attempt'].includes(stateOf(r) ?? '')
        : ['orig', 'resp'].every((end) => ['pkts', 'ip_bytes', 'bytes'].some((of) => number(`${end}_${of}`) > 0)),
    start,
    hour: Math.floor(start / hour) * hour,
    begin: new Date(start).toISOString(),
    end: new Date(start + Math.floor(number('duration') * 1000)).toISOString(),
    added: Math.max(0, total - (before ?? 0)),
    isFirst: before === undefined,
    port: r.proto === 'icmp' ? undefined : (r['id.resp_p'] as number),
    protocols: typeof r.service === 'string' ? (protocols(r.service).app_protocols ?? []) : [],
  };
}

function touch({ nodes }: PlainGraph, id: string, kind: PlainNode['kind']): PlainNode {
  const known = nodes.get(id);
  const node = known ?? { id, kind, degree: 0, bytes: 0 };
  nodes.set(id, node);
  return node;
}

/** Returns the /24 of an IPv4 address; `groups` 16-bit groups of an IPv6 address. */
function networkOf(address: string, groups: number): string {
  if (isIP(address) === 4) return `${address.split('.').slice(0, 3).join('.')}.0/24`;
  const [head = '', tail] = address.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const all = [...before, ...Array.from({ length: 8 - before.length - after.length }, () => '0'), ...after];
  const kept = all.slice(0, groups).join(':');
  return `${new URL(`http://[${kept}::]`).hostname.slice(1, -1)}/${groups * 16}`;
}
