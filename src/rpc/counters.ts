/**
 * A table of named counters in a SharedArrayBuffer: all threads can add, and `/metrics` reads without
 * messages. Each counter is a 64-bit integer, in the order of the names, changed with Atomics so that no
 * addition is lost.
 */
export interface Counters<N extends string> {
  readonly buffer: SharedArrayBuffer;
  /** Adds `amount`, an integer; 1 by default. */
  add(name: N, amount?: number): void;
  /** Sets a gauge, such as a size, a depth, or a time in whole units. */
  set(name: N, value: number): void;
  /** Returns the values. Each value is exact, but the values are not read at one instant. */
  read(): Record<N, number>;
}

/** Creates counters, all zero. Pass `buffer` to other threads (as workerData) and open it there. */
export function createCounters<const N extends string>(names: readonly N[]): Counters<N> {
  return openCounters(names, new SharedArrayBuffer(names.length * BigInt64Array.BYTES_PER_ELEMENT));
}

/** Opens the counters of another thread, with the same names in the same order. */
export function openCounters<const N extends string>(names: readonly N[], buffer: SharedArrayBuffer): Counters<N> {
  const cells = new BigInt64Array(buffer);
  if (cells.length !== names.length) {
    throw new RangeError(`counters: got ${cells.length} cells, expected one for each of ${names.length} names`);
  }
  const index = new Map(names.map((name, i) => [name, i]));
  if (index.size !== names.length) throw new RangeError('counters: duplicate name');
  const at = (name: N): number => {
    const i = index.get(name);
    if (i === undefined) throw new RangeError(`counters: there is no counter ${name}`);
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
