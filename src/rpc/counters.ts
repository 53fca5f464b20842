/**
 * A small table of named counters over a SharedArrayBuffer: any thread adds, `/metrics` reads, and no message is
 * sent. One 64-bit integer each, in the order of the names, changed with Atomics: no addition is ever lost.
 */
export interface Counters<N extends string> {
  readonly buffer: SharedArrayBuffer;
  /** `amount` is an integer, 1 unless given. */
  add(name: N, amount?: number): void;
  /** For gauges: sizes, depths, times in whole units. */
  set(name: N, value: number): void;
  /** Each value by itself is exact; together they aren't one instant's. */
  read(): Record<N, number>;
}

/** New counters, all zero. Hand `buffer` to the other threads (as workerData) and open it there. */
export function createCounters<const N extends string>(names: readonly N[]): Counters<N> {
  return openCounters(names, new SharedArrayBuffer(names.length * BigInt64Array.BYTES_PER_ELEMENT));
}

/** The counters of another thread, by the same names in the same order. */
export function openCounters<const N extends string>(
  names: readonly N[],
  buffer: SharedArrayBuffer,
): Counters<N> {
  const cells = new BigInt64Array(buffer);
  if (cells.length !== names.length) {
    throw new RangeError(`counters: ${cells.length} cells came for ${names.length} names`);
  }
  const index = new Map(names.map((name, i) => [name, i]));
  if (index.size !== names.length) throw new RangeError('counters: a name comes twice');
  const at = (name: N): number => {
    const i = index.get(name);
    if (i === undefined) throw new RangeError(`counters: no counter is named ${name}`);
    return i;
  };
  return {
    buffer,
    add(name, amount = 1) {
      Atomics.add(cells, at(name), BigInt(amount));
    },
    set(name, value) {
      Atomics.store(cells, at(name), BigInt(value));
    },
    read() {
      const values = names.map((name, i) => [name, Number(Atomics.load(cells, i))] as const);
      return Object.fromEntries(values) as Record<N, number>;
    },
  };
}
