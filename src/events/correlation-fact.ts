/** Whom a match is about, as alerts name the ends of what happened. Addresses as the sensor wrote them. */
export interface MatchEnds {
  readonly src_ip?: string;
  readonly src_port?: number;
  readonly dst_ip?: string;
  readonly dst_port?: number;
  readonly transport?: string;
  readonly domain?: string;
}

/**
 * What the match of a rule tells one correlation that names the rule, in the ingest thread that saw it. The store takes
 * it in the order of commits. Plain data: it crosses threads by structured clone.
 */
export interface CorrelationFact {
  /** Key of the correlation. */
  readonly correlation: string;
  /** Key of the rule. */
  readonly rule: string;
  /** Event time, epoch milliseconds. */
  readonly timestamp: number;
  /** Values of the fields to group by; null where the record has none. */
  readonly group: readonly (string | null)[];
  /** What is counted. */
  readonly value: string | null;
  /** For correlations of the correlation. */
  readonly carried: readonly (string | null)[];
  readonly ends: MatchEnds;
  /** The principal that sent the record. */
  readonly sensor_id?: string;
  /** The event: the n-th block of the batch and its row; absent when none was stored. */
  readonly event?: { readonly block: number; readonly row: number };
}
