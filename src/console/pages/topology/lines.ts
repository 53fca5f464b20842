import { type Alerted, type AlertedEdges, alertedTogether } from './alerted.ts';
import { type Box, type Edge, edgeId, shownAs, shownAsNetworks } from './arrange.ts';

/** Edges between the same two things that are shown, as one. */
export interface Bundle {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly edges: readonly Edge[];
  readonly connections: number;
  readonly bytes: number;
  /** Of lines between open networks it is absent: what is alerted on there has a line between its hosts. */
  readonly alerted?: Alerted;
}

/**
 * The lines of the picture: between networks, and between hosts only those of what is selected or alerted on, or all of
 * them where that is asked for.
 */
export function linesOf(
  edges: readonly Edge[],
  boxes: readonly Box[],
  selected: string | undefined,
  all: boolean,
  alerted: AlertedEdges,
): Bundle[] {
  const ofHosts = bundlesOf(edges, shownAs(boxes)).map((bundle) => {
    const its = alertedTogether(bundle.edges, alerted);
    return its === undefined ? bundle : { ...bundle, alerted: its };
  });
  if (all) return ofHosts;
  const lines = new Map(bundlesOf(edges, shownAsNetworks(boxes)).map((bundle) => [bundle.id, bundle]));
  for (const bundle of ofHosts)
    if (bundle.alerted !== undefined || bundle.source === selected || bundle.target === selected)
      lines.set(bundle.id, bundle);
  return [...lines.values()];
}

/** So many of the lines as there is room for: those alerted on, then the heaviest. */
export const foremost = (bundles: readonly Bundle[], room: number): readonly Bundle[] =>
  bundles.length <= room
    ? bundles
    : bundles
        .toSorted(
          (a, b) => Number(b.alerted !== undefined) - Number(a.alerted !== undefined) || b.bytes - a.bytes,
        )
        .slice(0, room);

/** Edges between what is shown; those within a closed box are not. */
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

/** How thick a line for so many bytes is, in pixels: one more for each hundredfold. */
export const thickness = (bytes: number): number => Math.min(7, 0.75 + Math.log10(1 + bytes) / 2);
