import type { FormatName } from './formats.ts';

/** What the process that loads the service is told to do; it answers with a `Report`. */
export interface Plan {
  readonly url: string;
  readonly token: string;
  readonly format: FormatName;
  readonly linesPerBody: number;
  readonly seconds: number;
  /** Without a pace each has one request under way all the time; with one they are the most that there may be. */
  readonly connections: number;
  /**
   * Requests a second on average, at times that are drawn before (a Poisson process, as of many senders that know nothing
   * of each other), whether earlier ones are answered or not. Without it the next is sent when one is answered.
   */
  readonly requestsPerS?: number;
  /** It ends when so many were sent, if that is before its time. */
  readonly requests?: number;
}

export interface Report {
  /** That were acknowledged, and the events in them. */
  readonly requests: number;
  readonly events: number;
  /** Answers that said not now (429, 503). Without a pace the body is sent again, with one it is not. */
  readonly refused: number;
  /** From the first request to the last answer. */
  readonly elapsedS: number;
  /** Milliseconds to the acknowledgement, of each acknowledged request: from when it was first sent, or from when it was due. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** By how much 99 in a hundred requests at a pace were sent late at most, which is in those times. */
  readonly lateP99Ms: number;
  /** CPU of the process that loads. */
  readonly cpuS: number;
}
