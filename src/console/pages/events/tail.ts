/** The live tail: a bounded list of streamed rows, newest first. */
export interface Tail<Row> {
  /** Rows of the tail, at most `size`; a new array after each change. */
  readonly rows: readonly Row[];
  /** Number of rows received since the last call of `show`, including dropped rows. */
  readonly waiting: number;
  take(row: Row, atMs: number): void;
  /**
   * Appends rows of the list below the other rows and without duplicates. If the stream delivers such a row later, the
   * row moves to the top.
   */
  begin(rows: readonly Row[]): void;
  /** Moves the received rows to the top. Returns whether any rows were received. */
  show(): boolean;
  /** Returns rows per second, averaged over the last few seconds. */
  rate(nowMs: number): number;
}

/** Seconds over which the rate is averaged. */
const window = 5;

export function createTail<Row extends { readonly id: string }>(size: number): Tail<Row> {
  let rows: readonly Row[] = [];
  /** Received rows, oldest first; at least the last `size` rows. */
  let received: Row[] = [];
  let waiting = 0;
  /** Row counts of the last `window` seconds and the current second. */
  const seconds = new Map<number, number>();
  let startedMs: number | undefined;

  return {
    get rows() {
      return rows;
    },
    get waiting() {
      return waiting;
    },
    take(row, atMs) {
      received.push(row);
      waiting += 1;
      if (received.length >= 2 * size) received = received.slice(-size);
      startedMs ??= atMs;
      const second = Math.floor(atMs / 1000);
      seconds.set(second, (seconds.get(second) ?? 0) + 1);
      for (const one of seconds.keys()) if (one < second - window) seconds.delete(one);
    },
    begin(older) {
      const known = new Set([...rows, ...received].map(({ id }) => id));
      rows = [...rows, ...older.filter(({ id }) => !known.has(id))].slice(0, size);
    },
    show() {
      if (waiting === 0) return false;
      const ids = new Set(received.map(({ id }) => id));
      rows = [...received.reverse(), ...rows.filter(({ id }) => !ids.has(id))].slice(0, size);
      received = [];
      waiting = 0;
      return true;
    },
    rate(nowMs) {
      if (startedMs === undefined) return 0;
      const running = Math.floor(nowMs / 1000);
      const first = Math.max(running - window, Math.floor(startedMs / 1000));
      let sum = 0;
      for (const [second, count] of seconds) if (second >= first && second < running) sum += count;
      return sum / Math.max(1, running - first);
    },
  };
}
