import type { CorrelationFact } from '../events/correlation-fact.ts';
import type { Finding } from '../events/finding.ts';
import type { SuricataAlert, ZeekNotice } from '../events/sensor-alert.ts';
import type { JsonObject } from './fields.ts';

/**
 * Converts alerts of sensors to findings. Supplied by the code that composes ingest and detection. The functions
 * have no side effects, and never throw.
 */
export interface Detectors {
  suricataAlert(alert: SuricataAlert): Finding;
  zeekNotice(notice: ZeekNotice): Finding;
  /** Rules that are evaluated for every accepted or ignored record; absent without rules. */
  readonly rules?: Rules | undefined;
}

/** Rules that are evaluated on records as they were received. */
export interface Rules {
  /**
   * Evaluates the rules on a record.
   *
   * @param kind - `zeek.<log>`, `suricata.<event_type>`, `ecs.<what>`, `candor.network_event` or
   *   `candor.dns_event`
   * @param timeOf - returns the time of the record in epoch milliseconds
   */
  ask(kind: string, record: JsonObject, timeOf: () => number, sink: Found): void;
}

/** Receives the results of rules for one record. */
export interface Found {
  /** The event of the record; undefined if no event is stored. */
  readonly event: Finding['event'];
  hit(rule: string): void;
  find(finding: Finding): void;
  tell(fact: CorrelationFact): void;
  slow(rule: string, ms: number): void;
}

/**
 * Reference to the rules of a task. A thread that has another version of the rules compiles this version from the
 * documents.
 */
export interface RulesInEffect {
  readonly version: number;
  /** Packed documents, which are shared between threads and not transferred. */
  readonly documents: SharedArrayBuffer;
}
