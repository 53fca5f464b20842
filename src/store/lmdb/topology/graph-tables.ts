import type { Floors } from '../../../topology/cover.ts';
import type { Level } from '../../../topology/roll-up.ts';
import type { NodeName } from '../../../topology/update.ts';

/**
 * The graph of flows in siem.mdb:
 *
 * ```
 *   steps      … 96  97  98  99 100 101     what each checkpoint added, by the hour
 *                         ^ taken            those up to here are in the runs of each level as well
 *   runs of a level   ████████ ████ ██ █     each sorted, its segments of 16,384 rows at most; merged in the background
 * ```
 *
 * So a checkpoint writes one small row; readers take the runs, and what the steps past `taken` add. Steps are kept as
 * long as subscribers may ask for them.
 */
export interface StepRow {
  /** False where it is more than subscribers are told: then it says no more, and its edges go once they are taken. */
  readonly told: boolean;
  /** As in `Fresh`; absent where only names changed. */
  readonly freshRows?: Uint8Array;
  readonly freshNodes?: Uint8Array;
  readonly names?: Readonly<Record<string, NodeName>>;
  /** Addresses of hosts of the graph whose name, asset or risk changed. */
  readonly renamed?: readonly string[];
}

/** The edges of a step, apart from it because they may be many: encoded segments, one where it is told. */
export type StepEdges = readonly Uint8Array[];

export interface RunSegment {
  readonly id: number;
  readonly rows: number;
  readonly min: number;
  readonly max: number;
  readonly bytes: number;
}

/** Segments in ascending order of rows. */
export type RunRow = readonly RunSegment[];

/** What the runs are: changed with them, in one transaction. */
export interface GraphState {
  /** The last step that is in the runs. */
  readonly taken: number;
  /** Oldest first. */
  readonly runs: Readonly<Record<Level, readonly RunRow[]>>;
  readonly floors: Floors;
  /** Of the next segment. */
  readonly nextId: number;
  /** New edges were put together once. */
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
