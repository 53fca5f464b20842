import { expect, test } from 'vitest';
import { newer } from '../../../src/console/state/newer.ts';

const at = (version: number, name: string) => ({ attributes: { version, name } });

test('a late response replaces a response of the same version, but not a newer response', () => {
  const kept = at(3, 'kept');
  expect(newer(kept, at(2, 'late'))).toBe(kept);
  expect(newer(kept, at(3, 'again')).attributes.name).toBe('again');
  expect(newer(kept, at(4, 'next')).attributes.name).toBe('next');
});
