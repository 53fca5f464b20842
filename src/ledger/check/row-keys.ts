/**
 * Keys of ledger.mdb's tables, as lmdb's dependency ordered-binary encodes them. A number is encoded as the hexadecimal
 * digit 1 followed by the 64 bits of its double, so that bytes sort as numbers do. Trailing zeros are omitted, unless
 * the key has several parts. Parts of a key are separated by a zero byte.
 */

const numberBytes = 9;
const scratch = new DataView(new ArrayBuffer(8));

/** Encodes one integer of at least 0. */
export function numberKey(value: number): Buffer {
  const whole = wholeNumber(value);
  const end = whole[8] !== 0 ? 9 : whole[7] !== 0 || whole[6] !== 0 ? 8 : whole[5] !== 0 || whole[4] !== 0 ? 6 : 4;
  return whole.subarray(0, end);
}

/** Encodes several integers of at least 0. */
export function numbersKey(values: readonly number[]): Buffer {
  const parts = values.flatMap((value, i) => (i === 0 ? [wholeNumber(value)] : [Buffer.alloc(1), wholeNumber(value)]));
  return Buffer.concat(parts);
}

/** Decodes a key of one number, from byte `at` to before `end`; −1 if the key is not an integer of at least 0. */
export function keyNumber(key: Buffer, at = 0, end = key.length): number {
  return end - at > numberBytes ? -1 : numberAt(key, at, end);
}

/** Decodes a key of `count` numbers (default: two); undefined if the key has another form. */
export function keyNumbers(key: Buffer, count = 2): number[] | undefined {
  const partBytes = numberBytes + 1;
  if (key.length !== count * partBytes - 1) return undefined;
  const numbers: number[] = [];
  for (let at = 0; at < key.length; at += partBytes) {
    if (at > 0 && key[at - 1] !== 0) return undefined;
    const value = numberAt(key, at, at + numberBytes);
    if (value < 0) return undefined;
    numbers.push(value);
  }
  return numbers;
}

/** Decodes a key of a name and a number; undefined if the key has another form. */
export function keyNamed(key: Buffer): readonly [string, number] | undefined {
  const at = key.length - numberBytes - 1;
  if (at < 1 || key[at] !== 0) return undefined;
  const value = numberAt(key, at + 1, key.length);
  return value < 0 ? undefined : [key.toString('latin1', 0, at), value];
}

function numberAt(key: Buffer, at: number, end: number): number {
  const byte = (i: number) => (at + i < end ? key[at + i]! : 0);
  if (byte(0) >> 4 !== 1 || (byte(8) & 15) !== 0) return -1;
  const high = (byte(0) & 15) * 2 ** 28 + byte(1) * 2 ** 20 + byte(2) * 2 ** 12 + byte(3) * 16 + (byte(4) >> 4);
  const low = (byte(4) & 15) * 2 ** 28 + byte(5) * 2 ** 20 + byte(6) * 2 ** 12 + byte(7) * 16 + (byte(8) >> 4);
  scratch.setUint32(0, high);
  scratch.setUint32(4, low);
  const value = scratch.getFloat64(0);
  return Number.isSafeInteger(value) && value >= 0 ? value : -1;
}

function wholeNumber(value: number): Buffer {
  scratch.setFloat64(0, value);
  const bits = scratch.getBigUint64(0);
  const bytes = Buffer.alloc(numberBytes);
  bytes.writeBigUInt64BE((bits >> 4n) | (1n << 60n));
  bytes[8] = Number(bits & 15n) << 4;
  return bytes;
}
