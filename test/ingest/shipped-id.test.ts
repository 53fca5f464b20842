import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { shippedId } from '../../src/events/scoped-id.ts';
import { isUuid } from '../../src/uuid.ts';

it('a UUID is kept, in lower case', () => {
  const id = '0199B1C2-0000-7000-8000-00000000000A';
  expect(shippedId('sender', id)).toBe(id.toLowerCase());
});

it('any other text becomes a UUIDv8 of 122 bits of the SHA-256 of sender and text, the same each time', () => {
  const bits = (hex: string) => BigInt(`0x${hex}`);
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }), (text) => {
      const id = shippedId('sender', text);
      expect(isUuid(id)).toBe(true);
      expect(id).toMatch(/^.{8}-.{4}-8.{3}-[89ab].{3}-.{12}$/);
      expect(shippedId('sender', text)).toBe(id);
      const sha = createHash('sha256').update(`sender ${text}`).digest('hex').slice(0, 32);
      const mask = bits('ffffffffffff0fff3fffffffffffffff');
      expect(bits(id.replaceAll('-', '')) & mask).toBe(bits(sha) & mask);
    }),
  );
});

it('equal ids of two senders become different ids', () => {
  expect(shippedId('a', '1')).not.toBe(shippedId('b', '1'));
  expect(shippedId('a', '1')).not.toBe(shippedId('a', '2'));
});
