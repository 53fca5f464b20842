import { lastSequence } from '../../database/rows.ts';
import { Segment } from '../model/segment.ts';
import { emptyGraph, type GraphState, type RunRow, type RunSegment } from './graph-tables.ts';
import type { TopologyTables } from './tables.ts';

/**
 * Returns the state. If the row of the state is damaged, returns an empty state, with ids after the ids of
 * stored segments.
 */
export function graphState({ topologyState, topologySegments }: TopologyTables): GraphState {
  const known = topologyState.get('graph');
  return known ?? { ...emptyGraph, nextId: Math.max(emptyGraph.nextId, lastSequence(topologySegments) + 1) };
}

/** Returns the newest step; 0 before the first step. */
export function lastStep(tables: TopologyTables): number {
  for (const key of tables.topologySteps.getKeys({ reverse: true, limit: 1 })) return key;
  return 0;
}

/** Returns a copy of a stored segment; undefined if its row is damaged. */
export function readSegment(tables: TopologyTables, id: number): Segment | undefined {
  const bytes = tables.topologySegments.get(id);
  return bytes && new Segment(bytes);
}

export function* copySegments(tables: TopologyTables, run: RunRow): Generator<Segment> {
  for (const { id } of run) {
    const segment = readSegment(tables, id);
    if (segment !== undefined) yield segment;
  }
}

/** Returns the edges of a step; empty if the step has only names, or if its edges were removed. */
export const stepSegments = (tables: TopologyTables, seq: number): Segment[] =>
  (tables.topologyStepEdges.get(seq) ?? []).map((bytes) => new Segment(bytes));

/** Yields the edges of all steps after `seq`. */
export function* segmentsAfter(tables: TopologyTables, seq: number): Generator<Segment> {
  for (const { value } of tables.topologyStepEdges.getRange({ start: seq + 1 }))
    for (const bytes of value) yield new Segment(bytes);
}

/** Stores encoded segments under consecutive ids, starting with `id`. Returns descriptions of the segments. */
export function putSegments(
  tables: TopologyTables,
  encoded: readonly Uint8Array<ArrayBuffer>[],
  id: number,
): RunSegment[] {
  return encoded.map((bytes, i) => {
    tables.topologySegments.putSync(id + i, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
    const { rows, minBucket, maxBucket } = new Segment(bytes);
    return { id: id + i, rows, min: minBucket, max: maxBucket, bytes: bytes.length };
  });
}

export function removeSegments(tables: TopologyTables, run: Iterable<RunSegment>): void {
  for (const { id } of run) tables.topologySegments.removeSync(id);
}
