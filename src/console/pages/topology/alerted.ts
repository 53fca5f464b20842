import type { ListItem } from '../../../client/client.ts';
import { type Severity, severities } from '../../../contract/vocabulary.ts';
import { type Edge, edgeId, type Node, networkOfLength } from './arrange.ts';

/** The open alerts between the ends of an edge. */
export interface Alerted {
  readonly count: number;
  /** That of the gravest. */
  readonly severity: Severity;
  /** From the edge's source to its target, and from its target back. */
  readonly forth: boolean;
  readonly back: boolean;
}

/** Alerts below this mark nothing: what is merely new would colour the whole picture. */
export const leastMarked: Severity = 'medium';

/** By `edgeId`. */
export type AlertedEdges = ReadonlyMap<string, Alerted>;
type Alert = Pick<ListItem<'listAlerts'>['attributes'], 'severity' | 'src_ip' | 'dst_ip'>;

/**
 * The edges that alerts are about: those from the alert's source to its target; where there is none, the one back, since
 * who is suspected need not have opened the connection.
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
    alerted.set(id, together(one, alerted.get(id)));
  }
  return alerted;
}

/** Those of several edges; undefined where there are none. */
export const alertedTogether = (edges: readonly Edge[], alerted: AlertedEdges): Alerted | undefined =>
  edges.reduce<Alerted | undefined>((sum, edge) => {
    const one = alerted.get(edgeId(edge));
    return one === undefined ? sum : together(one, sum);
  }, undefined);

const together = (a: Alerted, b: Alerted | undefined): Alerted =>
  b === undefined
    ? a
    : {
        count: a.count + b.count,
        severity: severities.indexOf(a.severity) > severities.indexOf(b.severity) ? a.severity : b.severity,
        forth: a.forth || b.forth,
        back: a.back || b.back,
      };

/** To sort by severity, then by count; 0 for none. */
export const gravity = (alerted: Alerted | undefined): number =>
  alerted === undefined ? 0 : severities.indexOf(alerted.severity) + 1 - 1 / (1 + alerted.count);

/**
 * Finds the node that stands for an address: itself, or the narrowest network among the nodes that it is in. The node of
 * all that is elsewhere stands for none: it takes in what a limit left out, at home too.
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
