/** The addresses and ports of a match, named as in alerts. Addresses are in the sensor's spelling. */
export interface MatchEnds {
  readonly src_ip?: string;
  readonly src_port?: number;
  readonly dst_ip?: string;
  readonly dst_port?: number;
  readonly transport?: string;
  readonly domain?: string;
}

/**
 * A match of a rule, for one correlation that names the rule. Ingest threads find matches. The store processes facts
 * in the order of commits. Plain data: it crosses threads packed by `packDerived`.
 */
export interface CorrelationFact {
  /** Key of the correlation. */
  readonly correlation: string;
  /** Key of the rule. */
  readonly rule: string;
  /** Event time, epoch milliseconds. */
  readonly timestamp: number;
  /** Values of the group-by fields; null for missing values. */
  readonly group: readonly (string | null)[];
  /** The counted value. */
  readonly value: string | null;
  /** Values carried for outer correlations that name this correlation. */
  readonly carried: readonly (string | null)[];
  readonly ends: MatchEnds;
  /** The principal that sent the record. */
  readonly sensor_id?: string;
  /**
   * The position of the event: index of its block in the batch, and its row; absent if no event was stored.
   */
  readonly event?: { readonly block: number; readonly row: number };
}
