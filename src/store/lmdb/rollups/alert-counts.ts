import { type Level, levels, startOf } from '../../../rollups/levels.ts';
import { AlertTally } from '../../../rollups/view.ts';
import type { AlertRow, Tables } from '../tables.ts';
import { floorOf, keyOf, removeOld } from './rollup-tables.ts';

/** Old buckets removed when a new one begins. */
const removedAtOnce = 64;

type Counted = Pick<AlertRow, 'alert'>;

/**
 * Counts alerts per severity and status by when they were last seen, per minute, hour and day. Adjusted with
 * each change of an alert, in its transaction. All methods are called within transactions.
 */
export class AlertCounts {
  readonly #tables: Tables;
  readonly #now: () => number;

  /** @param now - epoch milliseconds; buckets older than the retention of their level are removed by it */
  constructor(tables: Tables, now: () => number) {
    this.#tables = tables;
    this.#now = now;
  }

  /** Called when an alert is saved; `before` is undefined for a new one. */
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
    // A clock that was ahead may have removed the bucket.
    tally.counts[place] = Math.max(0, tally.counts[place]! + delta);
    if (tally.total === 0) rollupAlerts.removeSync(key);
    else rollupAlerts.putSync(key, encodeAlerts(tally));
    if (known === undefined) removeOld(rollupAlerts, level, nowMs, removedAtOnce);
  }

  /**
   * Counts all stored alerts again, for files where they were not counted or were counted by another time.
   */
  countAll(): void {
    const nowMs = this.#now();
    this.#tables.rollupAlerts.clearSync();
    for (const { value } of this.#tables.alerts.getRange())
      for (const [i, start] of startsOf(value).entries())
        this.#add(levels[i]!, start, placeOf(value), 1, nowMs);
  }
}

/**
 * Returns the starts of the alert's buckets, by level: when it was last seen, or last changed if that was
 * earlier, since a sensor's clock may be ahead.
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
