import { describe, expect, it, test } from 'vitest';
import { keptTexts, readEvidence, takeVerdict } from '../../../src/console/state/pin-kept.ts';

const evidence = {
  code: 'FORK',
  message: 'two roots for size 7',
  at: '2026-01-05T00:00:30.000Z',
  text: '{"version":1}',
};

describe('stored evidence', () => {
  it('is read back unchanged', () => {
    expect(readEvidence(JSON.stringify(evidence))).toEqual(evidence);
  });

  test.each([
    ...Object.keys(evidence).map((name) => JSON.stringify({ ...evidence, [name]: undefined })),
    ...Object.keys(evidence).map((name) => JSON.stringify({ ...evidence, [name]: 7 })),
    JSON.stringify({ ...evidence, code: 'toString' }),
    JSON.stringify({ ...evidence, at: 'yesterday' }),
    'null',
    '7',
    '[]',
    '{',
    null,
  ])('is not valid as %s', (kept) => {
    expect(readEvidence(kept)).toBeUndefined();
  });
});

describe('a check of the log', () => {
  it('that began before the pin changed is repeated for the new pin', async () => {
    let pin: string | null = 'old';
    const checked: (string | null)[] = [];
    const taken: string[] = [];
    await takeVerdict(
      () => pin,
      async (of) => {
        checked.push(of);
        await Promise.resolve();
        pin = 'imported';
        return `verdict on ${of}`;
      },
      (verdict) => taken.push(verdict),
    );
    expect(taken).toEqual(['verdict on imported']);
    expect(checked).toEqual(['old', 'imported']);
  });

  it('runs once if the pin does not change', async () => {
    let checks = 0;
    const verdict = await takeVerdict(
      () => null,
      async () => ++checks,
      (of) => of,
    );
    expect(verdict).toBe(1);
    expect(checks).toBe(1);
  });

  it('returns no verdict if the pin keeps changing', async () => {
    let pin = 0;
    let taken = 0;
    await takeVerdict(
      () => `${pin}`,
      async () => ++pin,
      () => ++taken,
    );
    expect(taken).toBe(0);
    expect(pin).toBeLessThan(10);
  });
});

describe('stored texts', () => {
  const memory = () => {
    const map = new Map<string, string>();
    return {
      map,
      isFull: false,
      getItem: (name: string) => map.get(name) ?? null,
      setItem(name: string, text: string) {
        if (this.isFull) throw new Error('QuotaExceededError');
        map.set(name, text);
      },
      removeItem: (name: string) => void map.delete(name),
    };
  };

  it('are written to the storage', () => {
    const storage = memory();
    const texts = keptTexts(() => storage);
    texts.set('a', '1');
    expect(storage.map.get('a')).toBe('1');
    expect(texts.get('a')).toBe('1');
    texts.remove('a');
    expect(texts.get('a')).toBeNull();
  });

  it('are kept in memory if the storage is blocked', () => {
    const texts = keptTexts(() => {
      throw new Error('SecurityError');
    });
    expect(texts.get('a')).toBeNull();
    texts.set('a', '1');
    expect(texts.get('a')).toBe('1');
    texts.remove('a');
    expect(texts.get('a')).toBeNull();
  });

  it('are kept in memory while the storage is full, and written by the next change once it has room', () => {
    const storage = memory();
    const texts = keptTexts(() => storage);
    texts.set('a', 'old');
    storage.isFull = true;
    texts.set('a', 'new');
    expect(texts.get('a')).toBe('new');
    storage.isFull = false;
    texts.set('a', 'newer');
    expect(storage.map.get('a')).toBe('newer');
    expect(texts.get('a')).toBe('newer');
  });
});
