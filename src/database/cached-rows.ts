import type { Key } from './lmdb.ts';
import { entryCount, type Rows } from './rows.ts';

/** Cached state of one key. */
interface Known<V> {
  /** The row; undefined if there is no row. */
  value: V | undefined;
  /** Whether the table has the row. */
  isStored: boolean;
  /** Whether the value in memory differs from the table. */
  isChanged: boolean;
}

/** Conversion of rows between memory and the table. */
interface RowCodec<K, V, Stored> {
  pack(value: V): Stored;
  unpack(stored: Stored, key: K): V;
}

/**
 * Write-back cache of a table. Changes stay in memory until `write`. Recently used rows are cached, and so
 * are recently used keys without a row. Rows from `get` may be changed in place, followed by `put`. Each
 * access is a single map lookup: with 60,000 rows, lookups take most of the time.
 */
export class CachedRows<K extends Key, V, Stored> {
  /**
   * The young generation of rows. When it is full, the old generation is dropped, except for changed rows.
   */
  #young = new Map<K, Known<V>>();
  #old = new Map<K, Known<V>>();
  /** Keys of rows that changed since the last write. */
  #changed: K[] = [];
  /** Number of rows in memory minus number of rows in the table. */
  #added = 0;
  #stored: number;
  /**
   * Called for each row when the row is written, with its previous and its new value. A value is undefined if the row
   * is missing.
   */
  onWritten: ((before: Stored | undefined, after: Stored | undefined) => void) | undefined;
  readonly #table: Rows<Stored, K>;
  readonly #capacity: number;
  readonly #codec: RowCodec<K, V, Stored>;

  constructor(table: Rows<Stored, K>, capacity: number, codec: RowCodec<K, V, Stored>) {
    this.#table = table;
    this.#capacity = capacity;
    this.#codec = codec;
    this.#stored = this.#countStored();
  }

  get dirty(): number {
    return this.#changed.length;
  }

  get count(): number {
    return this.#stored + this.#added;
  }

  get(key: K): V | undefined {
    return this.#of(key).value;
  }

  put(key: K, value: V): void {
    const known = this.#of(key);
    if (known.value === undefined) this.#added++;
    known.value = value;
    this.#change(key, known);
  }

  remove(key: K): void {
    const known = this.#of(key);
    if (known.value === undefined) return;
    this.#added--;
    known.value = undefined;
    this.#change(key, known);
  }

  /** Writes changed rows. Must be called within a transaction. */
  write(): void {
    // Keys are sorted, so that neighbours on a page are written consecutively.
    for (const key of this.#changed.sort()) {
      const known = this.#of(key);
      const { value, isStored } = known;
      const stored = value === undefined ? undefined : this.#codec.pack(value);
      this.onWritten?.(isStored ? this.#table.get(key) : undefined, stored);
      if (stored !== undefined) this.#table.putSync(key, stored);
      else if (isStored) this.#table.removeSync(key);
      known.isStored = stored !== undefined;
      known.isChanged = false;
    }
    this.#changed = [];
    this.#stored += this.#added;
    this.#added = 0;
  }

  forget(): void {
    this.#young.clear();
    this.#old.clear();
    this.#changed = [];
    this.#added = 0;
    this.#stored = this.#countStored();
  }

  #of(key: K): Known<V> {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) return this.#keep(key, old);
    const stored = this.#table.get(key);
    const value = stored === undefined ? undefined : this.#codec.unpack(stored, key);
    return this.#keep(key, { value, isStored: stored !== undefined, isChanged: false });
  }

  #change(key: K, known: Known<V>): void {
    if (known.isChanged) return;
    known.isChanged = true;
    this.#changed.push(key);
  }

  #keep(key: K, known: Known<V>): Known<V> {
    if (this.#young.size >= this.#capacity / 2) this.#age();
    this.#young.set(key, known);
    return known;
  }

  #age(): void {
    const gone = this.#old;
    this.#old = this.#young;
    this.#young = new Map();
    for (const key of this.#changed) {
      const known = gone.get(key);
      if (known?.isChanged && !this.#old.has(key)) this.#old.set(key, known);
    }
  }

  #countStored(): number {
    return entryCount(this.#table);
  }
}
