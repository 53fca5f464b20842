import { invalidField } from '../errors.ts';
import { limits } from '../limits.ts';
import type { UnsignedEntry } from './ledger.ts';

/**
 * Entries state when something occurred, and the log vouches for it: only what occurred around the append is accepted
 * (`limits.maxEntryAgeMs`, `limits.maxEntryAheadMs`).
 *
 * @throws INVALID_REQUEST that names the field; `where` starts its name
 */
export function checkWindow(entry: UnsignedEntry, nowMs: number, where: string): void {
  if (isWithin(entry, nowMs)) return;
  throw invalidField(
    `${where}.occurred_at`,
    `must lie within ${limits.maxEntryAgeMs / 3_600_000} h before and ${limits.maxEntryAheadMs / 60_000} min after ` +
      `the time of the append (${new Date(nowMs).toISOString()})`,
  );
}

/**
 * The entry as it can be appended now. An entry that waited for longer than the window allows, or that a wrong clock
 * dated, gets the time of the append, and its own time becomes `data.delayed_from`. Everything that appends entries
 * which were made earlier calls this.
 */
export function datedForAppend(entry: UnsignedEntry, nowMs: number): UnsignedEntry {
  if (isWithin(entry, nowMs)) return entry;
  const data = { delayed_from: entry.occurred_at, ...entry.data };
  return { ...entry, occurred_at: new Date(nowMs).toISOString(), data };
}

/** True also for a time that cannot be read, which `draftEntry` reports. */
function isWithin({ occurred_at }: UnsignedEntry, nowMs: number): boolean {
  const ageMs = nowMs - Date.parse(occurred_at);
  return !(ageMs > limits.maxEntryAgeMs || ageMs < -limits.maxEntryAheadMs);
}
