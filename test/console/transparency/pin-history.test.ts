import { describe, expect, it } from 'vitest';
import { type PinnedHead, readHistory, withPinned } from '../../../src/console/state/pin-history.ts';

const start = Date.parse('2026-01-05T00:00:30.000Z');
const minute = 60_000;

function headOf(size: number, at: number): PinnedHead {
  const root = size.toString(16).padStart(64, '0');
  const head =
    `{"tree_size":${size},"root_hash":"${root}","timestamp_ns":${BigInt(at) * 1_000_000n},` +
    `"signature":"${'0'.repeat(128)}","signer_key_id":"01a20203-1c05-78cf-b312-9c658ebdd8c9"}`;
  return { size, root, at: new Date(at).toISOString(), head };
}

/** Returns `count` heads, one every `everyMs`. */
function grown(count: number, everyMs: number): PinnedHead[] {
  let history: PinnedHead[] = [];
  for (let i = 0; i < count; i++) history = withPinned(history, headOf(i + 1, start + i * everyMs));
  return history;
}

describe('the history of pins', () => {
  it('is newest first, and always keeps the first pin and the newest 24', () => {
    const history = grown(2000, minute);
    const sizes = history.map(({ size }) => size);
    expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
    expect(sizes.slice(0, 24)).toEqual(Array.from({ length: 24 }, (_, i) => 2000 - i));
    expect(sizes.at(-1)).toBe(1);
  });

  it('keeps one head per hour for two days, then one per day', () => {
    const history = grown(10 * 24 * 6, 10 * minute);
    const times = history.slice(24).map(({ at }) => Date.parse(at));
    const newest = Date.parse(history[0]!.at);
    const recent = times.filter((at) => newest - at < 2 * 86_400_000);
    expect(new Set(recent.map((at) => Math.floor(at / 3_600_000))).size).toBe(recent.length);
    expect(recent.length).toBeGreaterThan(40);
    const old = times.filter((at) => newest - at >= 2 * 86_400_000);
    expect(new Set(old.map((at) => Math.floor(at / 86_400_000))).size).toBe(old.length);
    expect(old.length).toBeGreaterThanOrEqual(8);
  });

  it('is bounded, but keeps the first head', () => {
    const history = grown(1000, 86_400_000);
    expect(history).toHaveLength(400);
    expect(history.at(-1)!.size).toBe(1);
  });

  it('contains each head once, even if a head is pinned repeatedly', () => {
    const head = headOf(7, start);
    expect(withPinned([head], { ...head, at: new Date(start + minute).toISOString() })).toHaveLength(1);
  });
});

describe('stored history', () => {
  it('is read back unchanged', () => {
    const history = grown(5, minute);
    expect(readHistory(JSON.stringify(history))).toEqual(history);
  });

  it('is read without malformed entries, and is empty if the text is malformed', () => {
    const good = headOf(3, start);
    const bad = [null, 7, {}, { ...good, size: 4 }, { ...good, head: '{}' }, { ...good, at: 'once' }];
    expect(readHistory(JSON.stringify([...bad, good]))).toEqual([good]);
    for (const text of [null, '', '{', '{"a":1}', '7']) expect(readHistory(text)).toEqual([]);
  });
});
