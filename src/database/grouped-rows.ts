import type { Rows } from './rows.ts';

type Part = number | string;

interface Placed<B extends Part, V> {
  readonly at: B;
  readonly value: V;
}

/** Maximum number of cached group counts, enough for groups that change together. */
const maxCounts = 4096;

/**
 * Rows of a table keyed by a group and a position in the group. Only changes are held in memory, until
 * `write`.
 */
export class GroupedRows<B extends Part, V> {
  /** Changed rows by group and position; undefined for removed rows. */
  readonly #changed = new Map<string, Map<B, V | undefined>>();
  #dirty = 0;
  readonly #counts = new Map<string, number>();
  readonly #table: Rows<V, [string, B]>;

  constructor(table: Rows<V, [string, B]>) {
    this.#table = table;
  }

  get dirty(): number {
    return this.#dirty;
  }

  put(group: string, at: B, value: V): void {
    this.#change(group, at, value);
  }

  remove(group: string, at: B): void {
    this.#change(group, at, undefined);
  }

  has(group: string, at: B): boolean {
    const changed = this.#changed.get(group);
    if (changed?.has(at)) return changed.get(at) !== undefined;
    return this.#table.doesExist([group, at]);
  }

  /** Returns the number of rows of a group. The number is cached and kept up to date. */
  count(group: string): number {
    const known = this.#counts.get(group);
    if (known !== undefined) return known;
    let count = this.#table.getKeysCount(within<B>(group));
    for (const [at, value] of this.#changed.get(group) ?? [])
      count += Number(value !== undefined) - Number(this.#table.doesExist([group, at]));
    if (this.#counts.size >= maxCounts) this.#counts.clear();
    this.#counts.set(group, count);
    return count;
  }

  /** Returns the rows of a group, in order of position. */
  all(group: string): Placed<B, V>[] {
    const changed = this.#changed.get(group);
    const rows: Placed<B, V>[] = [];
    for (const { key, value } of this.#table.getRange(within<B>(group)))
      if (!changed?.has(key[1])) rows.push({ at: key[1], value });
    if (changed === undefined) return rows;
    for (const [at, value] of changed) if (value !== undefined) rows.push({ at, value });
    return rows.sort((a, b) => (a.at < b.at ? -1 : 1));
  }

  /** Returns the last row of a group at or before a position; undefined without such a row. */
  lastUpTo(group: string, place: B): Placed<B, V> | undefined {
    const changed = this.#changed.get(group);
    let found: Placed<B, V> | undefined;
    for (const [at, value] of changed ?? [])
      if (value !== undefined && at <= place && (found === undefined || at > found.at)) found = { at, value };
    const range = { start: [group, place] as [string, B], end: [group] as unknown as [string, B] };
    for (const { key, value } of this.#table.getRange({ ...range, reverse: true })) {
      if (found !== undefined && key[1] < found.at) break;
      if (!changed?.has(key[1])) return { at: key[1], value };
    }
    return found;
  }

  /** Writes changed rows. Must be called within a transaction. */
  write(): void {
    for (const [group, rows] of this.#changed)
      for (const [at, value] of rows) {
        if (value === undefined) this.#table.removeSync([group, at]);
        else this.#table.putSync([group, at], value);
      }
    this.#clear();
  }

  forget(): void {
    this.#clear();
    this.#counts.clear();
  }

  #clear(): void {
    this.#changed.clear();
    this.#dirty = 0;
  }

  #change(group: string, at: B, value: V | undefined): void {
    const count = this.#counts.get(group);
    if (count !== undefined) this.#counts.set(group, count + Number(value !== undefined) - Number(this.has(group, at)));
    let rows = this.#changed.get(group);
    if (rows === undefined) {
      rows = new Map();
      this.#changed.set(group, rows);
    }
    if (!rows.has(at)) this.#dirty++;
    rows.set(at, value);
  }
}

/**
 * Returns the range of all keys of a group. Shorter keys sort first, and all positions sort before U+FFFF.
 */
export function within<B>(group: string): { start: [string, B]; end: [string, B] } {
  return {
    start: [group] as unknown as [string, B],
    end: [group, '\uffff'] as unknown as [string, B],
  };
}
