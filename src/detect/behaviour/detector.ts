import type { ConnectionState, Severity } from '../../contract/vocabulary.ts';
import type { Evidence, Finding } from '../../events/finding.ts';
import type { Table } from '../../events/records.ts';

/** Identifies a stored event by its position in its table. */
export interface StoredEventRef {
  readonly table: Table;
  readonly seq: number;
}

/**
 * One report of a connection. The object is reused for the next row, so consumers must copy the values they
 * need later.
 */
export interface Flow {
  /** Position among network events. */
  seq: number;
  /** Start of the connection, epoch milliseconds; at most `limits.maxClockLeadMs` after receipt. */
  time: number;
  /**
   * Duration in milliseconds, limited so that the end is at most `limits.maxClockLeadMs` after receipt; NaN if unknown.
   */
  duration: number;
  /** Originator, in the canonical form of `printAddress`. */
  src: string;
  /** Responder, in the same form as `src`. */
  dst: string;
  /** True if the source address is in the home networks. */
  srcHome: boolean;
  /** True if the destination address is in the home networks. */
  dstHome: boolean;
  /**
   * Port of the responder; NaN without a port, and for a ping. Other ICMP messages have their code in this
   * field.
   */
  port: number;
  /** Transport protocol in lower case. */
  transport: string;
  /** Application protocol, as named by the sensor. */
  app: string | undefined;
  state: ConnectionState | undefined;
  /** True if the responder answered in this report or an earlier report of the connection. */
  answered: boolean;
  /** True for the first report of the connection. Sensors report open connections repeatedly. */
  isFirst: boolean;
  /** IP bytes of the originator since the previous report of the connection. */
  srcBytes: number;
  /** IP bytes of the responder since the previous report of the connection. */
  dstBytes: number;
  /** The sensor's id of the connection, if any. */
  connection: string | undefined;
  /** `hashText` of `src`, if already computed. */
  srcHash?: number;
  /** `hashText` of `dst`, if already computed. */
  dstHash?: number;
  /** `keyedHash` of `src`, if already computed. */
  srcKey?: number;
  /** `keyedHash` of `dst`, if already computed. */
  dstKey?: number;
  /**
   * Number of the block of events; undefined for events outside of blocks. Within a block, the same position means
   * the same address, so look-ups by address can be cached until the block changes: see `BlockCache`.
   */
  block?: number;
  /** Position of `src` in the block's list of addresses. */
  srcPlace?: number;
  dstPlace?: number;
}

/** One DNS event. The object is reused for the next row. */
export interface DnsLookup {
  /** Position among DNS events. */
  seq: number;
  /** Event time, epoch milliseconds; at most `limits.maxClockLeadMs` after receipt. */
  time: number;
  /** Client. */
  src: string;
  /** Resolver. */
  dst: string;
  srcHome: boolean;
  /** The name in lower case, without a final dot; empty if unknown. */
  query: string;
  /** Type of the query, such as `A` or `TXT`; undefined if unknown. */
  qtype: string | undefined;
  /** Response code (RFC 1035 section 4.1.1); NaN without an answer. */
  rcode: number;
  /** JSON text of the answers, `[{type, ttl, data}, …]`; undefined without answers. */
  answers: string | undefined;
}

/** A detector's conclusion about one key, from which an alert is made. */
export interface Detection {
  readonly title: string;
  readonly description: string;
  readonly severity: Severity;
  /** Confidence, 0–1. */
  readonly confidence: number;
  /** Event time of the newest counted event, epoch milliseconds. */
  readonly timestamp: number;
  /** Event time of the first counted event. */
  readonly began?: number;
  readonly ends: Pick<Finding, 'src_ip' | 'src_port' | 'dst_ip' | 'dst_port' | 'transport' | 'domain'>;
  /** Addresses that identify the alert, both by default. An address that may change is left out. */
  readonly keyed_by?: Finding['keyed_by'];
  /** Subject of the finding in addition to the addresses, if one pair of addresses can have several findings. */
  readonly about?: string;
  readonly evidence: Evidence;
  /** Some of the events that caused the detection, oldest first. */
  readonly events: readonly StoredEventRef[];
}

/** The constant parts of a detector's findings. */
export interface DetectorCard {
  /** Identifier of letters and dashes. Findings of the detector have the rule `behaviour.<id>`. */
  readonly id: string;
  /** Version of the state. A state of another version is not restored. */
  readonly version: number;
  readonly name: string;
  readonly category: string;
  readonly mitre: { readonly tactics: readonly string[]; readonly techniques: readonly string[] };
}

/** Late events and dropped keys since the detector was created, and keys that wait for a report. */
export interface DropCounts {
  /** Events older than the window of their key. */
  readonly late: number;
  /** Keys that were dropped to make room for other keys. */
  readonly forgotten: number;
  /** Reported keys with newer events that no report includes yet. */
  readonly stale: number;
}

/**
 * The reason why a key is reported. `new`: for the first time, or after a pause. `graver`: the severity is higher than
 * before. `grown`: the figures are larger than before. `ongoing`: the activity continues, but its figures have fallen.
 */
export type Due = 'new' | 'graver' | 'grown' | 'ongoing';

/** Receives a detection and the reason for the report, `new` by default. */
export type Emit = (detection: Detection, due?: Due) => void;

/**
 * Detects one kind of behaviour in stored events. A detector has no side effects, uses event time and no clock, and
 * uses bounded memory.
 *
 * Events arrive in the order of their sequences. `evaluate` reports changes, and is called before each commit, and
 * after at most a few thousand events. State is plain data that structured clone accepts. If two detectors each
 * received a part of the events, the merged detector makes the same reports as a detector that received all events.
 * Reports depend on the events, not on how the events were split.
 */
export interface Detector {
  readonly card: DetectorCard;
  flow?(flow: Readonly<Flow>): void;
  lookup?(lookup: Readonly<DnsLookup>): void;
  /**
   * Reports each detection over the threshold if it is new, became more severe, or continues after a pause.
   *
   * @param refreshes - true to report changed detections again, for a limited number of keys
   */
  evaluate(emit: Emit, refreshes?: boolean): void;
  /** Returns the complete state. */
  state(): unknown;
  /** Replaces the state by another state of the same version. */
  restore(state: unknown): void;
  /** Adds the state of another detector. */
  merge(state: unknown): void;
  readonly dropped: DropCounts;
}
