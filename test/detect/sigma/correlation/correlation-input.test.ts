import { expect, it } from 'vitest';
import { correlationInput } from '../../../../src/detect/sigma/correlation/correlation-input.ts';

const feed = { correlation: 'c', rule: 'r', group: ['src', 'port'], value: ['user'], carried: ['extra'] };
const read = (record: Record<string, unknown>) => (field: string) => record[field];

it('a correlation input has the texts of the fields, in order, and null for missing fields', () => {
  const record = { src: '10.0.0.1', port: 22, user: ['root', true], extra: { a: 1 } };
  expect(correlationInput(feed, read(record), 5, { event: 'e', ends: { a: 1 } })).toEqual({
    correlation: 'c',
    rule: 'r',
    timestamp: 5,
    group: ['10.0.0.1', '22'],
    value: 'root,true',
    carried: [null],
    event: 'e',
    ends: { a: 1 },
  });
});

it('a correlation input combines several fields into one value, and has no value if all fields are missing', () => {
  const both = { ...feed, value: ['user', 'host'] };
  expect(correlationInput(both, read({ user: 'a' }), 5).value).toBe('["a",null]');
  expect(correlationInput(both, read({}), 5).value).toBeNull();
});

it('a correlation input truncates long values, which stay distinct', () => {
  const of = (end: string) => correlationInput(feed, read({ user: 'x'.repeat(5000) + end }), 5).value;
  expect(of('a')).toHaveLength(256);
  expect(of('a')).toBe(of('a'));
  expect(of('a')).not.toBe(of('b'));
});
