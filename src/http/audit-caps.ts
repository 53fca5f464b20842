import { TokenBuckets } from '../admission/token-buckets.ts';
import type { AuditRecord } from '../contract/resources/audit-record.ts';
import { type LimitName, limits } from '../limits.ts';
import { addressGroup } from '../net/address-group.ts';
import { type AuditedAs, anonymous } from './audited-call.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const failureMs = minuteMs / limits.auditFailuresRefill;
const failureRate = { tokenMs: failureMs, bucketMs: limits.auditFailuresBurst * failureMs };

/** The `operation` of a record that covers calls of several operations. */
export const severalOperations = 'several';

interface Counted {
  readonly first: AuditRecord;
  count: number;
  /** Reasons why records of a sensor were not stored: at most `maxReasons`, and `moreReasons` if there are others. */
  readonly reasons: Set<string>;
}

/** Maximum number of reasons in one record, 160 characters each. */
const maxReasons = 8;
const moreReasons = 'other reasons';

/**
 * Decides which calls get an individual audit record. Other calls are counted by caller, operation and
 * outcome, and the counts become records when the minute is over. Every call is therefore recorded, and
 * frequent calls cannot evict earlier records.
 *
 * ```
 *   call ──► its caller's share of the minute ──► the share of all failures ──► an individual record
 *                        │ used up                          │ used up
 *                        └──────────────► counted ◄─────────┘ ──minute over──► a record with `count`
 * ```
 *
 * Attackers choose their addresses, so addresses of one IPv6 /64 count as one caller, and every map here has
 * a limit.
 */
export class AuditCaps {
  /** Number of individual records of this minute, by authenticated caller and kind. */
  readonly #principals = new Map<string, number>();
  /**
   * Number of individual records of this minute, by unauthenticated caller and kind. The map is separate from
   * `#principals` because the number of unauthenticated callers is unlimited.
   */
  readonly #strangers = new Map<string, number>();
  readonly #counted = new Map<string, Counted>();
  /**
   * Counts of ignored records of this hour, by sensor. Ignored records are routine: in a separate map, they do not
   * use up the room for counts of failures.
   */
  readonly #ignored = new Map<string, Counted>();
  #minuteStart = Number.NEGATIVE_INFINITY;
  #hourStart = Number.NEGATIVE_INFINITY;
  /** Limits the rate of individual records of failures. */
  readonly #failures = new TokenBuckets(failureRate);

  /**
   * Returns undefined if the call gets an individual record; otherwise counts the call and returns the limit.
   * Reads and changes have separate shares, so frequent reads cannot hide a change.
   */
  admit(record: AuditRecord, as: AuditedAs, nowMs: number): LimitName | undefined {
    if (this.#minuteStart === Number.NEGATIVE_INFINITY) this.#minuteStart = nowMs;
    const limit = this.#limitReached(record, as, nowMs);
    if (limit !== undefined) this.count(record);
    return limit;
  }

  /** Counts a call, or all calls that the record covers. */
  count(record: AuditRecord, reason?: string): void {
    const { actor, operation, source_address, outcome, code = '' } = record;
    const caller = actor === anonymous ? addressGroup(source_address) : actor;
    const key = `${caller} ${operation} ${outcome} ${code}`;
    this.#addTo(this.#counted, limits.maxAuditCounts, key, record, reason);
  }

  /** Counts records of a sensor that were ignored because of their kind. */
  countIgnored(record: AuditRecord, kind: string): void {
    this.#addTo(this.#ignored, limits.maxNotStoredSensors, record.actor, record, `ignored: ${kind}`);
  }

  /**
   * Removes and returns the counts of the minute and of the hour if they are over, or all counts if `all` is set.
   * Afterwards, each caller has its full share of individual records again.
   */
  due(nowMs: number, all = false): AuditRecord[] {
    if (!all && nowMs >= this.#minuteStart && nowMs - this.#minuteStart < minuteMs) return [];
    this.#minuteStart = nowMs;
    this.#principals.clear();
    this.#strangers.clear();
    const records = taken(this.#counted, nowMs);
    if (!all && nowMs >= this.#hourStart && nowMs - this.#hourStart < hourMs) return records;
    this.#hourStart = nowMs;
    return [...records, ...taken(this.#ignored, nowMs)];
  }

  #addTo(
    counts: Map<string, Counted>,
    max: number,
    key: string,
    record: AuditRecord,
    reason: string | undefined,
  ): void {
    const calls = record.count ?? 1;
    let counted = counts.get(key);
    if (counted === undefined) {
      if (counts.size >= max) {
        const { outcome, request_id, time } = record;
        // One record per outcome covers the calls of all other callers, operations and codes.
        const others = { ...several, request_id, outcome, time, count: calls };
        // A count without a reason is a number of calls; ignored records are not calls.
        const shared = counts === this.#ignored ? reason : undefined;
        return this.#addTo(counts, Number.POSITIVE_INFINITY, outcome, others, shared);
      }
      counted = { first: record, count: 0, reasons: new Set() };
      counts.set(key, counted);
    }
    counted.count += calls;
    if (reason !== undefined) addReason(counted.reasons, reason);
  }

  #limitReached({ actor, outcome, source_address }: AuditRecord, as: AuditedAs, nowMs: number): LimitName | undefined {
    const failed = outcome !== 'success';
    const share = failed ? 'auditFailuresPerMinute' : 'auditSuccessesPerMinute';
    const stranger = actor === anonymous;
    const taken = stranger ? this.#strangers : this.#principals;
    const caller = `${stranger ? addressGroup(source_address) : actor} ${failed ? 'failure' : as}`;
    const before = taken.get(caller) ?? 0;
    if (before >= limits[share]) return share;
    if (stranger && before === 0 && taken.size >= limits.maxAuditStrangers) return 'maxAuditStrangers';
    if (failed && this.#failures.take(nowMs) > 0) return 'auditFailuresBurst';
    taken.set(caller, before + 1);
    return undefined;
  }
}

/** Removes the counts and returns them as records. */
function taken(counts: Map<string, Counted>, nowMs: number): AuditRecord[] {
  const time = new Date(nowMs).toISOString();
  const records = Array.from(counts.values(), ({ first, count, reasons }): AuditRecord => {
    const { actor, actor_name, operation, request_id, source_address, outcome, code, sample } = first;
    const about = { actor, operation, request_id, source_address, outcome, time, count };
    // Names that unauthenticated callers submit may differ in each call.
    const named = actor !== anonymous && actor_name !== undefined ? { actor_name } : {};
    const reason = [...reasons].join('; ');
    return {
      ...about,
      ...named,
      ...(code && { code }),
      ...(reason && { reason }),
      ...(sample && { sample }),
    };
  });
  counts.clear();
  return records;
}

function addReason(reasons: Set<string>, reason: string): void {
  if (reasons.size < maxReasons || reasons.has(reason)) reasons.add(reason);
  else reasons.add(moreReasons);
}

/**
 * The fields of a record that covers calls of several kinds: `::` is the unspecified address (RFC 4291, 2.5.2).
 */
const several = { actor: anonymous, operation: severalOperations, source_address: '::' } as const;
