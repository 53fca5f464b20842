import type { Database, Key } from '../../../lmdb.ts';
import { entryCount } from '../tables.ts';

/**
 * Rows of a table, read once and written when asked to: what changed stays in memory until `write`, and of the others
 * those that were used of late. The rows that `get` gives may be changed in place, followed by `put`.
 */
export class CachedRows<K extends Key, V, Stored> {
  /** Changed since they were last written; undefined for removed ones. */
  readonly #changed = new Map<K, V | undefined>();
  /** The same as in the table. Once the younger are as many as may be, the older ones go. */
  #young = new Map<K, V>();
  #old = new Map<K, V>();
  /** Known not to be there: a new row is asked for several times before it is made. */
  readonly #absent = new Set<K>();
  /** By how many rows memory differs from the table. */
  #added = 0;
  #stored: number;
  /** Told of each row as it is written, and of what the table had before; undefined where there is none. */
  onWritten: ((before: Stored | undefined, after: Stored | undefined) => void) | undefined;
  readonly #table: Database<Stored, K>;
  readonly #capacity: number;
  readonly #pack: (value: V) => Stored;
  readonly #unpack: (stored: Stored, key: K) => V;

  constructor(
    table: Database<Stored, K>,
    capacity: number,
    codec: { pack(value: V): Stored; unpack(stored: Stored, key: K): V },
  ) {
    this.#table = table;
    this.#capacity = capacity;
    this.#pack = codec.pack;
    this.#unpack = codec.unpack;
    this.#stored = this.#countStored();
  }

  get dirty(): number {
    return this.#changed.size;
  }

  get count(): number {
    return this.#stored + this.#added;
  }

  get(key: K): V | undefined {
    const recent = this.#changed.get(key) ?? this.#young.get(key);
    if (recent !== undefined) return recent;
    if (this.#absent.has(key) || this.#changed.has(key)) return undefined;
    const old = this.#old.get(key);
    if (old !== undefined) return this.#keep(key, old);
    const stored = this.#table.get(key);
    if (stored !== undefined) return this.#keep(key, this.#unpack(stored, key));
    if (this.#absent.size >= this.#capacity) this.#absent.clear();
    this.#absent.add(key);
    return undefined;
  }

  put(key: K, value: V): void {
    if (this.#changed.get(key) === undefined && this.get(key) === undefined) this.#added++;
    this.#changed.set(key, value);
    this.#absent.delete(key);
    this.#young.delete(key);
    this.#old.delete(key);
  }

  remove(key: K): void {
    if (this.get(key) === undefined) return;
    this.#added--;
    this.#changed.set(key, undefined);
    this.#young.delete(key);
    this.#old.delete(key);
  }

  /** Within a transaction. */
  write(): void {
    // In order of their keys, neighbours on a page are written one after the other.
    for (const key of [...this.#changed.keys()].sort()) {
      const value = this.#changed.get(key);
      const stored = value === undefined ? undefined : this.#pack(value);
      this.onWritten?.(this.#table.get(key), stored);
      if (stored === undefined) this.#table.removeSync(key);
      else this.#table.putSync(key, stored);
      if (value !== undefined) this.#keep(key, value);
    }
    this.#changed.clear();
    this.#stored += this.#added;
    this.#added = 0;
  }

  forget(): void {
    this.#changed.clear();
    this.#young.clear();
    this.#old.clear();
    this.#absent.clear();
    this.#added = 0;
    this.#stored = this.#countStored();
  }

  #keep(key: K, value: V): V {
    if (this.#young.size >= this.#capacity / 2) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
    return value;
  }

  #countStored(): number {
    return entryCount(this.#table);
  }
}
