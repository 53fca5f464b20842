import { generateKeyPairSync, sign } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Point } from '@noble/ed25519';
import { sha512 } from '@noble/hashes/sha2.js';
import { describe, expect, test } from 'vitest';
import { isEd25519Key, verifyEd25519 as nobleVerify } from '../../src/client/ed25519.ts';
import { importPublicKey, verifyEd25519 } from '../../src/crypto/ed25519.ts';

const vectors = join(process.env.CANDOR_SHARED ?? '../shared', 'vectors', 'ed25519', 'wycheproof.json');
const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));

function nativeVerify(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const imported = importPublicKey(key);
  return imported !== undefined && verifyEd25519(imported, message, signature);
}

/** Returns the common result of both implementations; a difference is a failure. */
function verify(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const answers = [nativeVerify(key, message, signature), nobleVerify(key, message, signature)];
  expect(answers[0]).toBe(answers[1]);
  return answers[0]!;
}

describe.skipIf(!existsSync(vectors))('Wycheproof', () => {
  test('both implementations agree with 151 test vectors: 88 valid, 63 invalid', () => {
    const counts = { valid: 0, invalid: 0 };
    for (const group of JSON.parse(readFileSync(vectors, 'utf8')).testGroups) {
      for (const { msg, sig, result, tcId } of group.tests as Record<string, string>[]) {
        const answer = verify(bytes(group.publicKey.pk), bytes(msg!), bytes(sig!));
        expect(answer, `test ${tcId}`).toBe(result === 'valid');
        counts[answer ? 'valid' : 'invalid'] += 1;
      }
    }
    expect(counts).toEqual({ valid: 88, invalid: 63 });
  });
});

const message = new TextEncoder().encode('message');
const order = Point.CURVE().n;

/**
 * Returns a point of order 8, which generates all points of low order: [order] P leaves only the torsion of
 * P.
 */
function torsion(): Point[] {
  for (let n = 2; ; n++) {
    const y = new Uint8Array(32);
    y[0] = n;
    try {
      const point = multiply(Point.fromBytes(y), order);
      if (multiply(point, 4n).is0()) continue;
      return Array.from({ length: 8 }, (_, i) => multiply(point, BigInt(i)));
    } catch {
      // not on the curve
    }
  }
}

/** Multiplies by any number. noble only multiplies by numbers below the order. */
function multiply(point: Point, n: bigint): Point {
  let sum = Point.ZERO;
  for (const bit of n.toString(2)) {
    sum = sum.double();
    if (bit === '1') sum = sum.add(point);
  }
  return sum;
}

test('keys of low order are rejected in every encoding, though OpenSSL accepts signatures under them', () => {
  const points = torsion();
  const encodings = points.map((point) => point.toBytes());
  expect(new Set(encodings.map((e) => Buffer.from(e).toString('hex'))).size).toBe(8);
  const zero = new Uint8Array(64);
  zero[0] = 1; // R = identity, s = 0
  for (const encoding of encodings) {
    const flipped = new Uint8Array(encoding);
    flipped[31]! ^= 0x80;
    for (const key of [encoding, flipped]) {
      expect(importPublicKey(key)).toBeUndefined();
      expect(isEd25519Key(key)).toBe(false);
      expect(verify(key, message, zero)).toBe(false);
    }
  }
});

test('keys that are not canonical, not on the curve or of another length are rejected', () => {
  const p = bytes('edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f');
  for (let n = 0; n < 19; n++) {
    for (const top of [0x7f, 0xff]) {
      const key = new Uint8Array(p);
      key[0] = 0xed + n;
      key[31] = top;
      expect(importPublicKey(key)).toBeUndefined();
      expect(isEd25519Key(key)).toBe(false);
    }
  }
  const offCurve = new Uint8Array(32);
  offCurve[0] = 2;
  expect(isEd25519Key(offCurve)).toBe(false);
  for (const key of [offCurve, new Uint8Array(31), new Uint8Array(33)]) {
    expect(verify(key, message, new Uint8Array(64))).toBe(false);
  }
});

test('verification uses no cofactor: torsion in R is rejected, and both implementations agree on torsion in the key', () => {
  const a = 12345n;
  const r = 67890n;
  const t = torsion()[1]!;
  const little = (n: bigint) => Uint8Array.from({ length: 32 }, (_, i) => Number((n >> BigInt(8 * i)) & 255n));
  const scalar = (b: Uint8Array) => b.reduceRight((n, byte) => n * 256n + BigInt(byte), 0n);
  const signatureWith = (keyPoint: Point, rPoint: Point): [Uint8Array, Uint8Array] => {
    const [key, R] = [keyPoint.toBytes(), rPoint.toBytes()];
    const k = scalar(sha512(Buffer.concat([R, key, message]))) % order;
    return [key, new Uint8Array(Buffer.concat([R, little((r + k * a) % order)]))];
  };
  const [A, R] = [Point.BASE.multiply(a), Point.BASE.multiply(r)];
  expect(verify(...spread(signatureWith(A, R)))).toBe(true);
  expect(verify(...spread(signatureWith(A, R.add(t))))).toBe(false);
  // k · t is zero for one k in eight. Observing both results would need several nonces, so only agreement is
  // checked.
  verify(...spread(signatureWith(A.add(t), R)));
});

test('signatures of a wrong length, with a flipped bit or with an s beyond the order are rejected', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const key = new Uint8Array(Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url'));
  const signature = new Uint8Array(sign(null, message, privateKey));
  expect(verify(key, message, signature)).toBe(true);
  for (const length of [0, 63, 65]) {
    const other = new Uint8Array(length);
    other.set(signature.subarray(0, length));
    expect(verify(key, message, other)).toBe(false);
  }
  for (const bit of [0, 100, 255, 256, 400, 511]) {
    const bad = new Uint8Array(signature);
    bad[bit >> 3]! ^= 1 << (bit & 7);
    expect(verify(key, message, bad)).toBe(false);
  }
  const s = signature.subarray(32).reduceRight((n, byte) => n * 256n + BigInt(byte), 0n) + order;
  const beyond = new Uint8Array(signature);
  for (let i = 0; i < 32; i++) beyond[32 + i] = Number((s >> BigInt(8 * i)) & 255n);
  expect(verify(key, message, beyond)).toBe(false);
});

function spread([key, signature]: [Uint8Array, Uint8Array]): [Uint8Array, Uint8Array, Uint8Array] {
  return [key, message, signature];
}
