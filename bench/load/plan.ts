import type { FormatName, MixName } from './formats.ts';

/** Instructions for the process that loads the service; it replies with a `Report`. */
export interface Plan {
  /** Base URL of the service, or `tcp://host:port` of a daemon that receives lines without a reply. */
  readonly url: string;
  readonly token: string;
  readonly format: FormatName | MixName;
  readonly linesPerBody: number;
  readonly seconds: number;
  /**
   * Number of connections. Without a rate, each connection always has one request open; with a rate, this is the
   * maximum.
   */
  readonly connections: number;
  /**
   * Requests per second on average, at times drawn in advance (a Poisson process, like many independent senders),
   * whether or not earlier requests have a response. Without a rate, the next request is sent after a response.
   */
  readonly requestsPerS?: number;
  /** Number of distinct lines, which recur with other times and identifiers. Default: enough for twelve bodies. */
  readonly lines?: number;
  /** Number of requests after which the run ends early. */
  readonly requests?: number;
}

export interface Report {
  /**
   * Number of acknowledged requests. For a protocol without replies: number of bodies that the operating system accepted.
   */
  readonly requests: number;
  readonly events: number;
  /** Number of refusals (429, 503). Without a rate, the body is sent again; with a rate, it is not. */
  readonly refused: number;
  /** Seconds from the first request to the last response; without replies, until the last body was handed over. */
  readonly elapsedS: number;
  /**
   * Median time to the acknowledgement of a request, in milliseconds: from its first attempt or, at a fixed rate, from
   * its due time.
   */
  readonly p50Ms: number;
  /** 99th percentile of the time to the acknowledgement of a request, in milliseconds. */
  readonly p99Ms: number;
  /** Maximum time to the acknowledgement of a request, in milliseconds. */
  readonly maxMs: number;
  /** 99th percentile of the delay in sending a request at a fixed rate; the other times include this delay. */
  readonly lateP99Ms: number;
  /** CPU of the load generator. */
  readonly cpuS: number;
}
