import type { CorrelationFact } from '../events/correlation-fact.ts';
import type { Finding } from '../events/finding.ts';
import type { SuricataAlert, ZeekNotice } from '../events/sensor-alert.ts';
import type { JsonObject } from './fields.ts';

/** What judges the alerts of sensors, given by who composes ingest and detection. Pure, and never throws. */
export interface Detectors {
  suricataAlert(alert: SuricataAlert): Finding;
  zeekNotice(notice: ZeekNotice): Finding;
  /** What is asked about every record that is taken or ignored; absent where there are no rules. */
  readonly rules?: Rules | undefined;
}

/** Rules over records as they came. */
export interface Rules {
  /**
   * @param kind - `zeek.<log>`, `suricata.<event_type>`, `ecs.<what>`, `candor.network_event` or `candor.dns_event`
   * @param timeOf - when it happened, epoch milliseconds
   */
  ask(kind: string, record: JsonObject, timeOf: () => number, sink: Found): void;
}

/** What takes what rules find in one record. */
export interface Found {
  /** The event that the record has become; undefined where none is stored. */
  readonly event: Finding['event'];
  hit(rule: string): void;
  find(finding: Finding): void;
  tell(fact: CorrelationFact): void;
  slow(rule: string, ms: number): void;
}

/** Rules as a task names them: a thread that has another version makes them of the documents. */
export interface RulesInEffect {
  readonly version: number;
  /** Shared, not moved. */
  readonly documents: SharedArrayBuffer;
}
