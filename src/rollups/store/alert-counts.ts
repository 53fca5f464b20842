import type { AlertRow, AlertTables } from '../../alerts/store/tables.ts';
import { type Level, levels, startOf } from '../model/levels.ts';
import { AlertTally } from '../model/view.ts';
import { floorOf, keyOf, removeOld } from './rollup-tables.ts';
import type { RollupTables } from './tables.ts';

/** Maximum number of old buckets that are removed when a new bucket begins. */
const removedAtOnce = 64;

type Counted = Pick<AlertRow, 'alert'>;
type CountedTables = Pick<RollupTables, 'rollupAlerts'> & Pick<AlertTables, 'alerts'>;

/**
 * Counts alerts by severity and status, and by the minute, hour and day in which they were last seen. The
 * counts are updated in the same transaction as the alert. All methods are called within transactions.
 */
export class AlertCounts {
  readonly #tables: CountedTables;
  readonly #now: () => number;

  /** @param now - returns the time in epoch milliseconds, which determines the expired buckets */
  constructor(tables: CountedTables, now: () => number) {
    this.#tables = tables;
    this.#now = now;
  }

  /** Updates the counts when an alert is saved; `before` is undefined for a new alert. */
  saved(before: Counted | undefined, after: Counted): void {
    const nowMs = this.#now();
    const to = startsOf(after);
    const from = before === undefined ? undefined : startsOf(before);
    for (const [i, level] of levels.entries()) {
      if (before !== undefined && from![i] === to[i] && placeOf(before) === placeOf(after)) continue;
      if (before !== undefined) this.#add(level, from![i]!, placeOf(before), -1, nowMs);
      this.#add(level, to[i]!, placeOf(after), 1, nowMs);
    }
  }

  #add(level: Level, start: number, place: number, delta: 1 | -1, nowMs: number): void {
    if (start < floorOf(level, nowMs)) return;
    const { rollupAlerts } = this.#tables;
    const key = keyOf(level, start);
    const known = rollupAlerts.get(key);
    const tally = known === undefined ? new AlertTally() : decodeAlerts(known);
    // The count may be too low, because the bucket may have been removed while the clock was ahead.
    tally.counts[place] = Math.max(0, tally.counts[place]! + delta);
    if (tally.total === 0) rollupAlerts.removeSync(key);
    else rollupAlerts.putSync(key, encodeAlerts(tally));
    if (known === undefined) removeOld(rollupAlerts, level, nowMs, removedAtOnce);
  }

  /**
   * Counts all stored alerts again, for files without counts, or with counts by a time other than `last_seen`.
   */
  countAll(): void {
    const nowMs = this.#now();
    this.#tables.rollupAlerts.clearSync();
    for (const { value } of this.#tables.alerts.getRange())
      for (const [i, start] of startsOf(value).entries()) this.#add(levels[i]!, start, placeOf(value), 1, nowMs);
  }
}

/**
 * Returns the starts of the alert's buckets, by level. The buckets are determined by the time when the alert was last
 * seen. If the alert was last changed before that time, the sensor's clock is ahead, and the time of the change is
 * used.
 */
function startsOf({ alert }: Counted): number[] {
  const time = Math.min(Date.parse(alert.last_seen), Date.parse(alert.updated_at));
  return levels.map((level) => startOf(level, time));
}

const placeOf = ({ alert }: Counted): number => AlertTally.place(alert.severity, alert.status);

function encodeAlerts({ counts }: AlertTally): Buffer {
  const bytes = Buffer.allocUnsafe(4 * counts.length);
  for (const [i, count] of counts.entries()) bytes.writeUInt32LE(count, 4 * i);
  return bytes;
}

export function decodeAlerts(bytes: Buffer): AlertTally {
  return new AlertTally(Float64Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readUInt32LE(4 * i)));
}
