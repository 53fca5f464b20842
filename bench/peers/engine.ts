import type { Question } from './questions.ts';

/**
 * One engine in one variant, in the process that measures it. One call at a time. A fresh folder of its own holds all
 * that it writes.
 */
export interface Engine {
  /** Product and version, as the engine itself says them. */
  readonly version: string;
  /** Takes the lines of these files, in order; resolves when they are as durable as the variant says, and queryable. */
  load(files: readonly string[]): Promise<void>;
  /** Merges and checkpoints what is to be, so that size and questions are of data at rest. */
  finish(): Promise<void>;
  /** Bytes on disk of the events, free space not counted. After `finish`. */
  bytes(): Promise<number>;
  /** Makes what only questions need (indices), which counts neither as load nor as bytes. After `bytes`. */
  prepare(): Promise<void>;
  ask(question: Question): Promise<Answer>;
  close(): Promise<void>;
}

/**
 * What must be the same of all engines: of a page its rows and the time of the first, epoch milliseconds; of a total or
 * the busiest talker the count. Empty where an engine may estimate.
 */
export type Answer = readonly number[];

export interface EngineOptions {
  /** Where the engine is: the folder with the `node_modules` that it is in, or that of its programs. */
  readonly packages: string;
  /** Empty folder for data. */
  readonly folder: string;
  /** Key of the engine's variants. */
  readonly variant: string;
}

/** What an engine's file exports: its variants, to be measured one by one, and what opens one. */
export interface EngineModule {
  readonly variants: Readonly<Record<string, Variant>>;
  open(options: EngineOptions): Promise<Engine>;
}

export interface Variant {
  readonly note: string;
  /** Whether what it has taken outlives a power cut. */
  readonly durable: boolean;
  /** Whether it commits each 10,000 lines, as a body is acknowledged; else a round at once. */
  readonly perBody: boolean;
}
