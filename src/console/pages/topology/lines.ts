import { type Alerted, type AlertedEdges, alertedOfAll } from './alerted.ts';
import { type Box, type Edge, edgeId, shownAs, shownAsNetworks } from './arrange.ts';

/** All edges between two drawn elements, drawn as one line. */
export interface Bundle {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly edges: readonly Edge[];
  readonly connections: number;
  readonly bytes: number;
  /** The alerts on the line. Absent for lines between open networks: their alerts are on the lines between hosts. */
  readonly alerted?: Alerted;
}

/**
 * Returns the lines of the graph: lines between networks, and lines between hosts with alerts or at the selected node.
 * If `all` is set, returns all lines between hosts instead.
 */
export function linesOf(
  edges: readonly Edge[],
  boxes: readonly Box[],
  selected: string | undefined,
  all: boolean,
  alerted: AlertedEdges,
): Bundle[] {
  const ofHosts = bundlesOf(edges, shownAs(boxes)).map((bundle) => {
    const its = alertedOfAll(bundle.edges, alerted);
    return its === undefined ? bundle : { ...bundle, alerted: its };
  });
  if (all) return ofHosts;
  const lines = new Map(bundlesOf(edges, shownAsNetworks(boxes)).map((bundle) => [bundle.id, bundle]));
  for (const bundle of ofHosts)
    if (bundle.alerted !== undefined || bundle.source === selected || bundle.target === selected)
      lines.set(bundle.id, bundle);
  return [...lines.values()];
}

/** Returns up to `room` lines: lines with alerts first, then lines with most bytes. */
export const mostImportant = (bundles: readonly Bundle[], room: number): readonly Bundle[] =>
  bundles.length <= room
    ? bundles
    : bundles
        .toSorted((a, b) => Number(b.alerted !== undefined) - Number(a.alerted !== undefined) || b.bytes - a.bytes)
        .slice(0, room);

/** Bundles edges between drawn elements; edges within a closed box are omitted. */
export function bundlesOf(edges: readonly Edge[], shown: ReadonlyMap<string, string>): Bundle[] {
  const bundles = new Map<string, Edge[]>();
  for (const edge of edges) {
    const source = shown.get(edge.source);
    const target = shown.get(edge.target);
    if (source === undefined || target === undefined || source === target) continue;
    const id = edgeId({ source, target });
    const known = bundles.get(id);
    if (known === undefined) bundles.set(id, [edge]);
    else known.push(edge);
  }
  return [...bundles].map(([id, own]) => ({
    id,
    source: shown.get(own[0]!.source)!,
    target: shown.get(own[0]!.target)!,
    edges: own,
    connections: own.reduce((sum, { connections }) => sum + connections, 0),
    bytes: own.reduce((sum, { bytes }) => sum + bytes, 0),
  }));
}

/** Returns the line width in pixels, at most 7: one more pixel for each factor of 100 in bytes. */
export const thickness = (bytes: number): number => Math.min(7, 0.75 + Math.log10(1 + bytes) / 2);
