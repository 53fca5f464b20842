import type { TObject } from 'typebox';
import { describe, expect, it } from 'vitest';
import {
  auditFilters,
  auditQuery,
  backupFilters,
  backupQuery,
  keyFilters,
  keyQuery,
  principalFilters,
  principalQuery,
  tokenFilters,
  tokenQuery,
} from '../../src/contract/administration-parameters.ts';
import {
  alertExportQuery,
  alertFilterQuery,
  alertGroupQuery,
  alertHistoryFilters,
  alertHistoryQuery,
} from '../../src/contract/alert-parameters.ts';
import {
  alertHistogramQuery,
  dnsEventHistogramQuery,
  networkEventHistogramQuery,
} from '../../src/contract/histogram-parameters.ts';
import {
  alertFilters,
  alertNoteFilters,
  alertNoteQuery,
  alertQuery,
  alertStreamQuery,
  assetFilters,
  assetHistoryFilters,
  assetHistoryQuery,
  assetQuery,
  assetServiceFilters,
  assetServiceQuery,
  dnsEventFilters,
  dnsEventQuery,
  dnsEventStreamQuery,
  networkEventFilters,
  networkEventQuery,
  networkEventStreamQuery,
  scanFilters,
  scanQuery,
  serviceFilters,
  serviceQuery,
} from '../../src/contract/parameters.ts';
import { decodeQuery, listFilterOf, parseList, parseQuery } from '../../src/contract/query.ts';
import { compileFilter } from '../../src/events/select.ts';
import { alertHistoryListOf } from '../../src/store/lists/alert-history.ts';
import { alertList } from '../../src/store/lists/alerts.ts';
import { assetHistoryListOf } from '../../src/store/lists/asset-history.ts';
import { assetList } from '../../src/store/lists/assets.ts';
import { auditList } from '../../src/store/lists/audit-records.ts';
import { backupList } from '../../src/store/lists/backups.ts';
import { compileFilter as compileTerms } from '../../src/store/lists/filter.ts';
import { keyList } from '../../src/store/lists/keys.ts';
import type { ListSpec } from '../../src/store/lists/list.ts';
import { noteListOf } from '../../src/store/lists/notes.ts';
import { sortValueOf } from '../../src/store/lists/order.ts';
import { principalList } from '../../src/store/lists/principals.ts';
import { scanList } from '../../src/store/lists/scans.ts';
import { serviceList } from '../../src/store/lists/services.ts';
import { tokenListAt } from '../../src/store/lists/tokens.ts';

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

describe('the negations of filters', () => {
  const queries: Record<string, TObject> = {
    networkEventQuery,
    networkEventHistogramQuery,
    networkEventStreamQuery,
    dnsEventQuery,
    dnsEventHistogramQuery,
    dnsEventStreamQuery,
    alertQuery,
    alertFilterQuery,
    alertExportQuery,
    alertGroupQuery,
    alertHistogramQuery,
    alertStreamQuery,
  };
  const several = ({ properties }: TObject) =>
    Object.keys(properties).filter((name) => (properties[name] as { type?: string }).type === 'array');

  it.each(Object.entries(queries))('are taken with them by %s, and are negated terms', (_name, query) => {
    const names = several(query).filter((name) => !name.startsWith('not_'));
    const negations = several(query).filter((name) => name.startsWith('not_'));
    expect(negations).toEqual(expect.arrayContaining(names.map((name) => `not_${name}`)));
    const required = ((query.required ?? []) as string[]).map((name) => `&${name}=severity`).join('');
    for (const name of negations) {
      const value = encodeURIComponent(String(sample(query.properties[name]!)));
      const { terms } = listFilterOf(parseQuery(query, decodeQuery(`${name}=${value}${required}`)));
      expect(terms).toEqual([{ field: name.slice(4), values: [expect.anything()], negated: true }]);
    }
  });

  it('are none of the lists of other resources', () => {
    for (const query of [assetQuery, serviceQuery, scanQuery, auditQuery])
      expect(several(query).filter((name) => name.startsWith('not_'))).toEqual([]);
  });
});

it.each([
  ['network events', networkEventQuery, [networkEventStreamQuery, networkEventHistogramQuery]],
  ['DNS events', dnsEventQuery, [dnsEventStreamQuery, dnsEventHistogramQuery]],
  ['alerts', alertQuery, [alertStreamQuery, alertExportQuery, alertGroupQuery, alertHistogramQuery]],
])('filters of %s are the same in lists, streams, exports and counts', (_name, listed, others) => {
  const paging = new Set(['page', 'per_page', 'cursor', 'sort']);
  const filters = Object.entries(listed.properties).filter(([name]) => !paging.has(name));
  for (const other of others)
    expect(JSON.parse(JSON.stringify(other.properties))).toMatchObject(
      JSON.parse(JSON.stringify(Object.fromEntries(filters))),
    );
});

it.each(termsOf(networkEventFilters))('network events are filtered by $field', (term) => {
  expect(compileFilter('network', { terms: [term] }).all).toBe(false);
});

it.each(termsOf(dnsEventFilters))('DNS events are filtered by $field', (term) => {
  expect(compileFilter('dns', { terms: [term] }).all).toBe(false);
});

/** Lists of the engine in src/store/lists: what the contract offers, and the specification that has to know it. */
const lists: Record<string, { query: TObject; filters: Record<string, object>; spec: ListSpec<never> }> = {
  alerts: { query: alertQuery, filters: alertFilters, spec: alertList },
  assets: { query: assetQuery, filters: assetFilters, spec: assetList },
  'asset history': { query: assetHistoryQuery, filters: assetHistoryFilters, spec: assetHistoryListOf('') },
  scans: { query: scanQuery, filters: scanFilters, spec: scanList },
  services: { query: serviceQuery, filters: serviceFilters, spec: serviceList },
  'services of an asset': { query: assetServiceQuery, filters: assetServiceFilters, spec: serviceList },
  'alert history': { query: alertHistoryQuery, filters: alertHistoryFilters, spec: alertHistoryListOf('') },
  'alert notes': { query: alertNoteQuery, filters: alertNoteFilters, spec: noteListOf('') },
  principals: { query: principalQuery, filters: principalFilters, spec: principalList },
  tokens: { query: tokenQuery, filters: tokenFilters, spec: tokenListAt(0) },
  'audit records': { query: auditQuery, filters: auditFilters, spec: auditList },
  keys: { query: keyQuery, filters: keyFilters, spec: keyList },
  backups: { query: backupQuery, filters: backupFilters, spec: backupList },
};

describe.each(Object.entries(lists))('%s', (_name, { query, filters, spec }) => {
  it.each(termsOf(filters))('are filtered by $field', (term) => {
    expect(compileTerms(spec, { terms: [term] })).toBeTypeOf('function');
  });

  it.each((query.properties.sort as unknown as { enum: string[] }).enum)('are sorted by %s', (sort) => {
    expect(sortValueOf(spec, parseList(query, decodeQuery(`sort=${sort}`)).sort)).toBeTypeOf('function');
  });

  it('take nothing else', () => {
    expect(Object.keys(filters).toSorted()).toEqual(
      Object.keys(query.properties)
        .filter(
          (name) =>
            (query.properties[name] as { type?: string }).type === 'array' &&
            !/^(not_.*|severity)$/.test(name),
        )
        .toSorted(),
    );
    expect(Object.keys(spec.terms)).toEqual(expect.arrayContaining(Object.keys(filters)));
  });
});
