import { Edges } from './edges.ts';
import { compareBlocks, Nodes } from './nodes.ts';
import { encodeSegments, maxSegmentRows, type Segment } from './segment.ts';

/** Segments in order, each read when it is needed. */
export type Run = Iterator<Segment>;

/**
 * Merges runs into one run, a segment at a time. Rows of the same edge and bucket are added up. At any time,
 * only one segment of each run and one segment of the result are in memory.
 *
 * @param terms - rows in buckets before `from`, and in bucket `below` and later buckets, are left out; `maxRows` is the
 *   maximum number of rows of a segment of the result
 */
export function* mergeRuns(
  runs: Iterable<Run>,
  seed = 0,
  { maxRows = maxSegmentRows as number, below = Number.POSITIVE_INFINITY, from = 0 } = {},
): Generator<Uint8Array<ArrayBuffer>> {
  const emptyEdges = () => new Edges(seed, new Nodes(seed), maxRows);
  let edges = emptyEdges();
  const open = (run: Run): Cursor | undefined => {
    const { value } = run.next() as { value?: Segment };
    return value === undefined ? undefined : new Cursor(run, value, edges);
  };
  let cursors = Array.from(runs, open).filter((cursor) => cursor !== undefined);
  let latest: { readonly segment: Segment; readonly row: number } | undefined;
  let to = -1;
  while (cursors.length > 0) {
    let next = cursors[0]!;
    for (const cursor of cursors) if (cursor !== next && compareRows(cursor, next) < 0) next = cursor;
    const { segment, row } = next;
    const bucket = segment.bucket[row]!;
    if (bucket >= from && bucket < below) {
      if (latest === undefined || compareRows(latest, next) !== 0) {
        if (edges.count === maxRows) {
          yield* encodeSegments(edges, maxRows);
          edges = emptyEdges();
          for (const cursor of cursors) cursor.into(edges);
        }
        to = edges.row(bucket, next.node(segment.source[row]!), next.node(segment.target[row]!));
      }
      segment.addTo(edges, to, row, next.texts);
      latest = { segment, row };
    }
    if (++next.row < segment.rows) continue;
    const follower = open(next.run);
    cursors = cursors.flatMap((cursor) => (cursor !== next ? [cursor] : follower === undefined ? [] : [follower]));
  }
  yield* encodeSegments(edges, maxRows);
}

/** The reading position in a run. */
class Cursor {
  readonly run: Run;
  readonly segment: Segment;
  row = 0;
  texts: Uint32Array;
  #edges: Edges;
  #nodes: Int32Array;

  constructor(run: Run, segment: Segment, edges: Edges) {
    this.run = run;
    this.segment = segment;
    this.#edges = edges;
    this.#nodes = new Int32Array(segment.nodeCount).fill(-1);
    this.texts = segment.textsIn(edges);
  }

  /** Selects the edges to which rows are added. */
  into(edges: Edges): void {
    this.#edges = edges;
    this.#nodes.fill(-1);
    this.texts = this.segment.textsIn(edges);
  }

  /** Returns the number that a node of the segment has in the edges. Adds the node to the edges if necessary. */
  node(node: number): number {
    const known = this.#nodes[node]!;
    if (known >= 0) return known;
    const added = this.#edges.nodes.copy(this.segment, node);
    this.#nodes[node] = added;
    return added;
  }
}

interface Row {
  readonly segment: Segment;
  readonly row: number;
}

function compareRows(a: Row, b: Row): number {
  return (
    a.segment.bucket[a.row]! - b.segment.bucket[b.row]! ||
    compareBlocks(a.segment, a.segment.source[a.row]!, b.segment, b.segment.source[b.row]!) ||
    compareBlocks(a.segment, a.segment.target[a.row]!, b.segment, b.segment.target[b.row]!)
  );
}
