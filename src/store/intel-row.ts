import type { IntelIndicator, IntelList } from '../contract/resources/intel-list.ts';
import { type Ends, endedBy } from '../detect/intel/ends.ts';
import type { Rejected } from '../detect/intel/indicator.ts';
import type { IndexedIndicator } from '../detect/intel/intel-index.ts';
import { present } from './present.ts';

/** Metadata of a list, without its content. */
export type IntelTerms = Pick<
  IntelList,
  | 'name'
  | 'description'
  | 'source'
  | 'severity'
  | 'confidence'
  | 'enabled'
  | 'expires_at'
  | 'default_valid_days'
>;

/** Metadata of a list's content. */
export interface IntelFacts {
  readonly format: IntelList['format'];
  readonly sha256: string;
  readonly indicators: number;
  /** Number of indicators without an expiry of their own. */
  readonly endless: number;
  readonly ends: Ends;
  readonly rejected: readonly Rejected[];
  readonly rejectedTotal: number;
}

/** Parsed content. The index (`encodeIndicators`) is transferred: the caller's is detached. */
export interface IntelContent extends IntelFacts {
  readonly index: ArrayBuffer;
}

/** A list as stored; its index is in another table. */
export interface IntelRow extends IntelTerms {
  readonly content: IntelFacts;
  readonly content_changed_at: string;
  readonly created_at: string;
  readonly changed_at: string;
  readonly version: number;
}

/** How often events matched a list. */
export interface IntelHits {
  readonly hits: number;
  /** Event time of the last one, epoch milliseconds. */
  readonly last: number;
}

const dayMs = 86_400_000;

/**
 * Epoch milliseconds until which indicators without an expiry of their own are valid; undefined if the list
 * sets no default.
 */
export function endOfEndless({
  default_valid_days: days,
  content_changed_at,
}: Pick<IntelRow, 'default_valid_days' | 'content_changed_at'>): number | undefined {
  return days === undefined ? undefined : Date.parse(content_changed_at) + days * dayMs;
}

/** Returns the list as in the contract. @param now - epoch milliseconds */
export function intelListOf(row: IntelRow, hits: IntelHits | undefined, now: number): IntelList {
  const { content, content_changed_at, created_at, changed_at, version, ...terms } = row;
  const endlessUntil = endOfEndless(row) ?? Number.POSITIVE_INFINITY;
  return {
    ...terms,
    format: content.format,
    indicators: content.indicators,
    expired: endedBy(content.ends, now) + (endlessUntil <= now ? content.endless : 0),
    rejected: [...content.rejected],
    rejected_total: content.rejectedTotal,
    content_sha256: content.sha256,
    content_changed_at,
    hits: hits?.hits ?? 0,
    ...(hits === undefined ? {} : { last_hit_at: new Date(hits.last).toISOString() }),
    created_at,
    changed_at,
    version,
  };
}

/** Returns an indicator as in the contract. @param endless - expiry of indicators without their own */
export function intelIndicatorOf(
  { text, kind, exact, from, until, confidence, label }: IndexedIndicator,
  endless: number | undefined,
): IntelIndicator {
  const end = until ?? endless;
  return {
    value: text,
    kind,
    page: exact,
    ...present({
      valid_from: from === undefined ? undefined : new Date(from).toISOString(),
      valid_until: end === undefined ? undefined : new Date(end).toISOString(),
      confidence: confidence === undefined ? undefined : confidence / 100,
      label,
    }),
  };
}
