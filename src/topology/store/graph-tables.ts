import type { Floors } from '../model/range-buckets.ts';
import type { Level } from '../model/roll-up.ts';
import type { NodeName } from '../model/update.ts';

/*
 * The graph of flows in siem.mdb:
 *
 * ```
 *   steps      … 96  97  98  99 100 101     added by each checkpoint, per hour
 *                         ^ taken            steps up to here are also in the runs of each level
 *   runs of a level   ████████ ████ ██ █     each sorted, in segments of at most 16,384 rows; merged in the background
 * ```
 *
 * A checkpoint writes one small row; readers combine the runs with the steps after `taken`. Steps are stored
 * as long as subscribers may request them.
 */

/** A step, except its edges. */
export interface StepRow {
  /**
   * Whether subscribers receive the step. If the step is too large for subscribers, the row has no other fields, and
   * the edges of the step are removed after they are in the runs.
   */
  readonly told: boolean;
  /** Encoded `rows` of `Fresh`; absent if only names changed. */
  readonly freshRows?: Uint8Array;
  /** Encoded `nodes` of `Fresh`; absent if only names changed. */
  readonly freshNodes?: Uint8Array;
  readonly names?: Readonly<Record<string, NodeName>>;
  /** Addresses of hosts in the graph whose name, asset or risk changed. */
  readonly renamed?: readonly string[];
}

/**
 * The edges of a step, stored separately because there may be many edges. They are encoded segments: a single
 * segment if `told` is true.
 */
export type StepEdges = readonly Uint8Array[];

export interface RunSegment {
  readonly id: number;
  readonly rows: number;
  readonly min: number;
  readonly max: number;
  readonly bytes: number;
}

/** The segments of a run, in the order of their rows. */
export type RunRow = readonly RunSegment[];

/** Description of the runs, updated in the same transaction as the runs. */
export interface GraphState {
  /** Sequence of the last step that is in the runs. */
  readonly taken: number;
  /** Runs of each level, oldest first. */
  readonly runs: Readonly<Record<Level, readonly RunRow[]>>;
  readonly floors: Floors;
  /** Id of the next segment. */
  readonly nextId: number;
  /** Whether new edges were ever collapsed because of a limit. */
  readonly collapsed: boolean;
}

export const emptyGraph: GraphState = {
  taken: 0,
  runs: { hour: [], day: [], ever: [] },
  floors: { hour: 0, day: 0 },
  nextId: 1,
  collapsed: false,
};

export const rowsOf = (run: RunRow): number => run.reduce((sum, { rows }) => sum + rows, 0);
