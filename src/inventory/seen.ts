import type { EventBlock } from '../events/block.ts';
import type { AddressList } from '../events/column-readers.ts';

/** A host of the home networks that was seen to answer, as one address with at most one link-layer address. */
export interface HostSeen {
  /** In the canonical form of `printAddress`. */
  readonly ip: string;
  /** Epoch milliseconds. */
  readonly first: number;
  readonly last: number;
  /** When the latest of its connections began; undefined where that is unknown. */
  readonly began?: number | undefined;
  /** Lowercase with colons. */
  readonly mac?: string;
}

/** A port of a home host that was seen to answer. */
export interface ServiceSeen {
  readonly ip: string;
  readonly port: number;
  /** Lower case. */
  readonly transport: string;
  /** Application protocol in the sensor's word, where it recognised one. */
  readonly name?: string;
  /** Connections that were answered and not counted before: one counts with its first report that says so. */
  readonly connections: number;
  /** 32-bit hashes of the addresses that used it, without repetition. */
  readonly clients: Uint32Array;
  readonly first: number;
  readonly last: number;
}

/** What one network event says. The object is filled anew for the next row: what is needed later is read at once. */
export interface FlowFact {
  /** The lists of the block that it stands in. */
  srcs: AddressList;
  dsts: AddressList;
  /** Place of the originator in `srcs`, and of the responder in `dsts`. */
  src: number;
  dst: number;
  srcHome: boolean;
  dstHome: boolean;
  /** The responder was seen to answer, in this report of the connection or an earlier one. */
  answered: boolean;
  /** Port of the responder; NaN where it has no port, and for a ping. Other ICMP has its code. */
  port: number;
  transport: string;
  app: string | undefined;
  /**
   * 0 for a connection that was reported before, else 1. Of a home host also 1 in the first report that says that a
   * connection was answered: those before it were of an attempt, which stays counted at the host's network.
   */
  connections: number;
  /** Whether this is the first report of its connection. */
  isFirst: boolean;
  /** IP bytes both ways beyond those of an earlier report of the same connection. */
  bytes: number;
  /** Start and end, epoch milliseconds. */
  first: number;
  last: number;
}

/** Takes part in the pass over new events. */
export interface FlowSink {
  /** Rows of this block follow, from this one on, each as one fact. */
  begin?(block: EventBlock, from: number): void;
  flow(fact: Readonly<FlowFact>): void;
  /** That was the last of them. */
  end?(): void;
}
