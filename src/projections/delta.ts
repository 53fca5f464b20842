import type { FoundInEvents } from '../alerts/store/pending-findings.ts';
import type { Table } from '../events/records.ts';
import type { Pass } from '../inventory/model/pass.ts';
import type { LimitName } from '../limits.ts';
import type { DetectorLimit } from '../store/store.ts';

/** The first sequence of each table that is not processed. */
export type Sequences = Readonly<Record<Table, number>>;

/** Number of times that a limit dropped data since the last start of the projector, by limit and by detector. */
export interface ProjectorLimits {
  readonly reached: Readonly<Partial<Record<LimitName, number>>>;
  readonly detectors: readonly DetectorLimit[];
}

/** Hits of an intelligence list. `last` is the time of the newest event, epoch milliseconds. */
export interface ListHits {
  readonly list_id: string;
  readonly times: number;
  readonly last: number;
}

/**
 * Results for the stored events before `to` that no earlier delta includes. Contains only plain data.
 */
export interface Delta {
  /** Number of the projector's start that produced the delta. */
  readonly start: number;
  readonly from: Sequences;
  readonly to: Sequences;
  /** In the order of events. */
  readonly passes: readonly Pass[];
  /** Edges of the graph, encoded by `encodeSegments`. */
  readonly edges: readonly Uint8Array<ArrayBuffer>[];
  /** Sums of the dashboard, encoded by `encodeCells`, and the newest time of receipt. Absent without events. */
  readonly sums?: { readonly cells: Uint8Array; readonly received: number; readonly overflows: number };
  readonly findings: readonly FoundInEvents[];
  /** States of detectors, by id. */
  readonly states: readonly (readonly [detector: string, state: Uint8Array])[];
  readonly hits: readonly ListHits[];
  readonly limits: ProjectorLimits;
}

/** Where the projector starts, and what it leaves out. */
export interface ProjectorStart {
  readonly start: number;
  readonly from: Sequences;
  /** Events that are left out because processing them failed. */
  readonly skipped: readonly (readonly [table: Table, seq: number])[];
  /** Events that are processed one by one, because processing them together failed. */
  readonly suspects: readonly { readonly table: Table; readonly from: number; readonly to: number }[];
}

/**
 * The present time in epoch milliseconds: `now` by the host's clock, and `believed` by the clock that never jumps ahead
 * (see `Retention`).
 */
export interface Clocks {
  readonly now: number;
  readonly believed: number;
}

/** Messages to the projector. The first is `start`. */
export type ToProjector =
  | ({ readonly kind: 'start'; readonly clocks: Clocks } & ProjectorStart)
  /** Events before `to` are committed. The next pass does not cross `to` if `isBoundary`. */
  | {
      readonly kind: 'advance';
      readonly to: Sequences;
      readonly clocks: Clocks;
      readonly isBoundary: boolean;
      /** Whether a user's change or a request with `ack=processed` waits for these events. */
      readonly isAwaited: boolean;
    }
  /** A delta is committed. `costMs`: time that the store spent on it. */
  | { readonly kind: 'committed'; readonly costMs: number }
  /** Intelligence lists have changed. */
  | { readonly kind: 'intel' }
  /** Requests the last delta, with the states of all detectors. */
  | { readonly kind: 'finish' };

export type FromProjector =
  | { readonly kind: 'delta'; readonly delta: Delta }
  /** Processing stopped until the next `start`. `rows`: the events whose processing failed, if known. */
  | {
      readonly kind: 'failed';
      readonly start: number;
      readonly error: Error;
      readonly rows?: { readonly table: Table; readonly from: number; readonly to: number };
    }
  /** A row is damaged and left out. */
  | { readonly kind: 'damaged'; readonly row: string }
  | { readonly kind: 'finished' };

/** The store's side of the projector. */
export interface ProjectorPort {
  send(message: ToProjector): void;
  /** Ends the projector, without waiting for a delta. */
  close(): Promise<void>;
}
