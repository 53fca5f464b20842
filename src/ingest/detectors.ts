import type { Finding } from '../events/finding.ts';
import type { SuricataAlert, ZeekNotice } from '../events/sensor-alert.ts';

/** What judges the alerts of sensors, given by who composes ingest and detection. Pure, and never throws. */
export interface Detectors {
  suricataAlert(alert: SuricataAlert): Finding;
  zeekNotice(notice: ZeekNotice): Finding;
}
