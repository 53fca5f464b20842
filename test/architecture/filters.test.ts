import type { TObject } from 'typebox';
import { describe, expect, it } from 'vitest';
import { alertHistoryListOf, alertList, noteListOf, silenceList } from '../../src/alerts/lists/alerts.ts';
import { backupList } from '../../src/backup/backups.ts';
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
} from '../../src/contract/count-parameters.ts';
import * as listAttributes from '../../src/contract/list-attributes.ts';
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
import { Alert } from '../../src/contract/resources/alert.ts';
import { Backup } from '../../src/contract/resources/backup.ts';
import { IntelIndicator, IntelList } from '../../src/contract/resources/intel-list.ts';
import { Key } from '../../src/contract/resources/key.ts';
import { Principal } from '../../src/contract/resources/principal.ts';
import { Rule } from '../../src/contract/resources/rule.ts';
import { Scan } from '../../src/contract/resources/scan.ts';
import { Silence } from '../../src/contract/resources/silence.ts';
import { Token } from '../../src/contract/resources/token.ts';
import { indicatorQuery, intelQuery } from '../../src/contract/routes/intel.ts';
import { ruleQuery } from '../../src/contract/routes/rules.ts';
import { silenceQuery } from '../../src/contract/routes/silences.ts';
import { compileFilter as compileTerms } from '../../src/database/lists/filter.ts';
import type { ListSpec } from '../../src/database/lists/list.ts';
import { sortValueOf } from '../../src/database/lists/order.ts';
import { indicatorsOf, intelLists, ruleList } from '../../src/detect/lists.ts';
import { scanList } from '../../src/discovery/lists/scans.ts';
import type { FilterTerm } from '../../src/events/query/filter.ts';
import { compileFilter } from '../../src/events/query/select.ts';
import { auditList, principalList, tokenListAt } from '../../src/identities/lists.ts';
import { assetHistoryListOf, assetList, serviceList } from '../../src/inventory/lists.ts';
import { keyList } from '../../src/ledger/keys/key-list.ts';

/** Returns a valid value of a parameter with this schema, as parsed. */
function sample(schema: object): string | number | boolean {
  const { items } = schema as { items: { type: string; format?: string; enum?: readonly string[] } };
  if (items.enum) return items.enum[0]!;
  if (items.format === 'network') return '10.0.0.0/8';
  if (items.format === 'mac') return '00:1b:63:84:45:e6';
  if (items.format === 'uuid') return '0199b1c2-0000-7000-8000-000000000000';
  if (items.format === 'time' || items.type === 'integer' || items.type === 'number') return 1;
  return items.type === 'boolean' ? true : '1:AAAAAAAAAAAAAAAAAAAAAAAAAAA=';
}

/** Returns whether the values of a filter are numbers or times. */
function isOrdered(schema: object): boolean {
  const { type, format } = (schema as { items: { type?: string; format?: string } }).items;
  return type === 'integer' || type === 'number' || format === 'time';
}

/** Returns a term for each filter, and both bounds of each filter by a number or a time. */
const termsOf = (filters: Record<string, object>) =>
  Object.entries(filters).flatMap(([field, schema]): FilterTerm[] => {
    const term = { field, values: [sample(schema)] };
    if (!isOrdered(schema) || field.endsWith('_from')) return [term];
    return [term, { ...term, bound: 'min' }, { ...term, bound: 'max' }];
  });

describe('negations and bounds', () => {
  const queries: Record<string, TObject> = {
    assetQuery,
    assetServiceQuery,
    serviceQuery,
    scanQuery,
    auditQuery,
    ruleQuery,
    silenceQuery,
    intelQuery,
    indicatorQuery,
    principalQuery,
    tokenQuery,
    keyQuery,
    backupQuery,
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

  /** Returns the filters of a query that have variants. */
  const varied = (query: TObject) =>
    several(query).filter((name) => !name.startsWith('not_') && !name.endsWith('_from'));

  it.each(Object.entries(queries))('are accepted by %s for each filter, and become terms', (_name, query) => {
    const negations = several(query).filter((name) => name.startsWith('not_'));
    expect(negations.toSorted()).toEqual(
      varied(query)
        .map((name) => `not_${name}`)
        .toSorted(),
    );
    const required = ((query.required ?? []) as string[]).map((name) => `&${name}=severity`).join('');
    for (const name of negations) {
      const value = encodeURIComponent(String(sample(query.properties[name]!)));
      const { terms } = listFilterOf(parseQuery(query, decodeQuery(`${name}=${value}${required}`)));
      expect(terms).toEqual([{ field: name.slice(4), values: [expect.anything()], negated: true }]);
    }
    for (const name of varied(query).filter((name) => isOrdered(query.properties[name]!)))
      for (const bound of ['min', 'max']) {
        const parameters = decodeQuery(`${bound}_${name}=1${required}`);
        const { terms } = listFilterOf(parseQuery(query, parameters));
        expect(terms).toEqual([{ field: name, values: [1], bound }]);
      }
    expect(Object.keys(query.properties).filter((name) => /^(min|max)_/.test(name) && name !== 'min_severity')).toEqual(
      varied(query)
        .filter((name) => isOrdered(query.properties[name]!))
        .flatMap((name) => [`min_${name}`, `max_${name}`]),
    );
  });

  it('are refused if the least value is larger than the largest', () => {
    const query = decodeQuery('min_src_bytes=2&max_src_bytes=1');
    expect(() => parseQuery(networkEventQuery, query)).toThrow('must be at most max_src_bytes');
    expect(parseQuery(networkEventQuery, decodeQuery('min_src_bytes=1&max_src_bytes=1'))).toEqual({
      min_src_bytes: 1,
      max_src_bytes: 1,
    });
  });

  it('hold for one of several numbers together', () => {
    const terms = [
      { field: 'port', values: [1000], bound: 'min' as const },
      { field: 'port', values: [2000], bound: 'max' as const },
    ];
    const matches = compileTerms(alertList, { terms }) as (alert: { src_port?: number; dst_port?: number }) => boolean;
    expect(matches({ src_port: 443, dst_port: 50_000 })).toBe(false);
    expect(matches({ src_port: 443, dst_port: 1500 })).toBe(true);
    expect(matches({ src_port: 2000 })).toBe(true);
    expect(matches({})).toBe(false);
  });

  it('are refused for fields without an order', () => {
    const term = (field: string) => ({ terms: [{ field, values: ['a'], bound: 'min' as const }] });
    for (const field of ['src_ip', 'state', 'app_protocol', 'community_id', 'ip', 'id', '__proto__'])
      expect(() => compileFilter('network', term(field)), field).toThrow(`min_${field}`);
    expect(() => compileTerms(assetList, term('name'))).toThrow('min_name is not a filter of asset lists');
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

const filtersIn = ({ properties }: TObject): Record<string, object> =>
  Object.fromEntries(
    Object.entries(properties).filter(
      ([name, schema]) => (schema as { type?: string }).type === 'array' && !name.startsWith('not_'),
    ),
  );

/** Lists: the contract's filters, and the specification that must support them. */
const lists: Record<string, { query: TObject; filters: Record<string, object>; spec: ListSpec<never> }> = {
  silences: { query: silenceQuery, filters: filtersIn(silenceQuery), spec: silenceList },
  rules: { query: ruleQuery, filters: filtersIn(ruleQuery), spec: ruleList },
  'intelligence lists': { query: intelQuery, filters: filtersIn(intelQuery), spec: intelLists },
  indicators: { query: indicatorQuery, filters: filtersIn(indicatorQuery), spec: indicatorsOf('') },
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

  it('do not accept other filters', () => {
    expect(Object.keys(filters).toSorted()).toEqual(
      Object.keys(query.properties)
        .filter(
          (name) =>
            (query.properties[name] as { type?: string }).type === 'array' &&
            !/^not_/.test(name) &&
            (name !== 'severity' || name in filters),
        )
        .toSorted(),
    );
    expect(Object.keys(spec.terms)).toEqual(expect.arrayContaining(Object.keys(filters)));
  });
});

describe('the kind of a listed attribute is the kind in the schema of the resource', () => {
  const kindOf = (schema: object): listAttributes.AttributeKind => {
    const { type, format, enum: words } = schema as { type: string; format?: string; enum?: string[] };
    if (words !== undefined) return words;
    if (type === 'string') return format === 'date-time' ? 'time' : format === 'ip' ? 'address' : 'text';
    return type === 'boolean' ? 'flag' : 'number';
  };

  it.each([
    ['Alert', Alert, listAttributes.alertAttributes],
    ['Silence', Silence, listAttributes.silenceAttributes],
    ['Scan', Scan, listAttributes.scanAttributes],
    ['Rule', Rule, listAttributes.ruleAttributes],
    ['IntelList', IntelList, listAttributes.intelAttributes],
    ['IntelIndicator', IntelIndicator, listAttributes.indicatorAttributes],
    ['Principal', Principal, listAttributes.principalAttributes],
    ['Token', Token, listAttributes.tokenAttributes],
    ['Key', Key, listAttributes.keyAttributes],
    ['Backup', Backup, listAttributes.backupAttributes],
  ] as [string, TObject, listAttributes.ListAttributes][])('%s', (_name, resource, table) => {
    for (const [name, { kind }] of Object.entries(table))
      expect([name, kind]).toEqual([name, kindOf(resource.properties[name]!)]);
  });
});
