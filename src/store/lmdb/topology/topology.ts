import type { FlowFact } from '../../../inventory/seen.ts';
import { type LimitName, limits } from '../../../limits.ts';
import { hostNode } from '../../../topology/blocks.ts';
import { EdgeFold } from '../../../topology/edge-fold.ts';
import { type Fresh, KnownGraph } from '../../../topology/known-graph.ts';
import { mergeRuns } from '../../../topology/merge.ts';
import { Nodes, printBlock } from '../../../topology/nodes.ts';
import { type Level, levels, rollUp } from '../../../topology/roll-up.ts';
import { withinRoom } from '../../../topology/room.ts';
import { encodeSegments, maxSegmentRows, Segment } from '../../../topology/segment.ts';
import type { NodeName } from '../../../topology/update.ts';
import type { AssetRow } from '../../asset-row.ts';
import type { Tables } from '../tables.ts';
import { type GraphState, type RunSegment, rowsOf, type StepRow } from './graph-tables.ts';
import { currentName, renamedBy } from './names.ts';
import { chooseRuns, type Neighbours, withinRows, withRuns } from './runs.ts';
import {
  copySegments,
  graphState,
  lastStep,
  putSegments,
  removeSegments,
  segmentsAfter,
} from './segments.ts';

export interface TopologyOptions {
  readonly tables: Tables;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** 32 secret random bits. */
  readonly seed: number;
  /** Runs in one transaction, flushed. */
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
 * Waiting steps and rows at which steps are taken into the runs: in the background, and at once when they
 * would slow readers down. With single events, each is a step: the more are taken at once, the less often the
 * same rows are merged again.
 */
const due = { steps: 128, rows: 16_384 } as const;
const overdue = { steps: 512, rows: 262_144 } as const;
/** Rows of steps that one transaction takes into the runs: some 50 ms. */
const takenAtOnce = 16_384;

/** A running merge: the runs that it reads do not change until it is done. */
interface Job extends Neighbours {
  readonly merged: Generator<Uint8Array<ArrayBuffer>>;
  readonly written: RunSegment[];
}

/**
 * The graph of flows, in the store thread. Flows are added up in memory; `write`, at the end of a
 * transaction, stores them as a step, which is also what subscribers of the channel receive. `mergeSome` is
 * background work, in transactions of its own. After a crash, flows that were only in memory are processed
 * again from the inventory's position, and segments of an unfinished merge are removed at the next start.
 */
export class Topology {
  readonly #tables: Tables;
  readonly #seed: number;
  readonly #transaction: (write: () => void) => void;
  readonly #most: Most;
  readonly #fold: EdgeFold;
  readonly #renamed = new Set<string>();
  #known: KnownGraph | undefined;
  /** Steps, and their rows, that are not in the runs yet. */
  #waiting: { steps: number; rows: number } | undefined;
  #job: Job | undefined;
  /** As in the table. */
  #state: GraphState | undefined;
  readonly #reached: Partial<Record<LimitName, number>> = {};

  constructor({ tables, now, seed, transaction, most }: TopologyOptions) {
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
    this.#fold = new EdgeFold(() => now() + limits.topologyHorizonMs, seed);
    this.#removeUnfinished();
  }

  /**
   * How often a limit changed the stored graph since this was opened: writes that collapsed new edges, and
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

  get dirty(): number {
    return this.#fold.rows + this.#renamed.size;
  }

  flow(fact: Readonly<FlowFact>): void {
    this.#fold.flow(fact);
  }

  /** Called when an asset is written: subscribers are notified of hosts whose name changed. */
  assetWritten(before: AssetRow | undefined, after: AssetRow | undefined): void {
    for (const ip of renamedBy(before, after)) this.#renamed.add(ip);
  }

  write(): void {
    if (this.dirty === 0) return;
    this.#known ??= this.#recall();
    const known = this.#known;
    const { edges, collapsed } = withinRoom(this.#fold.edges, known, this.#most.edges, this.#seed);
    const segments = encodeSegments(edges);
    const opened = segments.map((bytes) => new Segment(bytes));
    const fresh = opened.map((segment) => known.add(segment));
    const nodes = new Nodes();
    const renamed = [...this.#renamed].filter((ip) => isKnown(known, nodes, ip));
    this.#fold.clear();
    this.#renamed.clear();
    if (opened.length === 0 && renamed.length === 0) return;
    const isTold = opened.length <= 1 && edgesAmong(opened[0]) + renamed.length <= this.#most.updateRows;
    const seq = lastStep(this.#tables) + 1;
    const row: StepRow = {
      told: isTold,
      ...(isTold ? this.#told(opened[0], fresh[0], renamed) : {}),
    };
    this.#tables.topologySteps.putSync(seq, row);
    if (segments.length > 0) this.#tables.topologyStepEdges.putSync(seq, segments);
    const waiting = this.#waitingNow();
    if (collapsed) this.#reach('maxTopologyEdges');
    if (collapsed && !this.#stateNow().collapsed) this.#putState({ ...this.#stateNow(), collapsed });
    if (waiting.steps >= overdue.steps || waiting.rows >= overdue.rows) this.#take();
  }

  /** Called after an aborted transaction: memory may hold state that was never committed. */
  forget(): void {
    this.#fold.clear();
    this.#renamed.clear();
    this.#known = undefined;
    this.#waiting = undefined;
    this.#job = undefined;
    this.#state = undefined;
  }

  /**
   * Does a part of the background work, some 10 ms of it, in its own transaction; returns true when there may
   * be more.
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
    // There is one more step than known, or steps from before this start.
    const from =
      this.#waiting === undefined || steps < this.#waiting.steps ? taken : taken + this.#waiting.steps;
    let rows = from === taken ? 0 : this.#waiting!.rows;
    for (const segment of segmentsAfter(this.#tables, from)) rows += segment.rows;
    this.#waiting = { steps, rows };
    return this.#waiting;
  }

  /** Takes the oldest steps into the runs of each level, and removes steps that are no longer needed. */
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
    let next: GraphState = { ...state, taken };
    this.#putState(next);
    for (const level of levels) {
      const edges = rollUp(segments, level, this.#seed);
      if (edges.count === 0) continue;
      const run = this.#put(encodeSegments(edges));
      next = this.#stateNow();
      next = withRuns(next, level, [...next.runs[level], run]);
      this.#putState(this.#job?.level === level ? next : this.#trimmed(next, level));
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

  /** Replaces the source runs with the merged run; newer runs may have been added after them. */
  #finish({ level, from, to, written }: Job): void {
    this.#job = undefined;
    const state = this.#stateNow();
    const runs = state.runs[level];
    removeSegments(this.#tables, runs.slice(from, to).flat());
    const merged = written.length === 0 ? [] : [written];
    const next = withRuns(state, level, [...runs.slice(0, from), ...merged, ...runs.slice(to)]);
    this.#putState(this.#trimmed(next, level));
  }

  #trimmed(state: GraphState, level: Level): GraphState {
    if (level === 'ever') return state;
    const most = level === 'hour' ? this.#most.hourRows : this.#most.dayRows;
    const { runs, floor, gone } = withinRows(state.runs[level], state.floors[level], most);
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

  /** Restores the known nodes and edges from stored segments: 0.3 s for a million edges. */
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

/** Counts the edges of a segment as subscribers receive them: each once, however many hours have it. */
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

/** Whether a host is in the graph; adds it to `nodes`, which several calls share. */
function isKnown(known: KnownGraph, nodes: Nodes, ip: string): boolean {
  const node = hostNode(nodes, ip);
  return node !== undefined && known.hasNode(nodes, node);
}
