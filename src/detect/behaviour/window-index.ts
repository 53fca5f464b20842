import { hashText } from './distinct-names.ts';
import { Sieve, together } from './sieve.ts';
import type { Window } from './windows.ts';

/** Finds windows by their keys. `Windows` tells it what is kept. */
export interface WindowIndex<V> {
  get(key: string): Window<V> | undefined;
  /** Takes a new one in, under this key. */
  add(key: string, window: Window<V>): void;
  remove(window: Window<V>): void;
  clear(): void;
}

/** A key of two parts: how it is written, for states and findings, and read again. */
export interface KeyForm<A, B> {
  write(first: A, second: B): string;
  read(key: string): readonly [A, B];
}

/** By the key as it is, or by what stands for it. */
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
 * By both parts of the key: for those who have them. Writing a key, and hashing it, takes 150 ns and 60 bytes; texts of
 * addresses have their hashes. The first part should be what many keys have, as each has a map of its own.
 */
export class ByParts<V, A extends string | number, B extends string | number> implements WindowIndex<V> {
  readonly #groups = new Map<A, Map<B, Window<V>>>();
  readonly #form: KeyForm<A, B>;
  readonly #sieve: Sieve | undefined;

  /** @param isSifted - for those who ask `mayHave` */
  constructor(form: KeyForm<A, B>, isSifted = false) {
    this.#form = form;
    if (isSifted) this.#sieve = new Sieve();
  }

  /** Whether there may be one: false for most of which there is none. A text goes by `hashText`, a number by itself. */
  mayHave(first: number, second: number): boolean {
    return this.#sieve!.mayHave(together(first, second));
  }

  of(first: A, second: B): Window<V> | undefined {
    return this.#groups.get(first)?.get(second);
  }

  /** All with this first part. */
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

/** `a b`, neither of which has a space. */
export const twoWords: KeyForm<string, string> = {
  write: (first, second) => `${first} ${second}`,
  read(key) {
    const space = key.indexOf(' ');
    return [key.slice(0, space), key.slice(space + 1)];
  },
};

/** The same, looked for by the second first. */
export const twoWordsTurned: KeyForm<string, string> = {
  write: (first, second) => `${second} ${first}`,
  read(key) {
    const [first, second] = twoWords.read(key);
    return [second, first];
  },
};
