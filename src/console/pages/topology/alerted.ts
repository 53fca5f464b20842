import type { ListItem } from '../../../client/client.ts';
import { type Severity, severities } from '../../../contract/vocabulary.ts';
import { type Edge, edgeId, type Node, networkOfLength } from './arrange.ts';

/** The open alerts between the endpoints of an edge. */
export interface Alerted {
  readonly count: number;
  /** The highest severity of the alerts. */
  readonly severity: Severity;
  /** Whether alerts point from the edge's source to its target. */
  readonly forth: boolean;
  /** Whether alerts point from the edge's target to its source. */
  readonly back: boolean;
}

/** Lowest severity that marks an edge; lower severities would colour most of the graph. */
export const minMarkedSeverity: Severity = 'medium';

/** Alerts of edges, by `edgeId`. */
export type AlertedEdges = ReadonlyMap<string, Alerted>;
type Alert = Pick<ListItem<'listAlerts'>['attributes'], 'severity' | 'src_ip' | 'dst_ip'>;

/**
 * Maps alerts to edges from the alert's source to its target. Without such an edge, the reverse edge is used, because
 * the peer of the suspect may have opened the connection.
 */
export function alertedEdges(
  { nodes, edges }: { readonly nodes: readonly Node[]; readonly edges: readonly Edge[] },
  alerts: readonly Alert[],
): AlertedEdges {
  const known = new Set(edges.map(edgeId));
  const nodeOf = finder(nodes);
  const alerted = new Map<string, Alerted>();
  for (const { severity, src_ip, dst_ip } of alerts) {
    const source = src_ip && nodeOf(src_ip);
    const target = dst_ip && nodeOf(dst_ip);
    if (!source || !target) continue;
    const [forth, back] = [edgeId({ source, target }), edgeId({ source: target, target: source })];
    const id = known.has(forth) ? forth : back;
    if (!known.has(id)) continue;
    const one = { count: 1, severity, forth: id === forth, back: id !== forth };
    alerted.set(id, combine(one, alerted.get(id)));
  }
  return alerted;
}

/** Combines the alerts of several edges; undefined without alerts. */
export const alertedOfAll = (edges: readonly Edge[], alerted: AlertedEdges): Alerted | undefined =>
  edges.reduce<Alerted | undefined>((sum, edge) => {
    const one = alerted.get(edgeId(edge));
    return one === undefined ? sum : combine(one, sum);
  }, undefined);

const combine = (a: Alerted, b: Alerted | undefined): Alerted =>
  b === undefined
    ? a
    : {
        count: a.count + b.count,
        severity: severities.indexOf(a.severity) > severities.indexOf(b.severity) ? a.severity : b.severity,
        forth: a.forth || b.forth,
        back: a.back || b.back,
      };

/** Returns a sort key by severity, then count; 0 without alerts. */
export const alertRank = (alerted: Alerted | undefined): number =>
  alerted === undefined ? 0 : severities.indexOf(alerted.severity) + 1 - 1 / (1 + alerted.count);

/**
 * Returns a function that finds the node of an address: its own node, or the narrowest network that contains it. The
 * node for all other addresses (prefix length 0) is not used, because it also covers hosts omitted due to the node
 * limit.
 */
function finder(nodes: readonly Node[]): (ip: string) => string | undefined {
  const ids = new Set(nodes.map(({ id }) => id));
  const lengths = new Set(nodes.flatMap(({ id, ip }) => (ip === undefined ? Number(id.split('/')[1]) : [])));
  const narrowestFirst = [...lengths].filter((length) => length > 0).sort((a, b) => b - a);
  const found = new Map<string, string | undefined>();
  return (ip) => {
    if (ids.has(ip)) return ip;
    if (!found.has(ip)) {
      const around = narrowestFirst.map((length) => networkOfLength(ip, length));
      found.set(
        ip,
        around.find((network) => network !== undefined && ids.has(network)),
      );
    }
    return found.get(ip);
  };
}
