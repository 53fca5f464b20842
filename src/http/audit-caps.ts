import { addressGroup } from '../address-group.ts';
import type { AuditRecord } from '../contract/resources/audit-record.ts';
import { type LimitName, limits } from '../limits.ts';
import { type AuditedAs, anonymous } from './audited-call.ts';

const minuteMs = 60_000;

/** Stands for the operation of a record of calls of different ones. */
export const severalOperations = 'several';

interface Counted {
  readonly first: AuditRecord;
  count: number;
  /** Why records of a sensor were rejected, at most `maxReasons`. */
  readonly reasons: Set<string>;
}

/** Reasons that a record names: 160 characters each. */
const maxReasons = 8;
const moreReasons = 'other reasons';

/**
 * Which calls get an audit record of their own. The others are counted, by who or where from, what and how it ended,
 * and what was counted becomes records once the minute is over: nothing goes unsaid, and nobody can push the history
 * out by calling often.
 *
 * ```
 *   call ──► its caller's share of the minute ──► what all failures may have ──► a record of its own
 *                        │ used up                          │ used up
 *                        └──────────────► counted ◄─────────┘ ──minute over──► a record with `count`
 * ```
 *
 * Addresses are the attacker's to choose: those of one /64 of IPv6 are one caller, and every map here has a limit.
 */
export class AuditCaps {
  /** Owned here: records of this minute by caller and kind, strangers apart because there may be any number of them. */
  readonly #principals = new Map<string, number>();
  readonly #strangers = new Map<string, number>();
  readonly #counted = new Map<string, Counted>();
  #minuteStart = Number.NEGATIVE_INFINITY;
  /** Records that failures may still have, and when that was so. */
  #failures: number = limits.auditFailuresBurst;
  #failuresAt = Number.NEGATIVE_INFINITY;

  /**
   * Undefined where the call gets a record of its own; otherwise it was counted, and this is the limit. Who reads often
   * hides no change behind it.
   */
  admit(record: AuditRecord, as: AuditedAs, nowMs: number): LimitName | undefined {
    if (this.#minuteStart === Number.NEGATIVE_INFINITY) this.#minuteStart = nowMs;
    const limit = this.#limitReached(record, as, nowMs);
    if (limit !== undefined) this.count(record);
    return limit;
  }

  /** Counts a call, or as many as its record stands for. */
  count(record: AuditRecord, reasons: readonly string[] = []): void {
    const calls = record.count ?? 1;
    const { actor, operation, source_address, outcome, code = '' } = record;
    const caller = actor === anonymous ? addressGroup(source_address) : actor;
    const key = `${caller} ${operation} ${outcome} ${code}`;
    let counted = this.#counted.get(key);
    if (counted === undefined) {
      if (this.#counted.size >= limits.maxAuditCounts) return this.#countAmongOthers(record, calls);
      counted = { first: record, count: 0, reasons: new Set() };
      this.#counted.set(key, counted);
    }
    counted.count += calls;
    for (const reason of reasons) addReason(counted.reasons, reason);
  }

  /** What was counted in minutes that are over, or all of it with `all`; it is the caller's now. */
  due(nowMs: number, all = false): AuditRecord[] {
    if (!all && nowMs >= this.#minuteStart && nowMs - this.#minuteStart < minuteMs) return [];
    this.#minuteStart = nowMs;
    this.#principals.clear();
    this.#strangers.clear();
    const time = new Date(nowMs).toISOString();
    const records = Array.from(this.#counted.values(), ({ first, count, reasons }): AuditRecord => {
      const { actor, actor_name, operation, request_id, source_address, outcome, code } = first;
      const about = { actor, operation, request_id, source_address, outcome, time, count };
      // Names that unknown callers gave differ from call to call.
      const named = actor !== anonymous && actor_name !== undefined ? { actor_name } : {};
      const reason = [...reasons].join('; ');
      return { ...about, ...named, ...(code && { code }), ...(reason && { reason }) };
    });
    this.#counted.clear();
    return records;
  }

  #limitReached(
    { actor, outcome, source_address }: AuditRecord,
    as: AuditedAs,
    nowMs: number,
  ): LimitName | undefined {
    const failed = outcome !== 'success';
    const share = failed ? 'auditFailuresPerMinute' : 'auditSuccessesPerMinute';
    const stranger = actor === anonymous;
    const taken = stranger ? this.#strangers : this.#principals;
    const caller = `${stranger ? addressGroup(source_address) : actor} ${failed ? 'failure' : as}`;
    const before = taken.get(caller) ?? 0;
    if (before >= limits[share]) return share;
    if (stranger && before === 0 && taken.size >= limits.maxAuditStrangers) return 'maxAuditStrangers';
    if (failed && !this.#takeFailure(nowMs)) return 'auditFailuresBurst';
    taken.set(caller, before + 1);
    return undefined;
  }

  /** A bucket that fills by and by. */
  #takeFailure(nowMs: number): boolean {
    const minutes = Math.max(0, nowMs - this.#failuresAt) / minuteMs;
    this.#failures = Math.min(
      limits.auditFailuresBurst,
      this.#failures + minutes * limits.auditFailuresRefill,
    );
    this.#failuresAt = nowMs;
    if (this.#failures < 1) return false;
    this.#failures--;
    return true;
  }

  /** One record for each outcome: of several callers, operations and codes. */
  #countAmongOthers(record: AuditRecord, calls: number): void {
    const { outcome, request_id, time } = record;
    const known = this.#counted.get(outcome);
    if (known !== undefined) {
      known.count += calls;
      return;
    }
    const first = { ...several, request_id, outcome, time };
    this.#counted.set(outcome, { first, count: calls, reasons: new Set() });
  }
}

function addReason(reasons: Set<string>, reason: string): void {
  if (reasons.size < maxReasons || reasons.has(reason)) reasons.add(reason);
  else reasons.add(moreReasons);
}

/** What a record says that stands for calls of different kinds: `::` is the unspecified address (RFC 4291, 2.5.2). */
const several = { actor: anonymous, operation: severalOperations, source_address: '::' } as const;
