import type { Evidence } from './finding.ts';

/**
 * An alert of a sensor's own detection, parsed and validated but not yet evaluated: ingest reads it, and detection
 * turns it into a finding. Source and destination are in the sensor's order, which may be reversed for a reply.
 */
interface SensorAlert {
  /** Context that the sensor recorded; undefined without context. */
  readonly evidence: Evidence | undefined;
  /** Event time, epoch milliseconds. */
  readonly timestamp: number;
  readonly src_ip: string | undefined;
  readonly src_port: number | undefined;
  readonly dst_ip: string | undefined;
  readonly dst_port: number | undefined;
  readonly transport: string | undefined;
}

/** `alert` of a Suricata EVE record (OISF/suricata etc/schema.json). */
export interface SuricataAlert extends SensorAlert {
  readonly gid: number;
  readonly signature_id: number;
  readonly rev: number | undefined;
  readonly signature: string;
  readonly category: string | undefined;
  /** Severity; 1 is the highest. Rules use 1–4, the field allows 255. */
  readonly severity: number;
  /** Action of the sensor, `allowed` or `blocked`. */
  readonly action: string | undefined;
  /** A name in the record's transaction: DNS question, TLS server name, HTTP host. */
  readonly domain: string | undefined;
  readonly metadata: SuricataMetadata;
}

/** Keys of a rule's `metadata` that matter for its findings; each holds a list of texts. */
export const suricataMetadataKeys = [
  'signature_severity',
  'confidence',
  'tag',
  'mitre_tactic_id',
  'mitre_tactic_name',
  'mitre_technique_id',
  'mitre_technique_name',
] as const;
export type SuricataMetadata = Readonly<Partial<Record<(typeof suricataMetadataKeys)[number], readonly string[]>>>;

/** A line of Zeek's notice.log (zeek scripts/base/frameworks/notice/main.zeek). */
export interface ZeekNotice extends SensorAlert {
  /** The type, such as `Scan::Port_Scan`. */
  readonly note: string;
  readonly msg: string | undefined;
  readonly sub: string | undefined;
}
