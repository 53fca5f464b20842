import type { Alert } from '../contract/resources/alert.ts';
import type { ruleSources, Severity } from '../contract/vocabulary.ts';

export type RuleSource = (typeof ruleSources)[number];

/** Figures and names, each under what it is called. */
export type Evidence = Readonly<Record<string, EvidenceValue>>;
export type EvidenceValue = number | string | boolean | readonly (number | string)[];

/**
 * What a detector saw in one event: the raw material of alerts. Findings of one rule, source and destination
 * address that recur become one alert. Plain data: it crosses threads by structured clone.
 */
export interface Finding {
  /** Suricata `gid:sid`, the Zeek notice type, a Sigma UUID. The revision of a rule is not part of its identity. */
  readonly rule_id: string;
  readonly rule_name: string;
  readonly rule_source: RuleSource;
  readonly title: string;
  readonly description?: string;
  readonly category?: string;
  readonly severity: Severity;
  /** 0–1. */
  readonly confidence?: number;
  /** Event time, epoch milliseconds. */
  readonly timestamp: number;
  /** When what was found began, where that was earlier. */
  readonly began?: number;
  readonly src_ip?: string;
  readonly src_port?: number;
  readonly dst_ip?: string;
  readonly dst_port?: number;
  readonly transport?: string;
  readonly domain?: string;
  readonly tags?: readonly string[];
  readonly mitre?: { readonly tactics: readonly string[]; readonly techniques: readonly string[] };
  /** The addresses that tell its alert from others, both by default. The other one may change as more is seen. */
  readonly keyed_by?: readonly ('src_ip' | 'dst_ip')[];
  /** What it is about beside its addresses: findings about different things are different alerts. */
  readonly about?: string;
  /** The group of a correlation: findings of a rule about one group are one alert, whatever addresses they have. */
  readonly group?: string;
  /**
   * A later report of an activity that was reported before, which is no other occurrence: `graver` may begin an alert
   * where none is open; `grown` and `ongoing` only refresh one, `ongoing` without its figures.
   */
  readonly continues?: 'graver' | 'grown' | 'ongoing';
  /** It was reported as several occurrences, and so too often by this number. */
  readonly joined?: number;
  /** How long it goes on to be the same alert after it was found last, where that is longer than is set: milliseconds. */
  readonly lasts_ms?: number;
  /** What the detector saw, by name: the figures that it judged by. */
  readonly evidence?: Evidence;
  /** The signature that matched, as the sensor describes it, and the traffic. */
  readonly signature?: Alert['signature'];
  readonly payload?: Alert['payload'];
  /** Principals whose records it rests on, each once; absent where that is unknown. */
  readonly sensors?: readonly string[];
  /** The event that shows it: the n-th block of the batch and its row; absent when no event was stored. */
  readonly event?: { readonly block: number; readonly row: number };
}
