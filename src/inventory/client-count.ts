/**
 * How many distinct clients: exact up to 4,096 hashes of addresses, ascending; estimated beyond, by the registers of
 * HyperLogLog (p = 12; Flajolet et al. 2007), whose standard error is 1.04 / sqrt(4096) = 1.6 %. Hashes have 32 bits:
 * among 4,096 addresses two are taken for one with a probability of 1 in 500. Adding and merging are unions: order and
 * repetition change nothing. Counts are values: none is changed once it was given out.
 */
export type ClientCount = Uint32Array | Uint8Array;

export const noClients: ClientCount = new Uint32Array(0);
export const maxExact = 4096;
/** Standard error of what is estimated, as a part of it. */
export const standardError = 1.04 / Math.sqrt(4096);

const precision = 12;
const registers = 2 ** precision;

/** None, which is estimated from the first on. */
export const noneEstimated = (): ClientCount => new Uint8Array(registers);

/**
 * The union with more hashes, ascending and without repetition. Gives the same object when they were all there.
 *
 * @param exact - hashes that are kept before it is estimated, where room counts for more
 */
export function addClients(count: ClientCount, hashes: Uint32Array, exact: number = maxExact): ClientCount {
  if (count instanceof Uint8Array) return raised(count, hashes);
  const merged = union(count, hashes);
  return merged.length <= exact ? merged : raised(new Uint8Array(registers), merged);
}

/** The union of two counts. */
export const mergeClients = (a: ClientCount, b: ClientCount): ClientCount => mergeUpTo(maxExact, a, b);

/** The same with fewer hashes, or more, that are kept before it is estimated. */
export function mergeUpTo(exact: number, a: ClientCount, b: ClientCount): ClientCount {
  if (b instanceof Uint32Array) return addClients(a, b, exact);
  if (a instanceof Uint32Array) return raised(b, a);
  return a.map((register, i) => Math.max(register, b[i]!));
}

export function clientsIn(count: ClientCount): number {
  return count instanceof Uint8Array ? estimate(count) : count.length;
}

/** As it is stored: the hashes, little-endian, or a byte and the registers, which their length tells apart. */
export function encodeClients(count: ClientCount): Buffer {
  if (count instanceof Uint8Array) return Buffer.concat([Buffer.of(precision), count]);
  const bytes = Buffer.allocUnsafe(4 * count.length);
  for (let i = 0; i < count.length; i++) bytes.writeUInt32LE(count[i]!, 4 * i);
  return bytes;
}

export function decodeClients(bytes: Buffer): ClientCount {
  if (bytes.length === 1 + registers) return new Uint8Array(bytes.subarray(1));
  const count = new Uint32Array(bytes.length / 4);
  for (let i = 0; i < count.length; i++) count[i] = bytes.readUInt32LE(4 * i);
  return count;
}

/**
 * Gives `a` when `b` has nothing new. Arrays of up to 64 bytes lie in the heap of V8, a tenth of the cost of others, as
 * long as nobody asks for their buffer.
 */
function union(a: Uint32Array, b: Uint32Array): Uint32Array {
  const more = countNew(a, b);
  if (more === 0) return a;
  const merged = new Uint32Array(a.length + more);
  let i = 0;
  let j = 0;
  for (let length = 0; length < merged.length; length++) {
    const fromA = j === b.length || (i < a.length && a[i]! <= b[j]!);
    const value = fromA ? a[i]! : b[j]!;
    if (i < a.length && a[i] === value) i++;
    if (j < b.length && b[j] === value) j++;
    merged[length] = value;
  }
  return merged;
}

function countNew(a: Uint32Array, b: Uint32Array): number {
  let more = 0;
  let i = 0;
  for (let j = 0; j < b.length; j++) {
    while (i < a.length && a[i]! < b[j]!) i++;
    if (i === a.length || a[i] !== b[j]) more++;
  }
  return more;
}

/** The registers with these hashes in; the same object when none rises. */
function raised(count: Uint8Array, hashes: Uint32Array): Uint8Array {
  let out = count;
  for (let i = 0; i < hashes.length; i++) {
    const hash = hashes[i]!;
    const register = hash >>> (32 - precision);
    // Leading zeros of the other bits, and 1; the bit that is set below them ends the run.
    const rank = Math.clz32(((hash << precision) | (1 << (precision - 1))) >>> 0) + 1;
    if (rank <= out[register]!) continue;
    if (out === count) out = count.slice();
    out[register] = rank;
  }
  return out;
}

/** With linear counting while registers are empty, and the correction for hashes of 32 bits. */
function estimate(count: Uint8Array): number {
  let sum = 0;
  let empty = 0;
  for (const register of count) {
    sum += 2 ** -register;
    if (register === 0) empty++;
  }
  const alpha = 0.7213 / (1 + 1.079 / registers);
  const raw = (alpha * registers * registers) / sum;
  if (raw <= 2.5 * registers && empty > 0) return Math.round(registers * Math.log(registers / empty));
  const all = 2 ** 32;
  if (raw <= all / 30) return Math.round(raw);
  return Math.round(-all * Math.log(1 - Math.min(raw / all, 0.999)));
}
