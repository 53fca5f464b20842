import type { Evidence } from './finding.ts';

/**
 * What a sensor's own detection says, read and checked but not yet judged: ingest makes it of a sensor's record,
 * detection makes a finding of it. Ends are as the sensor wrote them, which for a reply may be against the
 * direction of the flow.
 */
interface SensorAlert {
  /** What the record carries along of what the sensor saw; undefined where it carries nothing. */
  readonly evidence: Evidence | undefined;
  /** Epoch milliseconds. */
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
  /** 1 is the highest; rules use 1–4, the field allows 255. */
  readonly severity: number;
  /** `allowed` or `blocked`. */
  readonly action: string | undefined;
  /** The name that the transaction in the same record was about: DNS question, TLS server name, HTTP host. */
  readonly domain: string | undefined;
  readonly metadata: SuricataMetadata;
}

/** Keys of a rule's `metadata` that say something about its findings; every one holds a list of texts. */
export const suricataMetadataKeys = [
  'signature_severity',
  'confidence',
  'tag',
  'mitre_tactic_id',
  'mitre_tactic_name',
  'mitre_technique_id',
  'mitre_technique_name',
] as const;
export type SuricataMetadata = Readonly<
  Partial<Record<(typeof suricataMetadataKeys)[number], readonly string[]>>
>;

/** A line of Zeek's notice.log (zeek scripts/base/frameworks/notice/main.zeek). */
export interface ZeekNotice extends SensorAlert {
  /** The type, such as `Scan::Port_Scan`. */
  readonly note: string;
  readonly msg: string | undefined;
  readonly sub: string | undefined;
}
