/**
 * A small seeded generator of random numbers (sfc32, 128 bits of state, passes PractRand), so that the same
 * seed gives the same traffic on every machine. Not for secrets.
 */
export interface Random {
  /** Returns a uniform number in [0, 1), with 32 bits of resolution. */
  next(): number;
  /** Returns a uniform integer in [low, high). */
  int(low: number, high: number): number;
  /** Returns true with probability `p`. */
  chance(p: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** Returns an index in [0, n) with a preference for small values: rank r has a weight of about 1 / (r + 1). */
  zipf(n: number): number;
  /** Returns an exponentially distributed number with this mean: the gaps of a Poisson process. */
  exponential(mean: number): number;
  /**
   * Returns a log-normal number: half of the values are below `median`; `spread` is the standard deviation of the
   * logarithm.
   */
  logNormal(median: number, spread: number): number;
  /** Returns `length` random characters of `alphabet`. */
  text(length: number, alphabet: string): string;
  /**
   * Returns an independent generator, so that one source of traffic does not affect the numbers of another.
   */
  fork(): Random;
}

export const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
export const base32 = 'abcdefghijklmnopqrstuvwxyz234567';
export const digits = '0123456789';

/** Creates a generator. `seed` is any integer; its low 32 bits are used. */
export function random(seed: number): Random {
  let a = 0x9e3779b9;
  let b = 0x243f6a88;
  let c = seed | 0;
  let counter = 1;

  function word(): number {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }
  // Twelve rounds mix the seed into the whole state.
  for (let i = 0; i < 12; i++) word();

  const next = () => word() / 2 ** 32;
  const int = (low: number, high: number) => low + Math.floor(next() * (high - low));
  const gaussian = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  return {
    next,
    int,
    chance: (p) => next() < p,
    pick: (list) => list[int(0, list.length)]!,
    zipf: (n) => Math.min(n - 1, Math.floor((n + 1) ** next()) - 1),
    exponential: (mean) => -mean * Math.log(1 - next()),
    logNormal: (median, spread) => median * Math.exp(spread * gaussian()),
    text: (length, alphabet) => {
      let text = '';
      for (let i = 0; i < length; i++) text += alphabet[int(0, alphabet.length)];
      return text;
    },
    fork: () => random(word()),
  };
}
