import { invalidField } from '../errors.ts';
import { limits } from '../limits.ts';
import type { UnsignedEntry } from './ledger.ts';

/**
 * Rejects entries that occurred outside a window around the append (`limits.maxEntryAgeMs`,
 * `limits.maxEntryAheadMs`), because the log vouches for their times.
 *
 * @throws INVALID_REQUEST that names the field, prefixed with `where`
 */
export function checkWindow(entry: UnsignedEntry, nowMs: number, where: string): void {
  if (isWithin(entry, nowMs)) return;
  throw invalidField(
    `${where}.occurred_at`,
    `must be within ${limits.maxEntryAgeMs / 3_600_000} h before and ${limits.maxEntryAheadMs / 60_000} min after ` +
      `the time of the append (${new Date(nowMs).toISOString()})`,
  );
}

/**
 * Returns the entry as it can be appended at `nowMs`. An entry outside the window, because it waited or because the
 * clock was wrong, gets the time of the append, and its original time becomes `data.delayed_from`. Code that appends
 * entries created earlier must call this function.
 */
export function datedForAppend(entry: UnsignedEntry, nowMs: number): UnsignedEntry {
  if (isWithin(entry, nowMs)) return entry;
  const data = { delayed_from: entry.occurred_at, ...entry.data };
  return { ...entry, occurred_at: new Date(nowMs).toISOString(), data };
}

/** Returns true for an unreadable time, because `draftEntry` rejects it. */
function isWithin({ occurred_at }: UnsignedEntry, nowMs: number): boolean {
  const ageMs = nowMs - Date.parse(occurred_at);
  return !(ageMs > limits.maxEntryAgeMs || ageMs < -limits.maxEntryAheadMs);
}
