import { levels, startOf } from '../../../rollups/levels.ts';
import { AlertTally } from '../../../rollups/view.ts';
import type { AlertRow, Tables } from '../tables.ts';
import { floorOf, keyOf, removeOld } from './rollup-tables.ts';

/** Old buckets that go when a new one begins. */
const removedAtOnce = 64;

type Counted = Pick<AlertRow, 'alert'>;

/**
 * How many alerts of each severity and status were created in each minute, hour and day: adjusted with each change, in
 * its transaction. All is called within transactions.
 */
export class AlertCounts {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /** An alert is being saved, a new one where there is none before. */
  saved(before: Counted | undefined, after: Counted, nowMs: number): void {
    const from = before === undefined ? undefined : placeOf(before);
    const to = placeOf(after);
    if (from === to) return;
    const created = Date.parse(after.alert.created_at);
    for (const level of levels) {
      const start = startOf(level, created);
      if (start < floorOf(level, nowMs)) continue;
      const key = keyOf(level, start);
      const known = this.#tables.rollupAlerts.get(key);
      const tally = known === undefined ? new AlertTally() : decodeAlerts(known);
      // Of a bucket that a clock which was ahead had removed, there may be none left.
      if (from !== undefined) tally.counts[from] = Math.max(0, tally.counts[from]! - 1);
      tally.counts[to]!++;
      this.#tables.rollupAlerts.putSync(key, encodeAlerts(tally));
      if (known === undefined) removeOld(this.#tables.rollupAlerts, level, nowMs, removedAtOnce);
    }
  }

  /** Counts all that are stored, where none was counted. */
  countAll(nowMs: number): void {
    this.#tables.rollupAlerts.clearSync();
    const created = new Map<string, AlertTally>();
    for (const { value } of this.#tables.alerts.getRange())
      for (const level of levels) {
        const start = startOf(level, Date.parse(value.alert.created_at));
        if (start < floorOf(level, nowMs)) continue;
        const key = JSON.stringify(keyOf(level, start));
        const tally = created.get(key) ?? new AlertTally();
        tally.counts[placeOf(value)]!++;
        created.set(key, tally);
      }
    for (const [key, tally] of created)
      this.#tables.rollupAlerts.putSync(JSON.parse(key), encodeAlerts(tally));
  }
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
