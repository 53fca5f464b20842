import { Segment } from '../../../topology/segment.ts';
import { lastSequence, type Tables } from '../tables.ts';
import { emptyGraph, type GraphState, type RunRow, type RunSegment } from './graph-tables.ts';

/** Where the row of the state is damaged, the graph begins again, behind the segments that are stored. */
export function graphState({ topologyState, topologySegments }: Tables): GraphState {
  const known = topologyState.get('graph');
  return known ?? { ...emptyGraph, nextId: Math.max(emptyGraph.nextId, lastSequence(topologySegments) + 1) };
}

/** The newest step; 0 before the first. */
export function lastStep(tables: Tables): number {
  for (const key of tables.topologySteps.getKeys({ reverse: true, limit: 1 })) return key;
  return 0;
}

/** A stored segment, in memory of its own; undefined where its row is damaged. */
export function readSegment(tables: Tables, id: number): Segment | undefined {
  const bytes = tables.topologySegments.get(id);
  return bytes && new Segment(bytes);
}

export function* copySegments(tables: Tables, run: RunRow): Generator<Segment> {
  for (const { id } of run) {
    const segment = readSegment(tables, id);
    if (segment !== undefined) yield segment;
  }
}

/** The edges of a step; none where it has only names, or they are gone. */
export const stepSegments = (tables: Tables, seq: number): Segment[] =>
  (tables.topologyStepEdges.get(seq) ?? []).map((bytes) => new Segment(bytes));

/** The edges of all steps after one. */
export function* segmentsAfter(tables: Tables, seq: number): Generator<Segment> {
  for (const { value } of tables.topologyStepEdges.getRange({ start: seq + 1 }))
    for (const bytes of value) yield new Segment(bytes);
}

/** Stores encoded segments under ids from `id` on, and tells what they are. */
export function putSegments(
  tables: Tables,
  encoded: readonly Uint8Array<ArrayBuffer>[],
  id: number,
): RunSegment[] {
  return encoded.map((bytes, i) => {
    tables.topologySegments.putSync(id + i, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
    const { rows, minBucket, maxBucket } = new Segment(bytes);
    return { id: id + i, rows, min: minBucket, max: maxBucket, bytes: bytes.length };
  });
}

export function removeSegments(tables: Tables, run: Iterable<RunSegment>): void {
  for (const { id } of run) tables.topologySegments.removeSync(id);
}
