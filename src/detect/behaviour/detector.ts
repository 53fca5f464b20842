import type { ConnectionState, Severity } from '../../contract/vocabulary.ts';
import type { Evidence, Finding } from '../../events/finding.ts';
import type { Table } from '../../events/records.ts';

/** Which stored event: its place in the order of its table. */
export interface EventRef {
  readonly table: Table;
  readonly seq: number;
}

/** One report of a connection. The object is filled anew for the next row: what is needed later is copied. */
export interface Flow {
  /** Place in the order of network events. */
  seq: number;
  /** When the connection began, epoch milliseconds; never later than it was received, give or take a clock's lead. */
  time: number;
  /** Milliseconds, and no more than there were until it was received; NaN where unknown. */
  duration: number;
  /** Originator and responder, in the canonical form of `printAddress`. */
  src: string;
  dst: string;
  /** Whether they are in the home networks. */
  srcHome: boolean;
  dstHome: boolean;
  /** Port of the responder; NaN where it has no port, and for a ping. Other ICMP has its code. */
  port: number;
  /** Lower case. */
  transport: string;
  /** Application protocol in the sensor's word. */
  app: string | undefined;
  state: ConnectionState | undefined;
  /** The responder was seen to answer, in this report or an earlier one of the connection. */
  answered: boolean;
  /** The first report of the connection. Sensors report one again while it is open. */
  isFirst: boolean;
  /** IP bytes that the originator and the responder sent beyond those of earlier reports of the connection. */
  srcBytes: number;
  dstBytes: number;
  /** Sensor's id of the connection, where it gave one. */
  connection: string | undefined;
  /** `hashText` of both ends, where somebody has it. */
  srcHash?: number;
  dstHash?: number;
  /**
   * Which block of events it stands in, counted, and the places of its ends in the block's lists: of the same block, the
   * same place is the same address. What is looked up by an address can so be kept until the block changes: see
   * `OfBlock`. Undefined where there are none.
   */
  block?: number;
  srcPlace?: number;
  dstPlace?: number;
}

/** One DNS event. The object is filled anew for the next row. */
export interface Lookup {
  /** Place in the order of DNS events. */
  seq: number;
  /** As of `Flow`. */
  time: number;
  /** Client and resolver. */
  src: string;
  dst: string;
  srcHome: boolean;
  /** Lower case, without a final dot; empty where unknown. */
  query: string;
  /** `A`, `TXT` …; undefined where unknown. */
  qtype: string | undefined;
  /** RFC 1035 section 4.1.1; NaN for what was not answered. */
  rcode: number;
  /** JSON text of the answers, `[{type, ttl, data}, …]`; undefined where there are none. */
  answers: string | undefined;
}

/** What a detector concludes of one key: the raw material of an alert. */
export interface Sighted {
  readonly title: string;
  readonly description: string;
  readonly severity: Severity;
  /** 0–1. */
  readonly confidence: number;
  /** Event time of the newest event that counted, epoch milliseconds … */
  readonly timestamp: number;
  /** … and of the first. */
  readonly began?: number;
  readonly ends: Pick<Finding, 'src_ip' | 'src_port' | 'dst_ip' | 'dst_port' | 'transport' | 'domain'>;
  /** The ends that tell its alert from others: both by default. An end that may come to be another one is not among them. */
  readonly keyed_by?: Finding['keyed_by'];
  /** What it is about beside the addresses of its ends, where one pair of them can have several. */
  readonly about?: string;
  readonly evidence: Evidence;
  /** Some of the events that show it, oldest first. */
  readonly events: readonly EventRef[];
}

/** What is always the same about a detector's findings. */
export interface DetectorCard {
  /** Letters and dashes. Its findings are of rule `behaviour.<id>`. */
  readonly id: string;
  /** Of what `state` gives: that of another version is not restored. */
  readonly version: number;
  readonly name: string;
  readonly category: string;
  readonly mitre: { readonly tactics: readonly string[]; readonly techniques: readonly string[] };
}

/** How often something was not counted, since the detector was made. */
export interface Left {
  /** Events older than the window of their key. */
  readonly late: number;
  /** Keys that were forgotten for others. */
  readonly forgotten: number;
  /** Keys that were reported and added to since: their reports are to be refreshed. */
  readonly stale: number;
}

/**
 * Why a key is reported: `new`, for the first time or after a pause; `graver`, more severe than before; `grown`, with
 * larger figures than before; `ongoing`, only because it goes on, while its figures have fallen.
 */
export type Due = 'new' | 'graver' | 'grown' | 'ongoing';

/** Takes what is reported, `new` unless it is said why. */
export type Tell = (sighted: Sighted, due?: Due) => void;

/**
 * Recognises one kind of behaviour in stored events: pure, without a clock, in event time, in bounded memory.
 *
 * Events are told in the order of their sequences, and now and then `judge` is asked what changed since: at least
 * before anything is committed, at most every some hundred events. State is plain data that structured clone takes. Two
 * detectors that were told of parts of the events, merged, judge as one that was told of all: whether something is told
 * depends on what was counted, not on how it was cut into pieces.
 */
export interface Detector {
  readonly card: DetectorCard;
  flow?(flow: Readonly<Flow>): void;
  lookup?(lookup: Readonly<Lookup>): void;
  /**
   * Reports what is over its threshold and was not reported before, or is graver, or goes on after a pause.
   *
   * @param refreshes - whether what was reported before is reported again where it was added to, a limited number of keys
   */
  judge(tell: Tell, refreshes?: boolean): void;
  /** All that it remembers. */
  state(): unknown;
  /** In place of what it remembers; of the same version of the detector. */
  restore(state: unknown): void;
  /** Adds what another remembers. */
  merge(state: unknown): void;
  readonly left: Left;
}
