import type { IntelIndicator, IntelList } from '../../../contract/resources/intel-list.ts';
import { omitUndefined } from '../../../database/omit-undefined.ts';
import { type ExpiryTimes, expiredBy } from '../../intel/expiry-times.ts';
import type { Rejected } from '../../intel/indicator.ts';
import type { IndexedIndicator } from '../../intel/intel-index.ts';

/** Metadata of a list, without its content. */
export type IntelSettings = Pick<
  IntelList,
  'name' | 'description' | 'source' | 'severity' | 'confidence' | 'enabled' | 'expires_at' | 'default_valid_days'
>;

/** Metadata of a list's content. */
export interface IntelFacts {
  readonly format: IntelList['format'];
  readonly sha256: string;
  readonly indicators: number;
  /** Number of indicators without their own expiry. */
  readonly endless: number;
  readonly ends: ExpiryTimes;
  readonly rejected: readonly Rejected[];
  readonly rejectedTotal: number;
}

/** Parsed content. The index (`encodeIndicators`) is transferred, so the caller's buffer is detached. */
export interface IntelContent extends IntelFacts {
  readonly index: ArrayBuffer;
}

/** A list as stored. The index of the list is in the table `intelContents`. */
export interface IntelRow extends IntelSettings {
  readonly content: IntelFacts;
  readonly content_changed_at: string;
  readonly created_at: string;
  readonly changed_at: string;
  readonly version: number;
}

/** Number and time of events that matched a list. */
export interface IntelHits {
  readonly hits: number;
  /** Event time of the last hit, epoch milliseconds. */
  readonly last: number;
}

const dayMs = 86_400_000;

/**
 * Returns the end of validity for indicators without their own expiry, epoch milliseconds; undefined if the list sets
 * no default.
 */
export function endOfEndless({
  default_valid_days: days,
  content_changed_at,
}: Pick<IntelRow, 'default_valid_days' | 'content_changed_at'>): number | undefined {
  return days === undefined ? undefined : Date.parse(content_changed_at) + days * dayMs;
}

/**
 * Returns the list as defined in the contract.
 *
 * @param now - epoch milliseconds
 */
export function intelListOf(row: IntelRow, hits: IntelHits | undefined, now: number): IntelList {
  const { content, content_changed_at, created_at, changed_at, version, ...settings } = row;
  const endlessUntil = endOfEndless(row) ?? Number.POSITIVE_INFINITY;
  return {
    ...settings,
    format: content.format,
    indicators: content.indicators,
    expired: expiredBy(content.ends, now) + (endlessUntil <= now ? content.endless : 0),
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

/**
 * Returns an indicator as defined in the contract.
 *
 * @param endless - expiry of indicators without their own expiry
 */
export function intelIndicatorOf(
  { text, kind, exact, from, until, confidence, label }: IndexedIndicator,
  endless: number | undefined,
): IntelIndicator {
  const end = until ?? endless;
  return {
    value: text,
    kind,
    page: exact,
    ...omitUndefined({
      valid_from: from === undefined ? undefined : new Date(from).toISOString(),
      valid_until: end === undefined ? undefined : new Date(end).toISOString(),
      confidence: confidence === undefined ? undefined : confidence / 100,
      label,
    }),
  };
}
