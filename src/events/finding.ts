import type { Alert } from '../contract/resources/alert.ts';
import type { ruleSources, Severity } from '../contract/vocabulary.ts';

export type RuleSource = (typeof ruleSources)[number];

/** Numbers and texts of the evidence, by name. */
export type Evidence = Readonly<Record<string, EvidenceValue>>;
export type EvidenceValue = number | string | boolean | readonly (number | string)[];

/**
 * The result of a rule or detector for one event or activity. Alerts are made from findings. Repeated findings with the
 * same rule, source address and destination address become one alert. Plain data: it crosses threads packed by
 * `packDerived`.
 */
export interface Finding {
  /**
   * Identifier of the rule: Suricata `gid:sid`, the Zeek notice type, or a Sigma UUID. The revision of a rule
   * is not part of its identity.
   */
  readonly rule_id: string;
  readonly rule_name: string;
  readonly rule_source: RuleSource;
  readonly title: string;
  readonly description?: string;
  readonly category?: string;
  readonly severity: Severity;
  /** Confidence, 0–1. */
  readonly confidence?: number;
  /** Event time, epoch milliseconds. */
  readonly timestamp: number;
  /** Beginning of the activity, if earlier than the event. */
  readonly began?: number;
  readonly src_ip?: string;
  readonly src_port?: number;
  readonly dst_ip?: string;
  readonly dst_port?: number;
  readonly transport?: string;
  readonly domain?: string;
  readonly tags?: readonly string[];
  readonly mitre?: { readonly tactics: readonly string[]; readonly techniques: readonly string[] };
  /**
   * The addresses that identify the finding's alert, both by default. An address that is not listed may change as the
   * activity continues.
   */
  readonly keyed_by?: readonly ('src_ip' | 'dst_ip')[];
  /** The subject besides the addresses. Findings with different subjects become different alerts. */
  readonly about?: string;
  /**
   * The group of a correlation. Findings of a rule about one group become one alert, regardless of their
   * addresses.
   */
  readonly group?: string;
  /**
   * Marks a later report of a known activity, as opposed to a new occurrence. `graver` may create an alert if no alert
   * is open; `grown` and `ongoing` only refresh an alert, and `ongoing` leaves the evidence of the alert unchanged.
   */
  readonly continues?: 'graver' | 'grown' | 'ongoing';
  /** Number of reports that counted the same activity again, because it was first reported as several activities. */
  readonly joined?: number;
  /**
   * Time after the last finding during which the alert accepts further findings, in milliseconds, if longer
   * than configured.
   */
  readonly lasts_ms?: number;
  /** The values on which the detector based its decision, by name. */
  readonly evidence?: Evidence;
  /** The signature that matched, as the sensor describes it. */
  readonly signature?: Alert['signature'];
  /** The traffic that matched, as the sensor recorded it. */
  readonly payload?: Alert['payload'];
  /** Principals that sent the underlying records, without duplicates; absent if unknown. */
  readonly sensors?: readonly string[];
  /**
   * Position of the event that shows the finding: index of its block in the batch, and its row; absent if no
   * event was stored.
   */
  readonly event?: { readonly block: number; readonly row: number };
}
