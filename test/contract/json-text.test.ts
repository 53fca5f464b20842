import { expect, test } from 'vitest';
import { parseJson } from '../../src/contract/json-text.ts';
import { ServiceError } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';

const parsed = (text: string): unknown => parseJson(new TextEncoder().encode(text));
const nested = (depth: number, open: string, close: string): string => `${open.repeat(depth)}1${close.repeat(depth)}`;

const refusal = (text: string): unknown => {
  try {
    return parsed(text);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return [error.code, error.details?.field];
  }
};

test.each([
  ['arrays', '[', ']'],
  ['objects', '{"a":', '}'],
])('%s may be nested up to the limit, but not deeper', (_, open, close) => {
  expect(() => parsed(nested(limits.maxNesting, open, close))).not.toThrow();
  for (const depth of [limits.maxNesting + 1, 1_000_000])
    expect(refusal(nested(depth, open, close))).toEqual(['INVALID_REQUEST', 'body']);
});

test('brackets in strings do not count as nesting', () => {
  const text = `${'[{'.repeat(100)}\\"`;
  expect(parsed(JSON.stringify([text, { [text]: [text] }]))).toEqual([text, { [text]: [text] }]);
});

test('many siblings do not count as nesting', () => {
  expect(parsed(`[${'[],'.repeat(1000)}{}]`)).toHaveLength(1001);
});
