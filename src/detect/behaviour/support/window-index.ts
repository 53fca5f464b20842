import { CountingFilter, together } from './counting-filter.ts';
import { hashText } from './distinct-sketch.ts';
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

/** Finds windows by the key itself, or by a part that identifies the key. */
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

/**
 * Finds windows by both parts of the key, for callers that have the parts. Building and hashing a key takes
 * 150 ns and 60 bytes; address texts already have hashes. The first part should be shared by many keys, as
 * each value has a separate map.
 */
export class ByParts<V, A extends string | number, B extends string | number> implements WindowIndex<V> {
  readonly #groups = new Map<A, Map<B, Window<V>>>();
  readonly #form: KeyForm<A, B>;
  readonly #sieve: CountingFilter | undefined;

  /** @param isSifted - true if `mayHave` is used */
  constructor(form: KeyForm<A, B>, isSifted = false) {
    this.#form = form;
    if (isSifted) this.#sieve = new CountingFilter();
  }

  /**
   * Returns false for most keys that are not stored. A part is given as `hashText` of a text, or as the number
   * itself.
   */
  mayHave(first: number, second: number): boolean {
    return this.#sieve!.mayHave(together(first, second));
  }

  of(first: A, second: B): Window<V> | undefined {
    return this.#groups.get(first)?.get(second);
  }

  /** Returns all windows with this first part. */
  group(first: A): ReadonlyMap<B, Window<V>> | undefined {
    return this.#groups.get(first);
  }

  put(first: A, second: B, window: Window<V>): void {
    window.first = first;
    window.second = second;
    window.form = this.#form as unknown as KeyForm<unknown, unknown>;
    let group = this.#groups.get(first);
    if (group === undefined) {
      group = new Map();
      this.#groups.set(first, group);
    }
    group.set(second, window);
    this.#sieve?.add(hashOf(first, second));
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
    const first = window.first as A;
    const group = this.#groups.get(first);
    const second = window.second as B;
    if (!group?.delete(second)) return;
    if (group.size === 0) this.#groups.delete(first);
    this.#sieve?.remove(hashOf(first, second));
  }

  clear(): void {
    this.#groups.clear();
    this.#sieve?.clear();
  }
}

function hashOf(first: string | number, second: string | number): number {
  return together(
    typeof first === 'number' ? first : hashText(first),
    typeof second === 'number' ? second : hashText(second),
  );
}

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
