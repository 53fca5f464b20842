import { expect, test } from 'vitest';
import { mergeHeaders, type TsvHeader } from '../../src/events/tsv-headers.ts';
import { limits } from '../../src/limits.ts';

const header = (path: string, more: Partial<TsvHeader> = {}): TsvHeader => ({
  sensor: '',
  separator: '\t',
  setSeparator: ',',
  empty: '(empty)',
  unset: '-',
  path,
  fields: 'ts',
  types: 'time',
  ...more,
});
const paths = (headers: readonly TsvHeader[]) => headers.map(({ path }) => path);

test('a newer header replaces the older header of the same sensor and log only if the newer header has fields', () => {
  const known = [header('conn'), header('dns'), header('conn', { sensor: 'tap-2' })];
  expect(mergeHeaders(known, [header('conn', { fields: 'ts\tuid' })])).toEqual([
    known[1],
    known[2],
    header('conn', { fields: 'ts\tuid' }),
  ]);
  expect(mergeHeaders(known, [header('conn', { fields: '' })])).toHaveLength(4);
});

test('the oldest headers are dropped beyond the number and size limits of one principal', () => {
  const many = Array.from({ length: limits.maxTsvHeaders + 6 }, (_, n) => header(`log-${n}`));
  const kept = mergeHeaders(many.slice(0, 10), many.slice(10));
  expect(paths(kept)).toEqual(paths(many.slice(6)));
  const wide = { fields: 'x'.repeat(limits.maxTsvHeaderBytes / 2) };
  expect(paths(mergeHeaders([header('a', wide), header('b', wide)], [header('c')]))).toEqual(['b', 'c']);
});
