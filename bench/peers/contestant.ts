import type { Answer } from './engine.ts';
import type { Question } from './questions.ts';

/** An engine in one variant, as the run sees it: in a process of its own. One call at a time. */
export interface Contestant {
  readonly engine: string;
  readonly variant: string;
  /** Product and version, durability, what is particular to it. */
  readonly note: string;
  /** The process whose family's CPU and memory are its own. */
  readonly pid: number;
  /** Milliseconds from the first line sent to all durable. */
  load(files: readonly string[]): Promise<number>;
  finish(): Promise<void>;
  bytes(): Promise<readonly Size[]>;
  prepare(): Promise<void>;
  /** Milliseconds until the rows are objects in JavaScript, and what they say. */
  ask(question: Question): Promise<{ readonly ms: number; readonly answer: Answer }>;
  stop(): Promise<void>;
}

/** One measure of its size on disk, in bytes. */
export interface Size {
  readonly of: string;
  readonly bytes: number;
}
