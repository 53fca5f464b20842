import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventId, parseEventId } from '../../src/events/event-id.ts';
import { isUuid } from '../../src/uuid.ts';

const parts = fc.record({
  table: fc.constantFrom('network' as const, 'dns' as const),
  timestamp: fc.oneof(fc.constantFrom(0, 253_402_300_799_999), fc.nat({ max: 253_402_300_799_999 })),
  seq: fc.oneof(fc.constantFrom(1, 2 ** 27, 2 ** 41, 2 ** 53 - 1), fc.nat({ max: Number.MAX_SAFE_INTEGER })),
});

describe('event ids', () => {
  it('are UUIDv7 that encode timestamp, table and sequence', () => {
    fc.assert(
      fc.property(parts, ({ table, timestamp, seq }) => {
        const id = eventId(table, timestamp, seq);
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(timestamp);
        expect(parseEventId(id)).toEqual({ table, timestamp, seq });
        expect(parseEventId(id.toUpperCase())).toEqual({ table, timestamp, seq });
      }),
    );
  });

  it('sort by timestamp, then sequence', () => {
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        const order = a.timestamp - b.timestamp || a.seq - b.seq;
        const [one, two] = [a, b].map(({ timestamp, seq }) => eventId('dns', timestamp, seq)) as [string, string];
        expect(Math.sign(order)).toBe(one < two ? -1 : one > two ? 1 : 0);
      }),
    );
  });

  it('are rejected with a changed digit', () => {
    const id = eventId('network', 1_700_000_000_000, 12_345);
    let passed = 0;
    for (let i = 0; i < id.length; i++) {
      for (const digit of '0123456789abcdef') {
        if (id[i] === '-' || id[i] === digit) continue;
        if (parseEventId(id.slice(0, i) + digit + id.slice(i + 1)) !== undefined) passed++;
      }
    }
    expect(passed).toBe(0);
  });

  it('are not parsed from other text', () => {
    for (const text of ['', 'x', '0190a7b0-0000-4000-8000-000000000000', '0190a7b0000070008000000000000000']) {
      expect(parseEventId(text)).toBeUndefined();
    }
    expect(isUuid('0190a7b0-0000-4000-8000-00000000000g')).toBe(false);
  });
});
