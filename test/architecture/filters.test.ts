import { expect, it } from 'vitest';
import {
  alertFilters,
  alertQuery,
  dnsEventFilters,
  networkEventFilters,
} from '../../src/contract/parameters.ts';
import { decodeQuery, parseList } from '../../src/contract/query.ts';
import { compileFilter } from '../../src/events/select.ts';
import { compileAlertFilter } from '../../src/store/alert-filter.ts';
import { sortValueOf } from '../../src/store/alert-order.ts';

/** A value that the parameter takes, once it is parsed. */
function sample(schema: object): string | number | boolean {
  const { items } = schema as { items: { type: string; format?: string; enum?: readonly string[] } };
  if (items.enum) return items.enum[0]!;
  if (items.format === 'network') return '10.0.0.0/8';
  if (items.format === 'uuid') return '0199b1c2-0000-7000-8000-000000000000';
  if (items.format === 'time' || items.type === 'integer' || items.type === 'number') return 1;
  return items.type === 'boolean' ? true : '1:AAAAAAAAAAAAAAAAAAAAAAAAAAA=';
}

const termsOf = (filters: Record<string, object>) =>
  Object.entries(filters).map(([field, schema]) => ({ field, values: [sample(schema)] }));

it.each(termsOf(networkEventFilters))('network events are filtered by $field', (term) => {
  expect(compileFilter('network', { terms: [term] }).all).toBe(false);
});

it.each(termsOf(dnsEventFilters))('DNS events are filtered by $field', (term) => {
  expect(compileFilter('dns', { terms: [term] }).all).toBe(false);
});

it.each(termsOf(alertFilters))('alerts are filtered by $field', (term) => {
  expect(compileAlertFilter({ terms: [term] })).toBeTypeOf('function');
});

it.each((alertQuery.properties.sort as unknown as { enum: string[] }).enum)(
  'alerts are sorted by %s',
  (sort) => {
    expect(sortValueOf(parseList(alertQuery, decodeQuery(`sort=${sort}`)).sort)).toBeTypeOf('function');
  },
);
