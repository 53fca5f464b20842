import type { Finding } from '../events/finding.ts';
import type { RuleSink } from '../events/rule-sink.ts';
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
  ask(kind: string, record: JsonObject, timeOf: () => number, sink: RuleSink): void;
}
