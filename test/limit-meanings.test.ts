import { expect, test } from 'vitest';
import { limitMeanings } from '../src/limit-meanings.ts';
import { limits } from '../src/limits.ts';

test.each(Object.entries(limitMeanings))(
  '%s is a limit, and what it means is a sentence',
  (name, meaning) => {
    expect(limits).toHaveProperty(name);
    expect(meaning).toMatch(/^[A-Z].{20,160}\.$/);
  },
);
