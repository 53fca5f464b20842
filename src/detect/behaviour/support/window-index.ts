import { finish } from '../../../sketch/hash.ts';
import { keyedHash } from './keyed-hash.ts';
import type { Window } from './windows.ts';

/** Index that finds windows by their keys. `Windows` adds and removes the entries. */
export interface WindowIndex<V> {
  get(key: string): Window<V> | undefined;
  /** Adds a new window under this key. */
  add(key: string, window: Window<V>): void;
  remove(window: Window<V>): void;
  clear(): void;
}

/** A key of two parts, and its conversion to and from the text in states and findings. */
export interface KeyForm<A, B> {
  write(first: A, second: B): string;
  read(key: string): readonly [A, B];
}

/** Finds windows by the whole key, or by a part of the key that identifies it. */
export class ByKey<V> implements WindowIndex<V> {
  readonly #windows = new Map<string, Window<V>>();
  readonly #form: KeyForm<string, unknown>;

  constructor(form: KeyForm<string, unknown> = asItIs) {
    this.#form = form;
  }

  of(part: string): Window<V> | undefined {
    return this.#windows.get(part);
  }

  put(part: string, _: unknown, window: Window<V>): void {
    window.first = part;
    window.form = this.#form;
    this.#windows.set(part, window);
  }

  get(key: string): Window<V> | undefined {
    return this.of(this.#form.read(key)[0]);
  }

  add(key: string, window: Window<V>): void {
    this.put(this.#form.read(key)[0], undefined, window);
  }

  remove({ first }: Window<V>): void {
    this.#windows.delete(first as string);
  }

  clear(): void {
    this.#windows.clear();
  }
}

const asItIs: KeyForm<string, unknown> = { write: (key) => key, read: (key) => [key, undefined] };

/** Initial and minimum number of places in a table. The number of places is always a power of two. */
const fewestPlaces = 16;

/**
 * Finds windows by both parts of the key, in a table with open addressing. Compared with maps of maps, new keys create
 * no objects, and a look-up with known hashes takes a fifth of the time. At most half of the places are used.
 */
export class ByParts<V, A extends string | number, B extends string | number> implements WindowIndex<V> {
  readonly #form: KeyForm<A, B>;
  /** Hashes by place; 0 for an unused place. */
  #hashes = new Int32Array(fewestPlaces);
  #windows: (Window<V> | undefined)[] = unused(fewestPlaces);
  #size = 0;
  readonly #groups: Map<A, Set<Window<V>>> | undefined;

  /** @param isGrouped - true if `group` is used */
  constructor(form: KeyForm<A, B>, isGrouped = false) {
    this.#form = form;
    if (isGrouped) this.#groups = new Map();
  }

  get size(): number {
    return this.#size;
  }

  /**
   * @param firstKey - `keyedHash` of `first`, if already computed
   * @param secondKey - `keyedHash` of `second`, if already computed
   */
  of(first: A, second: B, firstKey = keyedHash(first), secondKey = keyedHash(second)): Window<V> | undefined {
    const hash = together(firstKey, secondKey);
    const hashes = this.#hashes;
    const mask = hashes.length - 1;
    for (let at = hash & mask; hashes[at] !== 0; at = (at + 1) & mask) {
      if (hashes[at] !== hash) continue;
      const window = this.#windows[at]!;
      if (window.first === first && window.second === second) return window;
    }
    return undefined;
  }

  /** Returns all windows with this first part. */
  group(first: A): ReadonlySet<Window<V>> | undefined {
    return this.#groups!.get(first);
  }

  put(first: A, second: B, window: Window<V>, firstKey = keyedHash(first), secondKey = keyedHash(second)): void {
    window.first = first;
    window.second = second;
    window.form = this.#form as unknown as KeyForm<unknown, unknown>;
    window.hash = together(firstKey, secondKey);
    if (2 * this.#size >= this.#hashes.length) this.#resize(2 * this.#hashes.length);
    this.#insert(window);
    this.#size++;
    const group = this.#groups?.get(first);
    if (group !== undefined) group.add(window);
    else this.#groups?.set(first, new Set([window]));
  }

  get(key: string): Window<V> | undefined {
    const [first, second] = this.#form.read(key);
    return this.of(first, second);
  }

  add(key: string, window: Window<V>): void {
    const [first, second] = this.#form.read(key);
    this.put(first, second, window);
  }

  remove(window: Window<V>): void {
    const hashes = this.#hashes;
    const mask = hashes.length - 1;
    let free = window.hash & mask;
    while (this.#windows[free] !== window) free = (free + 1) & mask;
    // Moves later windows back to the free place, unless a window would precede the place of its hash.
    for (let at = (free + 1) & mask; hashes[at] !== 0; at = (at + 1) & mask) {
      if (((at - hashes[at]!) & mask) < ((at - free) & mask)) continue;
      hashes[free] = hashes[at]!;
      this.#windows[free] = this.#windows[at];
      free = at;
    }
    hashes[free] = 0;
    this.#windows[free] = undefined;
    this.#size--;
    if (hashes.length > Math.max(fewestPlaces, 8 * this.#size)) this.#resize(hashes.length / 2);
    const first = window.first as A;
    const group = this.#groups?.get(first);
    group?.delete(window);
    if (group?.size === 0) this.#groups!.delete(first);
  }

  clear(): void {
    this.#hashes = new Int32Array(fewestPlaces);
    this.#windows = unused(fewestPlaces);
    this.#size = 0;
    this.#groups?.clear();
  }

  #insert(window: Window<V>): void {
    const mask = this.#hashes.length - 1;
    let at = window.hash & mask;
    while (this.#hashes[at] !== 0) at = (at + 1) & mask;
    this.#hashes[at] = window.hash;
    this.#windows[at] = window;
  }

  #resize(places: number): void {
    const before = this.#windows;
    this.#hashes = new Int32Array(places);
    this.#windows = unused(places);
    for (const window of before) if (window !== undefined) this.#insert(window);
  }
}

const unused = (places: number): undefined[] => new Array<undefined>(places).fill(undefined);

/** Combines the hashes of both parts into one hash that is not 0. */
const together = (first: number, second: number): number => finish(Math.imul(first, 0x85ebca6b) ^ second) | 0 || 1;

/** Key of two words: `a b`, both without spaces. */
export const twoWords: KeyForm<string, string> = {
  write: (first, second) => `${first} ${second}`,
  read(key) {
    const space = key.indexOf(' ');
    return [key.slice(0, space), key.slice(space + 1)];
  },
};

/** Key of two words, indexed by the second word first. */
export const twoWordsTurned: KeyForm<string, string> = {
  write: (first, second) => `${second} ${first}`,
  read(key) {
    const [first, second] = twoWords.read(key);
    return [second, first];
  },
};
