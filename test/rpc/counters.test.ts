import { describe, expect, it } from 'vitest';
import { createCounters, openCounters } from '../../src/rpc/counters.ts';

describe('counters', () => {
  const names = ['received', 'refused', 'queued'] as const;

  it('are shared by all threads that open the buffer', () => {
    const here = createCounters(names);
    const there = openCounters(names, here.buffer);
    there.add('received');
    there.add('received', 41);
    here.set('queued', 7);
    here.set('queued', -3);
    expect(here.read()).toEqual({ received: 42, refused: 0, queued: -3 });
    expect(there.read()).toEqual(here.read());
  });

  it('count above 32 bits', () => {
    const counters = createCounters(names);
    counters.add('received', 2 ** 33);
    counters.add('received', 2 ** 33);
    expect(counters.read().received).toBe(2 ** 34);
  });

  it('reject a buffer of the wrong size, duplicate and unknown names, and fractions', () => {
    const { buffer, add } = createCounters(names);
    expect(() => openCounters(['one'], buffer)).toThrow(RangeError);
    expect(() => createCounters(['one', 'one'])).toThrow(RangeError);
    expect(() => add('unknown' as 'received')).toThrow(RangeError);
    expect(() => add('received', 0.5)).toThrow(RangeError);
  });
});
