import fc from 'fast-check';
import { expect, test } from 'vitest';
import { writeTreeHead } from '../../src/contract/write-tree-head.ts';
import {
  decodeHead,
  encodeHead,
  headFromJson,
  headToJson,
  timestampFromNumber,
  timestampToNumber,
} from '../../src/tlog/head.ts';
import { bytesToHex, hexToBytes } from '../../src/tlog/hex.ts';
import { faultOf } from './faults.ts';

const root = Uint8Array.from({ length: 32 }, (_, i) => i);

test('a head is 48 bytes: size, root, nanoseconds, big-endian', () => {
  const bytes = encodeHead({ size: 2 ** 32 + 258, root, timestampNs: 0x1122334455667788n });
  expect(bytesToHex(bytes)).toBe(`0000000100000102${bytesToHex(root)}1122334455667788`);
  expect(decodeHead(bytes)).toEqual({ size: 2 ** 32 + 258, root, timestampNs: 0x1122334455667788n });
});

test('timestamps that are multiples of 1024 pass through JSON doubles without loss', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 53n - 1n }), (n) => {
      const timestampNs = n * 1024n;
      const json = headToJson({ size: 7, root, timestampNs }, new Uint8Array(64), 'kid');
      const text = writeTreeHead(json);
      expect(/"timestamp_ns":(\d+),/.exec(text)?.[1]).toBe(String(timestampNs));
      expect(headFromJson(JSON.parse(text))).toEqual({ size: 7, root, timestampNs });
    }),
  );
});

test('writeTreeHead prints the signed timestamp, unlike JSON.stringify', () => {
  const timestampNs = 1763701234567890944n;
  const json = headToJson({ size: 1, root, timestampNs }, new Uint8Array(64), 'kid');
  expect(JSON.stringify(json)).not.toContain(String(timestampNs));
  expect(writeTreeHead(json)).toContain(String(timestampNs));
});

test('timestamps that are fractional, out of range or possibly rounded are rejected', () => {
  expect(faultOf(() => timestampFromNumber(2 ** 60 + 256))).toBe('bad_timestamp');
  expect(faultOf(() => timestampFromNumber(1.5))).toBe('bad_timestamp');
  expect(faultOf(() => timestampFromNumber(-1024))).toBe('bad_timestamp');
  expect(faultOf(() => timestampFromNumber(2 ** 64))).toBe('bad_timestamp');
  expect(faultOf(() => timestampToNumber(2n ** 60n + 1n))).toBe('bad_timestamp');
  expect(timestampFromNumber(123)).toBe(123n);
});

test('hexadecimal text must have the exact length and only digits, of either case', () => {
  expect(hexToBytes('00fFAa', 3)).toEqual(Uint8Array.of(0, 255, 170));
  for (const text of ['', '0', '00ffa', '00ffaa0', '00ffa ', '0x00ff', '00ffg0', '+0ffaa', '00ffaa\n', '００ffaa']) {
    expect(faultOf(() => hexToBytes(text, 3))).toBe('bad_hex');
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 70 }), (bytes) => {
      expect(hexToBytes(bytesToHex(bytes), bytes.length)).toEqual(new Uint8Array(bytes));
      expect(hexToBytes(bytesToHex(bytes).toUpperCase(), bytes.length)).toEqual(new Uint8Array(bytes));
    }),
  );
});

test('heads from JSON with an invalid size, root or timestamp are rejected', () => {
  const json = { tree_size: 1, root_hash: bytesToHex(root), timestamp_ns: 1024 };
  expect(faultOf(() => headFromJson({ ...json, tree_size: 2 ** 53 }))).toBe('bad_size');
  expect(faultOf(() => headFromJson({ ...json, root_hash: 'ab' }))).toBe('bad_hex');
  expect(faultOf(() => headFromJson({ ...json, timestamp_ns: 0.1 }))).toBe('bad_timestamp');
});
