import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByParts, twoWords } from '../../../src/detect/behaviour/support/window-index.ts';
import { Window } from '../../../src/detect/behaviour/support/windows.ts';

const steps = fc.array(
  fc.record({ does: fc.constantFrom('put', 'put', 'remove'), first: fc.nat(6), second: fc.nat(60) }),
  { maxLength: 400, size: 'max' },
);

test('an index by two parts behaves like a map while keys are added and removed, even if all hashes are equal', () => {
  fc.assert(
    fc.property(steps, fc.constantFrom(undefined, 1, -7), (taken, key) => {
      const index = new ByParts<number, string, string>(twoWords, true);
      const model = new Map<string, Window<number>>();
      for (const { does, first: a, second: b } of taken) {
        // If `key` is set, all hashes are equal to it, as if an attacker knew the secret numbers.
        const [first, second, firstKey] = [`h${a}`, `p${b}`, key] as const;
        const known = model.get(`${first} ${second}`);
        expect(index.of(first, second, firstKey, key)).toBe(known);
        if (does === 'put' && known === undefined) {
          const window = new Window<number>(0, 0, 0);
          index.put(first, second, window, firstKey, key);
          model.set(window.key, window);
        } else if (does === 'remove' && known !== undefined) {
          index.remove(known);
          model.delete(known.key);
        }
        expect(index.size).toBe(model.size);
      }
      for (const window of model.values())
        expect(index.of(window.first as string, window.second as string, key, key)).toBe(window);
      for (let a = 0; a <= 6; a++)
        expect(new Set(index.group(`h${a}`))).toEqual(
          new Set([...model.values()].filter(({ first }) => first === `h${a}`)),
        );
      index.clear();
      for (const window of model.values()) expect(index.get(window.key)).toBeUndefined();
    }),
    { numRuns: 60 },
  );
});
