/**
 * Widths of time buckets, ascending. The index of a level is the number of the level in keys. Days are in UTC.
 */
export const levels = ['minute', 'hour', 'day'] as const;
export type Level = (typeof levels)[number];

export const widthMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const satisfies Record<Level, number>;

/** Returns the start of the bucket that contains the time. */
export const startOf = (level: Level, timeMs: number): number => Math.floor(timeMs / widthMs[level]) * widthMs[level];

const endOf = (level: Level, timeMs: number): number => Math.ceil(timeMs / widthMs[level]) * widthMs[level];

/** Whole buckets of one level, [from, to) in epoch milliseconds. */
export interface Part {
  readonly level: Level;
  readonly from: number;
  readonly to: number;
}

/**
 * Returns the smallest set of whole buckets that covers [from, to), in order of time. `from` and `to` are whole
 * minutes. Without `to`, the last part has no end.
 *
 * ```
 *   from                                                         to
 *    │ minutes │    hours    │   days   │   hours   │ minutes     │
 * ```
 */
export function cover(from: number, to: number = Number.POSITIVE_INFINITY): Part[] {
  const parts: Part[] = [];
  const add = (level: Level, start: number, end: number) => {
    if (start < end) parts.push({ level, from: start, to: end });
  };
  const fill = (start: number, end: number, up: number): void => {
    const level = levels[up]!;
    const wider = levels[up + 1];
    if (wider === undefined) return add(level, start, end);
    const first = endOf(wider, start);
    const last = end === Number.POSITIVE_INFINITY ? end : startOf(wider, end);
    if (first >= last) return add(level, start, end);
    add(level, start, first);
    fill(first, last, up + 1);
    add(level, last, end);
  };
  fill(from, to, 0);
  return parts;
}
