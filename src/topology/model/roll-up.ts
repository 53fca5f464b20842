import { Edges, noHour } from './edges.ts';
import type { Segment } from './segment.ts';

/** Levels at which edges are stored: by hour, by day, and for all time. */
export const levels = ['hour', 'day', 'ever'] as const;
export type Level = (typeof levels)[number];

/** Returns the bucket of a level for an hour; undefined for an hour without a bucket. */
export function bucketIn(level: Level, hour: number): number | undefined {
  if (level === 'ever') return 0;
  if (hour === noHour) return undefined;
  return level === 'hour' ? hour : Math.floor(hour / 24);
}

/** Sums segments of hours into the buckets of a level; without a level, into the same hours. */
export function rollUp(segments: readonly Segment[], level: Level | undefined, seed = 0): Edges {
  const edges = new Edges(seed);
  for (const segment of segments) {
    const texts = segment.textsIn(edges);
    const nodes = new Int32Array(segment.nodeCount).fill(-1);
    const node = (place: number): number => {
      if (nodes[place]! < 0) nodes[place] = edges.nodes.copy(segment, place);
      return nodes[place]!;
    };
    for (let row = 0; row < segment.rows; row++) {
      const hour = segment.bucket[row]!;
      const bucket = level === undefined ? hour : bucketIn(level, hour);
      if (bucket === undefined) continue;
      const to = edges.row(bucket, node(segment.source[row]!), node(segment.target[row]!));
      segment.addTo(edges, to, row, texts);
    }
  }
  return edges;
}
