import type { Answer } from './engine.ts';
import type { Question } from './questions.ts';

/** An engine in one variant, as the run uses it: in a separate process. One call at a time. */
export interface Peer {
  readonly engine: string;
  readonly variant: string;
  /** Product and version, durability, and particularities. */
  readonly note: string;
  /** The process whose CPU time and memory are measured, including those of its descendants. */
  readonly pid: number;
  /** Loads the files. Resolves to the milliseconds from the first line sent until all lines are durable. */
  load(files: readonly string[]): Promise<number>;
  finish(): Promise<void>;
  bytes(): Promise<readonly Size[]>;
  prepare(): Promise<void>;
  /** Runs a query. Resolves to the milliseconds until its rows are objects in JavaScript, and to its result. */
  ask(question: Question): Promise<{ readonly ms: number; readonly answer: Answer }>;
  stop(): Promise<void>;
}

/** A measure of the engine's size on disk, in bytes. */
export interface Size {
  readonly of: string;
  readonly bytes: number;
}
