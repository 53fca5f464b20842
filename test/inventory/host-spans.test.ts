import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HostSpans, inOrder } from '../../src/inventory/model/host-spans.ts';
import type { HostSeen } from '../../src/inventory/model/seen.ts';
import { limits } from '../../src/limits.ts';

const seen = (mac: string | undefined, first: number, last = first): HostSeen =>
  mac === undefined ? { ip: '10.0.0.1', first, last } : { ip: '10.0.0.1', first, last, mac };

const spansOf = (spans: HostSpans) =>
  Array.from({ length: spans.length - 1 }, (_, i) => [
    spans.ip[i + 1],
    spans.mac[i + 1],
    spans.first[i + 1],
    spans.last[i + 1],
  ]);

describe('the rows of a block', () => {
  test('an address that moves to another machine and back has three spans', () => {
    const spans = new HostSpans();
    spans.begin(1);
    for (const [mac, at] of [
      [1, 100],
      [1, 200],
      [2, 4000],
      [2, 4100],
      [1, 8000],
    ] as const)
      spans.at(0, mac, at, at + 1);
    expect(spansOf(spans)).toEqual([
      [0, 1, 100, 201],
      [0, 2, 4000, 4101],
      [0, 1, 8000, 8001],
    ]);
  });

  test('rows without a MAC address do not end a span, and have a separate span until another MAC address appears', () => {
    const spans = new HostSpans();
    spans.begin(3);
    for (const [mac, at] of [
      [0, 1],
      [1, 2],
      [0, 3],
      [1, 4],
      [2, 5],
      [0, 6],
      [2, 7],
    ] as const)
      spans.at(2, mac, at, at);
    expect(spansOf(spans)).toEqual([
      [2, 0, 1, 3],
      [2, 1, 2, 4],
      [2, 2, 5, 7],
      [2, 0, 6, 6],
    ]);
  });

  test('a new block starts without the state of the previous block', () => {
    const spans = new HostSpans();
    spans.begin(2);
    spans.at(1, 1, 1, 1);
    spans.begin(2);
    expect(spans.length).toBe(1);
    spans.at(1, 1, 2, 2);
    expect(spansOf(spans)).toEqual([[1, 1, 2, 2]]);
  });
});

describe('the spans of an address, collected in any order', () => {
  test('are merged if they have one MAC address', () => {
    expect(inOrder([seen('a', 5, 9), seen('a', 1, 6), seen('a', 20)]).spans).toEqual([seen('a', 1, 20)]);
  });

  test('are ordered by start, and neighbours with the same MAC address are merged', () => {
    const { spans } = inOrder([seen('a', 8), seen('b', 4, 5), seen('a', 1, 2), seen('a', 2, 3)]);
    expect(spans).toEqual([seen('a', 1, 3), seen('b', 4, 5), seen('a', 8)]);
  });

  test('are reduced to their start and their end if they overlap the start of another span', () => {
    expect(inOrder([seen('a', 1, 9), seen('b', 4, 5)]).spans).toMatchObject([
      { ...seen('a', 1), began: 1 },
      seen('b', 4, 5),
      seen('a', 9),
    ]);
    expect(inOrder([seen('a', 1, 6), seen('b', 4, 9)]).spans).toMatchObject([
      seen('a', 1),
      seen('b', 4),
      seen('a', 6),
      seen('b', 9),
    ]);
  });

  test('do not cut other spans if they have no MAC address', () => {
    expect(inOrder([seen(undefined, 2), seen('a', 1, 9)]).spans).toEqual([seen('a', 1, 9), seen(undefined, 2)]);
  });

  test('are merged into one span per MAC address beyond the limit, in the order of their ends', () => {
    const flapping = Array.from({ length: limits.maxSpansPerAddress + 1 }, (_, i) => seen(i % 2 === 0 ? 'a' : 'b', i));
    const { spans, united } = inOrder(flapping);
    expect(united).toBe(true);
    expect(spans).toEqual([seen('b', 1, limits.maxSpansPerAddress - 1), seen('a', 0, limits.maxSpansPerAddress)]);
    expect(inOrder(flapping.slice(1))).toEqual({ spans: flapping.slice(1), united: false });
  });

  test('do not overlap for any input, and keep the first start and the last end of each MAC address', () => {
    const time = fc.integer({ min: 0, max: 30 });
    const any = fc
      .tuple(fc.constantFrom('a', 'b', undefined), time, time)
      .map(([mac, a, b]) => seen(mac, Math.min(a, b), Math.max(a, b)));
    fc.assert(
      fc.property(fc.array(any, { minLength: 1, maxLength: 12 }), (all) => {
        const { spans } = inOrder(all);
        const named = spans.filter(({ mac }) => mac !== undefined);
        for (const [i, span] of named.entries()) {
          expect(span.first).toBeLessThanOrEqual(span.last);
          if (i > 0) expect(span.first).toBeGreaterThanOrEqual(named[i - 1]!.last);
        }
        for (const wanted of ['a', 'b', undefined]) {
          const of = (list: readonly HostSeen[]) => {
            const mine = list.filter(({ mac }) => mac === wanted);
            return [Math.min(...mine.map(({ first }) => first)), Math.max(...mine.map(({ last }) => last))];
          };
          expect(of(spans)).toEqual(of(all));
        }
      }),
    );
  });
});
