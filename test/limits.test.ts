import { expect, test } from 'vitest';
import { limitMeanings, limits } from '../src/limits.ts';

test.each(Object.entries(limitMeanings))('%s is a limit, and its meaning is a sentence', (name, meaning) => {
  expect(limits).toHaveProperty(name);
  expect(meaning).toMatch(/^[A-Z].{20,160}\.$/);
});
