import type { ListItem } from '../../../client/client.ts';
import { type Severity, severities } from '../../../contract/vocabulary.ts';
import { type AddressRange, addressBytes, addressRanges, rangesMeet } from '../../../events/ip.ts';
import { type Edge, edgeId, type Node } from './arrange.ts';

/** Open alerts between the ends of an edge: how many, and how grave the gravest is. */
export interface Alerted {
  readonly count: number;
  readonly severity: Severity;
}

/** By `edgeId`. */
export type AlertedEdges = ReadonlyMap<string, Alerted>;
export type AlertOnEdge = Pick<ListItem<'listAlerts'>['attributes'], 'severity' | 'src_ip' | 'dst_ip'>;

const gravest = (a: Severity, b: Severity): Severity =>
  severities.indexOf(a) > severities.indexOf(b) ? a : b;

/** All of several together; undefined where nothing is alerted on. */
export const alertedOf = (edges: readonly Edge[], alerted: AlertedEdges): Alerted | undefined =>
  edges
    .flatMap((edge) => alerted.get(edgeId(edge)) ?? [])
    .reduce<Alerted | undefined>((sum, one) => (sum === undefined ? one : together(sum, one)), undefined);

const together = (a: Alerted, b: Alerted): Alerted => ({
  count: a.count + b.count,
  severity: gravest(a.severity, b.severity),
});

/**
 * The edges that alerts are about: those from the alert's source to its target; where there is none, the one back, since
 * who is suspected need not have opened the connection.
 */
export function alertedEdges(
  { nodes, edges }: { readonly nodes: readonly Node[]; readonly edges: readonly Edge[] },
  alerts: readonly AlertOnEdge[],
): AlertedEdges {
  const known = new Set(edges.map(edgeId));
  const nodeOf = finder(nodes);
  const alerted = new Map<string, Alerted>();
  for (const { severity, src_ip, dst_ip } of alerts) {
    const source = src_ip && nodeOf(src_ip);
    const target = dst_ip && nodeOf(dst_ip);
    if (!source || !target) continue;
    const ways = [edgeId({ source, target }), edgeId({ source: target, target: source })];
    const id = ways.find((one) => known.has(one));
    if (id === undefined) continue;
    const one = { count: 1, severity };
    const before = alerted.get(id);
    alerted.set(id, before === undefined ? one : together(before, one));
  }
  return alerted;
}

/** Finds the node that stands for an address: itself, or the narrowest network among the nodes that it is in. */
function finder(nodes: readonly Node[]): (ip: string) => string | undefined {
  const found = new Map<string, string | undefined>();
  const networks: { readonly id: string; readonly prefix: number; readonly range: AddressRange }[] = [];
  for (const { id, ip } of nodes) {
    if (ip !== undefined) found.set(ip, id);
    else
      for (const range of addressRanges(id) ?? [])
        networks.push({ id, prefix: Number(id.split('/')[1]), range });
  }
  networks.sort((a, b) => b.prefix - a.prefix);
  return (ip) => {
    if (!found.has(ip)) {
      const at = addressBytes(ip);
      const around = at && networks.find(({ range }) => rangesMeet(range, { first: at, last: at }));
      found.set(ip, around?.id);
    }
    return found.get(ip);
  };
}
