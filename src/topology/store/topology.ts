import type { AssetRow } from '../../inventory/store/asset-row.ts';
import type { InventoryTables } from '../../inventory/store/tables.ts';
import { type LimitName, limits } from '../../limits.ts';
import type { Delta } from '../../projections/delta.ts';
import { hostNode } from '../model/blocks.ts';
import { limitEdges } from '../model/edge-limit.ts';
import { type Fresh, KnownGraph } from '../model/known-graph.ts';
import { mergeRuns } from '../model/merge.ts';
import { Nodes, printBlock } from '../model/nodes.ts';
import { type Level, levels, rollUp } from '../model/roll-up.ts';
import { encodeSegments, maxSegmentRows, Segment } from '../model/segment.ts';
import type { NodeName } from '../model/update.ts';
import { type GraphState, type RunSegment, rowsOf, type StepRow } from './graph-tables.ts';
import { currentName, renamedBy } from './names.ts';
import { chooseRuns, isCrowded, type Neighbours, withinRows, withRuns } from './runs.ts';
import { copySegments, graphState, lastStep, putSegments, removeSegments, segmentsAfter } from './segments.ts';
import type { TopologyTables } from './tables.ts';

export interface TopologyOptions {
  readonly tables: TopologyTables & Pick<InventoryTables, 'assets' | 'assetAddresses'>;
  /** 32 secret random bits. */
  readonly seed: number;
  /** Runs `write` in one transaction, which is flushed. */
  readonly transaction: (write: () => void) => void;
  /** Overrides of `limits`. */
  readonly most?: Partial<Most>;
}

interface Most {
  readonly edges: number;
  readonly hourRows: number;
  readonly dayRows: number;
  readonly updateRows: number;
  readonly steps: number;
}

/**
 * Once this many steps or rows wait, background work adds the steps to the runs. With larger groups of steps, rows are
 * merged less often.
 */
const due = { steps: 128, rows: 16_384 } as const;
/**
 * Once this many steps or rows wait, they are added to the runs immediately, so that waiting steps do not slow readers
 * down.
 */
const overdue = { steps: 512, rows: 262_144 } as const;
/** Maximum rows of steps that one transaction adds to the runs, in about 50 ms. */
const takenAtOnce = 16_384;

/**
 * Rows that a write merges for each row that it adds, while a level is crowded. Merging in all levels processes up to
 * 15 rows for each added row.
 */
const mergedPerRow = 16;

/** A merge in progress. The runs that it reads do not change before it is finished. */
interface Job extends Neighbours {
  readonly merged: Generator<Uint8Array<ArrayBuffer>>;
  readonly written: RunSegment[];
}

/**
 * The graph of flows, in the store thread. The projector sums flows into edges. `write`, at the end of a transaction,
 * stores the edges as a step, which subscribers of the channel also receive. `mergeSome` does background work, in
 * separate transactions. After a crash, flows that were only in memory are processed again from the stored checkpoint,
 * and segments of an unfinished merge are removed at the next start.
 *
 * The rows of each level are bounded, even if new edges arrive faster than the background work merges them:
 *
 * - After a merge, the oldest buckets of a level are removed until its largest run has at most `hourRows` or `dayRows`
 *   rows. The largest run of level `ever` has one row for each edge.
 * - The other runs may repeat rows of the largest run. If the other runs have more than half as many segments as the
 *   limit, `write` also merges: `mergedPerRow` rows for each row that it adds, which slows ingest down. A write of
 *   20,000 rows merges 20 segments, in about 20 ms each. Until a large merge ends, these runs grow to at most the
 *   limit.
 * - A merge in progress stores its rows a second time, and has nine segments in memory.
 */
export class Topology {
  readonly #tables: TopologyTables & Pick<InventoryTables, 'assets' | 'assetAddresses'>;
  readonly #seed: number;
  readonly #transaction: (write: () => void) => void;
  readonly #most: Most;
  /** Maximum rows of the largest run of each level after a merge. */
  readonly #maxRows: Readonly<Record<Level, number>>;
  /** Edges that are not written yet, by hour. */
  #taken: Segment[] = [];
  readonly #renamed = new Set<string>();
  #known: KnownGraph | undefined;
  /** Number of steps that are not in the runs yet, and number of their rows. */
  #waiting: { steps: number; rows: number } | undefined;
  #job: Job | undefined;
  /** The stored state. */
  #state: GraphState | undefined;
  #head: number | undefined;
  readonly #reached: Partial<Record<LimitName, number>> = {};

  constructor({ tables, seed, transaction, most }: TopologyOptions) {
    this.#tables = tables;
    this.#seed = seed;
    this.#transaction = transaction;
    this.#most = {
      edges: limits.maxTopologyEdges,
      hourRows: limits.maxTopologyHourRows,
      dayRows: limits.maxTopologyDayRows,
      updateRows: limits.maxTopologyUpdateRows,
      steps: limits.maxTopologyUpdates,
      ...most,
    };
    const { hourRows, dayRows, edges } = this.#most;
    this.#maxRows = { hour: hourRows, day: dayRows, ever: edges };
    this.#removeUnfinished();
  }

  /**
   * Number of times since the start that a limit changed the stored graph: writes that collapsed new edges, and
   * removals of the oldest hours or days.
   */
  get reached(): Readonly<Partial<Record<LimitName, number>>> {
    return this.#reached;
  }

  /** Number of written edges between hosts. */
  get edges(): number {
    this.#known ??= this.#recall();
    return this.#known.edges;
  }

  /** Number of sorted runs that hold the edges, in all levels. */
  get runs(): number {
    return levels.reduce((sum, level) => sum + this.#stateNow().runs[level].length, 0);
  }

  /** Sequence of the last step. */
  get head(): number {
    this.#head ??= lastStep(this.#tables);
    return this.#head;
  }

  get dirty(): number {
    return this.#taken.reduce((sum, { rows }) => sum + rows, this.#renamed.size);
  }

  take({ edges }: Pick<Delta, 'edges'>): void {
    for (const bytes of edges) this.#taken.push(new Segment(bytes));
  }

  /** Records hosts whose name changed, to notify subscribers. Called when an asset is written. */
  assetWritten(before: AssetRow | undefined, after: AssetRow | undefined): void {
    for (const ip of renamedBy(before, after)) this.#renamed.add(ip);
  }

  write(): void {
    if (this.dirty === 0) return;
    this.#known ??= this.#recall();
    const known = this.#known;
    const { opened, collapsed } = this.#limited(known);
    const segments = opened.map(({ encoded }) => encoded);
    const fresh = opened.map((segment) => known.add(segment));
    const nodes = new Nodes();
    const renamed = [...this.#renamed].filter((ip) => isKnown(known, nodes, ip));
    this.#taken = [];
    this.#renamed.clear();
    if (opened.length === 0 && renamed.length === 0) return;
    const isTold = opened.length <= 1 && edgesAmong(opened[0]) + renamed.length <= this.#most.updateRows;
    const seq = this.head + 1;
    const row: StepRow = {
      told: isTold,
      ...(isTold ? this.#told(opened[0], fresh[0], renamed) : {}),
    };
    this.#tables.topologySteps.putSync(seq, row);
    this.#head = seq;
    if (segments.length > 0) this.#tables.topologyStepEdges.putSync(seq, segments);
    const waiting = this.#waitingNow();
    if (collapsed) this.#reach('maxTopologyEdges');
    if (collapsed && !this.#stateNow().collapsed) this.#putState({ ...this.#stateNow(), collapsed });
    if (waiting.steps >= overdue.steps || waiting.rows >= overdue.rows) this.#take();
    const added = opened.reduce((sum, { rows }) => sum + rows, 0);
    for (let left = mergedPerRow * added; left > 0 && this.#isCrowded(); left -= maxSegmentRows)
      if (!this.#mergeNext()) break;
  }

  /** Returns the edges to write: one segment if possible, and only as many new edges as there is room for. */
  #limited(known: KnownGraph): { readonly opened: readonly Segment[]; readonly collapsed: boolean } {
    const taken = this.#taken;
    const rows = taken.reduce((sum, segment) => sum + segment.rows, 0);
    const hasRoom = known.edges + rows <= this.#most.edges;
    if (hasRoom && (taken.length <= 1 || rows > maxSegmentRows)) return { opened: taken, collapsed: false };
    const { edges, collapsed } = limitEdges(rollUp(taken, undefined, this.#seed), known, this.#most.edges, this.#seed);
    return { opened: encodeSegments(edges).map((bytes) => new Segment(bytes)), collapsed };
  }

  /**
   * Drops in-memory state, which may include changes that were never committed. Called after an aborted
   * transaction.
   */
  forget(): void {
    this.#taken = [];
    this.#renamed.clear();
    this.#known = undefined;
    this.#waiting = undefined;
    this.#job = undefined;
    this.#state = undefined;
    this.#head = undefined;
  }

  /**
   * Does a part of the background work in a separate transaction of about 10 ms; returns true if there may be
   * more work.
   */
  mergeSome(): boolean {
    let more = false;
    this.#transaction(() => {
      more = this.#mergeStep();
    });
    return more;
  }

  #mergeStep(): boolean {
    const waiting = this.#waitingNow();
    if (waiting.steps >= due.steps || waiting.rows >= due.rows) {
      this.#take();
      return true;
    }
    return this.#mergeNext();
  }

  /** Merges runs into the next segment of a run. Returns false if there are no runs to merge. */
  #mergeNext(): boolean {
    this.#job ??= this.#begin();
    const job = this.#job;
    if (job === undefined) return false;
    const { value, done } = job.merged.next();
    if (done === true) this.#finish(job);
    else job.written.push(...this.#put([value]));
    return true;
  }

  #told(segment: Segment | undefined, fresh: Fresh | undefined, renamed: readonly string[]) {
    const names: Record<string, NodeName> = {};
    const hosts = segment === undefined ? [] : hostsOf(segment);
    for (const ip of [...hosts, ...renamed]) {
      const name = currentName(this.#tables, ip);
      if (name !== undefined) names[ip] = name;
    }
    return {
      ...(fresh === undefined ? {} : { freshRows: fresh.rows, freshNodes: fresh.nodes }),
      ...(Object.keys(names).length === 0 ? {} : { names }),
      ...(renamed.length === 0 ? {} : { renamed }),
    };
  }

  #waitingNow(): { steps: number; rows: number } {
    const { taken } = this.#stateNow();
    const last = lastStep(this.#tables);
    const steps = last - taken;
    if (this.#waiting?.steps === steps) return this.#waiting;
    // Only the rows of new steps are counted, if the earlier steps have been counted.
    const from = this.#waiting === undefined || steps < this.#waiting.steps ? taken : taken + this.#waiting.steps;
    let rows = from === taken ? 0 : this.#waiting!.rows;
    for (const segment of segmentsAfter(this.#tables, from)) rows += segment.rows;
    this.#waiting = { steps, rows };
    return this.#waiting;
  }

  /** Adds the oldest steps to the runs of each level, and removes steps that are no longer needed. */
  #take(): void {
    const tables = this.#tables;
    const state = this.#stateNow();
    const last = lastStep(tables);
    const waiting = this.#waitingNow();
    const segments: Segment[] = [];
    let rows = 0;
    let taken = last;
    for (const { key, value } of tables.topologyStepEdges.getRange({ start: state.taken + 1 })) {
      for (const bytes of value) segments.push(new Segment(bytes));
      rows = segments.reduce((sum, segment) => sum + segment.rows, 0);
      if (rows < takenAtOnce || key === last) continue;
      taken = key;
      break;
    }
    this.#putState({ ...state, taken });
    for (const level of levels) {
      const edges = rollUp(segments, level, this.#seed);
      if (edges.count === 0) continue;
      const run = this.#put(encodeSegments(edges));
      const next = this.#stateNow();
      this.#putState(withRuns(next, level, [...next.runs[level], run]));
    }
    for (const { key, value } of tables.topologySteps.getRange({ start: state.taken + 1, end: taken + 1 }))
      if (!value.told) tables.topologyStepEdges.removeSync(key);
    const kept = Math.min(last - this.#most.steps, taken) + 1;
    for (const key of tables.topologySteps.getKeys({ end: kept })) {
      tables.topologySteps.removeSync(key);
      tables.topologyStepEdges.removeSync(key);
    }
    this.#waiting = { steps: last - taken, rows: waiting.rows - rows };
  }

  #begin(): Job | undefined {
    const state = this.#stateNow();
    const chosen = chooseRuns(state.runs);
    if (chosen === undefined) return undefined;
    const { level, from, to } = chosen;
    const runs = state.runs[level].slice(from, to);
    const rows = runs.reduce((sum, run) => sum + rowsOf(run), 0);
    const terms = {
      from: level === 'ever' ? 0 : state.floors[level],
      maxRows: Math.min(rows, maxSegmentRows),
    };
    const segments = runs.map((run) => copySegments(this.#tables, run));
    return { ...chosen, merged: mergeRuns(segments, this.#seed, terms), written: [] };
  }

  /** Replaces the source runs with the merged run. Newer runs may have been added in the meantime. */
  #finish({ level, from, to, written }: Job): void {
    this.#job = undefined;
    const state = this.#stateNow();
    const runs = state.runs[level];
    removeSegments(this.#tables, runs.slice(from, to).flat());
    const merged = written.length === 0 ? [] : [written];
    const next = withRuns(state, level, [...runs.slice(0, from), ...merged, ...runs.slice(to)]);
    this.#putState(this.#trimmed(next, level));
  }

  #isCrowded(): boolean {
    const { runs } = this.#stateNow();
    return levels.some((level) => isCrowded(runs[level], this.#maxRows[level]));
  }

  #trimmed(state: GraphState, level: Level): GraphState {
    if (level === 'ever') return state;
    const { runs, floor, gone } = withinRows(state.runs[level], state.floors[level], this.#maxRows[level]);
    removeSegments(this.#tables, gone);
    if (gone.length > 0) this.#reach(level === 'hour' ? 'maxTopologyHourRows' : 'maxTopologyDayRows');
    return { ...withRuns(state, level, runs), floors: { ...state.floors, [level]: floor } };
  }

  #reach(limit: LimitName): void {
    this.#reached[limit] = (this.#reached[limit] ?? 0) + 1;
  }

  #put(encoded: readonly Uint8Array<ArrayBuffer>[]): RunSegment[] {
    const state = this.#stateNow();
    const written = putSegments(this.#tables, encoded, state.nextId);
    this.#putState({ ...state, nextId: state.nextId + encoded.length });
    return written;
  }

  #stateNow(): GraphState {
    this.#state ??= graphState(this.#tables);
    return this.#state;
  }

  #putState(state: GraphState): void {
    this.#state = state;
    this.#tables.topologyState.putSync('graph', state);
  }

  /** Restores the known nodes and edges from stored segments, in 0.3 s for a million edges. */
  #recall(): KnownGraph {
    const known = new KnownGraph(this.#seed);
    const { runs, taken } = this.#stateNow();
    for (const run of runs.ever) for (const segment of copySegments(this.#tables, run)) known.add(segment);
    for (const segment of segmentsAfter(this.#tables, taken)) known.add(segment);
    return known;
  }

  #removeUnfinished(): void {
    const { runs } = this.#stateNow();
    const used = new Set(levels.flatMap((level) => runs[level].flat().map(({ id }) => id)));
    const unused = [...this.#tables.topologySegments.getKeys()].filter((id) => !used.has(id));
    if (unused.length > 0)
      this.#transaction(() => {
        for (const id of unused) this.#tables.topologySegments.removeSync(id);
      });
  }
}

/**
 * Counts the edges of a segment as subscribers receive them: each edge once, even if it occurs in several
 * hours.
 */
function edgesAmong(segment: Segment | undefined): number {
  const pairs = new Set<number>();
  if (segment === undefined) return 0;
  const { rows, source, target, nodeCount } = segment;
  for (let row = 0; row < rows; row++) pairs.add(source[row]! * nodeCount + target[row]!);
  return pairs.size;
}

/** Returns the addresses of the hosts of a segment. */
function hostsOf(segment: Segment): string[] {
  const hosts: string[] = [];
  for (let node = 0; node < segment.nodeCount; node++)
    if (segment.prefix[node] === 128 && segment.home[node] === 1) hosts.push(printBlock(segment, node));
  return hosts;
}

/** Returns whether a host is in the graph. Adds the host to `nodes`, which several calls may share. */
function isKnown(known: KnownGraph, nodes: Nodes, ip: string): boolean {
  const node = hostNode(nodes, ip);
  return node !== undefined && known.hasNode(nodes, node);
}
