import type { Question } from './questions.ts';

/**
 * An engine in one variant, in the process that measures it. One call at a time. It writes only to its own empty
 * folder.
 */
export interface Engine {
  /** Product and version, as reported by the engine. */
  readonly version: string;
  /**
   * Loads the lines of these files, in order; resolves when they are queryable, and as durable as the variant
   * says.
   */
  load(files: readonly string[]): Promise<void>;
  /** Merges and checkpoints, so that size and queries are measured on data at rest. */
  finish(): Promise<void>;
  /** Returns the bytes on disk of the events, without free space. Called after `finish`. */
  bytes(): Promise<number>;
  /** Creates indices that only queries need; they count neither as load time nor as bytes. Called after `bytes`. */
  prepare(): Promise<void>;
  ask(question: Question): Promise<Answer>;
  close(): Promise<void>;
}

/**
 * The part of a result that must be the same for all engines. For a page: its rows and the time of the first row,
 * epoch milliseconds. For a total or the busiest talker: the count. Empty if an engine may estimate.
 */
export type Answer = readonly number[];

export interface EngineOptions {
  /** Folder with the engine's `node_modules`, or with its programs. */
  readonly packages: string;
  /** Empty folder for data. */
  readonly folder: string;
  /** Key of the variant in `variants`. */
  readonly variant: string;
}

/** The exports of an engine's file: its variants, measured one by one, and a function that opens one. */
export interface EngineModule {
  readonly variants: Readonly<Record<string, Variant>>;
  open(options: EngineOptions): Promise<Engine>;
}

export interface Variant {
  readonly note: string;
  /** Whether acknowledged events survive a power failure. */
  readonly durable: boolean;
  /**
   * Whether the engine commits after every 10,000 lines, as Candor does after each body; otherwise it commits once
   * per round.
   */
  readonly perBody: boolean;
}
