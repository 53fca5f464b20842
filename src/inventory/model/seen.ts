import type { EventBlock } from '../../events/format/block.ts';
import type { AddressList } from '../../events/format/column-readers.ts';

/** A home host that answered: one address with at most one link-layer address. */
export interface HostSeen {
  /** Address in the canonical form of `printAddress`. */
  readonly ip: string;
  /** Time when the host was first seen, epoch milliseconds. */
  readonly first: number;
  /** Time when the host was last seen, epoch milliseconds. */
  readonly last: number;
  /** Start of the host's latest connection; undefined if unknown. */
  readonly began?: number | undefined;
  /** MAC address, lowercase with colons. */
  readonly mac?: string;
}

/** A port of a home host that answered. */
export interface ServiceSeen {
  readonly ip: string;
  readonly port: number;
  /** Transport protocol in lower case. */
  readonly transport: string;
  /** Application protocol as the sensor calls it, if recognised. */
  readonly name?: string;
  /**
   * Number of answered connections. A connection is counted with the first report that shows that it was
   * answered.
   */
  readonly connections: number;
  /** 32-bit hashes of client addresses, without repetition. */
  readonly clients: Uint32Array;
  readonly first: number;
  readonly last: number;
}

/**
 * The contents of one network event. The object is reused for the next row, so sinks must read it
 * immediately.
 */
export interface FlowFact {
  /** Originators' addresses of the event's block. */
  srcs: AddressList;
  /** Responders' addresses of the event's block. */
  dsts: AddressList;
  /** Index of the originator in `srcs`. */
  src: number;
  /** Index of the responder in `dsts`. */
  dst: number;
  srcHome: boolean;
  dstHome: boolean;
  /** Whether the responder answered, according to this or an earlier report of the connection. */
  answered: boolean;
  /** Port of the responder; NaN without a port and for pings. For other ICMP messages, the code. */
  port: number;
  transport: string;
  app: string | undefined;
  /**
   * 1 in the first report of a connection, otherwise 0. If the responder is a home host, also 1 in the first
   * report that shows that the connection was answered. Earlier reports of the connection were counted as attempts on
   * the network of the host, not on the host.
   */
  connections: number;
  /** Whether this is the first report of the connection. */
  isFirst: boolean;
  /** Whether this is the first report that shows that the responder answered. */
  isFirstAnswered: boolean;
  /** IP bytes in both directions beyond the bytes of earlier reports of the connection. */
  bytes: number;
  /** Start of the connection, epoch milliseconds. */
  first: number;
  /** End of the connection, epoch milliseconds. */
  last: number;
}

/** Receives the rows of a pass over new events. */
export interface FlowConsumer {
  /** Announces rows of a block, from row `from` on. Each row is then passed to `flow`. */
  begin?(block: EventBlock, from: number): void;
  flow(fact: Readonly<FlowFact>): void;
  /** Called after the last row. */
  end?(): void;
}
