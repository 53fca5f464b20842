import { mulberry32 } from '../conn-records.ts';

/** Seeded choices: equal seeds give equal choices. */
export class Random {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = mulberry32(seed);
  }

  /** Returns a whole number from 0 to `n` − 1. */
  below(n: number): number {
    return Math.floor(this.#next() * n);
  }

  chance(share: number): boolean {
    return this.#next() < share;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  /** Returns a random selection of the items, in their order. */
  some<T>(items: readonly T[], share: number): T[] {
    return items.filter(() => this.chance(share));
  }

  times<T>(most: number, make: (n: number) => T): T[] {
    return Array.from({ length: 1 + this.below(most) }, (_, n) => make(n));
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)));
  }

  /** Returns the bytes with one to three pieces cut out, repeated or replaced. */
  mutate(bytes: Buffer): Buffer {
    let mutated = bytes;
    for (const change of this.times(3, () => this.below(4))) {
      const at = this.below(mutated.length + 1);
      const end = Math.min(mutated.length, at + this.below(20));
      const piece = [
        Buffer.alloc(0),
        mutated.subarray(at, end),
        this.bytes(this.below(8)),
        Buffer.from(this.pick(fragments)),
      ];
      const put = change === 1 ? Buffer.concat([piece[1]!, piece[1]!]) : piece[change]!;
      mutated = Buffer.concat([mutated.subarray(0, at), put, mutated.subarray(end)]);
    }
    return mutated;
  }
}

/** Texts that parsers may mishandle. */
export const fragments = [
  '',
  '0',
  '-1',
  '1e309',
  '9007199254740993',
  '18446744073709551616',
  'null',
  'NaN',
  '__proto__',
  'constructor',
  '\u0000',
  '\ufeff',
  '\ud800',
  '\u202e',
  '🦊',
  '%00',
  '%zz',
  '../..',
  "' or 1=1 --",
  '(a+)+$',
  '{{7*7}}',
  '::1/129',
  '2026-02-30T25:61:61Z',
  '\r\nX: y',
  '"',
  '\\',
  '{',
  ']',
  ',',
  'x'.repeat(5000),
] as const;
