/** What streams in, newest first, and no more of it than can be kept. */
export interface Tail<Row> {
  /** At most `size`; another array whenever it changed. */
  readonly rows: readonly Row[];
  /** How many came since `show` was called last, shown or not. */
  readonly waiting: number;
  take(row: Row, atMs: number): void;
  /** Those of a list that are not there yet, below all others: what came before the stream began. */
  begin(rows: readonly Row[]): void;
  /** Puts what came on top. Whether there was anything. */
  show(): boolean;
  /** Rows a second, of the last seconds. */
  rate(nowMs: number): number;
}

/** Seconds over which the rate is taken. */
const window = 5;

export function createTail<Row extends { readonly id: string }>(size: number): Tail<Row> {
  let rows: readonly Row[] = [];
  /** Oldest first; those that `size` later ones followed are gone. */
  let came: Row[] = [];
  let waiting = 0;
  /** Rows by second, the last `window` of them and the one that runs. */
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
      came.push(row);
      waiting += 1;
      if (came.length >= 2 * size) came = came.slice(-size);
      startedMs ??= atMs;
      const second = Math.floor(atMs / 1000);
      seconds.set(second, (seconds.get(second) ?? 0) + 1);
      for (const one of seconds.keys()) if (one < second - window) seconds.delete(one);
    },
    begin(older) {
      const known = new Set([...rows, ...came].map(({ id }) => id));
      rows = [...rows, ...older.filter(({ id }) => !known.has(id))].slice(0, size);
    },
    show() {
      if (waiting === 0) return false;
      rows = [...came.slice(-size).reverse(), ...rows.slice(0, Math.max(0, size - came.length))];
      came = [];
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
