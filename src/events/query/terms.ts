import { appProtocols, wantedProtocols } from '../../contract/app-protocols.ts';
import { parameterOf } from '../../contract/filter-term.ts';
import { oneOfTexts, wildcardParts } from '../../contract/wildcards.ts';
import { invalidField } from '../../errors.ts';
import { flowMatches, parseCommunityId } from '../../net/community-id.ts';
import { registeredDomain } from '../../net/registered-domain.ts';
import { canonicalUuid } from '../../uuid.ts';
import type { AssetLookup } from '../asset-lookup.ts';
import type { End } from '../format/block-assets.ts';
import { encodings } from '../format/block-format.ts';
import { type ColumnName, columnOf } from '../format/columns.ts';
import type { Table } from '../records.ts';
import { endTime, flowReader } from '../resource.ts';
import { addressTerm } from './address-term.ts';
import { assetTerm } from './asset-term.ts';
import type { FilterTerm } from './filter.ts';
import { flag, number, place, texts, time, type Values } from './filter-values.ts';
import { markAnswers, markTested } from './free-text.ts';
import { costs, entriesIn, keep, numbersBetween, numbersIn, type Term } from './term.ts';
import { markMatches, mayHave, type Needle, needle } from './text-search.ts';

/** Fields that are compared with derived values, or with the values of several columns. */
const derivedFields: Readonly<
  Record<Table, Readonly<Record<string, (field: string, values: Values, assets: AssetLookup) => Term>>>
> = {
  network: {
    ip: (field, values) => addressTerm(['src_ip', 'dst_ip'], texts(field, values), field),
    app_protocol: protocolTerm,
    end_time: (field, values) => {
      const wanted = new Set(values.map((value) => time(field, value)));
      return endTimeTerm((end) => wanted.has(end));
    },
    community_id: communityIdTerm,
    asset_id: ownersTerm(['src_ip', 'dst_ip']),
    src_asset_id: ownersTerm(['src_ip']),
    dst_asset_id: ownersTerm(['dst_ip']),
  },
  dns: {
    ip: (field, values) => addressTerm(['src_ip', 'dst_ip'], texts(field, values), field),
    registered_domain: registeredDomainTerm,
    answer: answerTerm,
    community_id: communityIdTerm,
    asset_id: ownersTerm(['src_ip', 'dst_ip']),
    src_asset_id: ownersTerm(['src_ip']),
    dst_asset_id: ownersTerm(['dst_ip']),
  },
};

/** Columns that filters cannot name. */
const notFilterable: ReadonlySet<string> = new Set(['id', 'answers']);

export function compileTerm(table: Table, term: FilterTerm, assets: AssetLookup): Term {
  const { field, values } = term;
  if (term.bound !== undefined) return boundTerm(table, term, term.bound);
  const derived = Object.hasOwn(derivedFields[table], field) ? derivedFields[table][field] : undefined;
  if (derived !== undefined) return derived(field, values, assets);
  const column = notFilterable.has(field) ? undefined : columnOf(table, field);
  const name = field as ColumnName;
  switch (column?.kind) {
    case 'time':
      return numberTerm(name, new Set(values.map((value) => time(field, value))));
    case 'number':
      return numberTerm(name, new Set(values.map((value) => number(field, value))));
    case 'boolean':
      return numberTerm(name, new Set(values.map((value) => flag(field, value))));
    case 'enum':
      return numberTerm(name, new Set(texts(field, values).map((value) => place(field, value, column.values))));
    case 'address':
      return addressTerm([name], texts(field, values), field);
    case 'text':
    case 'unique':
      return textTerm(name, texts(field, values), column.fold === true, costs[column.kind]);
    case undefined:
      throw invalidField(field, `is not a filter of ${table} events`);
  }
}

function boundTerm(table: Table, term: FilterTerm, bound: 'min' | 'max'): Term {
  const parameter = parameterOf(term);
  const kind = term.field === 'end_time' && table === 'network' ? 'time' : columnOf(table, term.field)?.kind;
  if (kind !== 'time' && kind !== 'number') throw invalidField(parameter, `is not a filter of ${table} events`);
  const [value, ...others] = term.values;
  if (value === undefined || others.length > 0) throw invalidField(parameter, 'must have one value');
  const limit = kind === 'time' ? time(parameter, value) : number(parameter, value);
  const least = bound === 'min' ? limit : Number.NEGATIVE_INFINITY;
  const largest = bound === 'max' ? limit : Number.POSITIVE_INFINITY;
  if (term.field === 'end_time') return endTimeTerm((end) => end >= least && end <= largest);
  const name = term.field as ColumnName;
  return {
    cost: costs.number,
    prepare(block) {
      const [min, max] = block.numberBounds(name);
      if (!(max >= least && min <= largest)) return false;
      const column = block.numbers(name);
      const isWhole = column.encoding === encodings.offset && min >= least && max <= largest;
      return (isWhole && !column.values!.includes(0)) || numbersBetween(column, least, largest);
    },
  };
}

export function numberTerm(name: ColumnName, wanted: ReadonlySet<number>): Term {
  return {
    cost: costs.number,
    prepare(block) {
      const [least, most] = block.numberBounds(name);
      if (!within(wanted, least, most)) return false;
      const column = block.numbers(name);
      if (isEach(wanted, least, most) && column.encoding === encodings.offset && !column.values!.includes(0))
        return true;
      return numbersIn(column, wanted);
    },
  };
}

function within(wanted: ReadonlySet<number>, least: number, most: number): boolean {
  for (const value of wanted) if (value >= least && value <= most) return true;
  return false;
}

/**
 * Returns whether the set contains every whole number from the least to the largest; false beyond 2^53, where
 * numbers cannot be enumerated.
 */
function isEach(wanted: ReadonlySet<number>, least: number, most: number): boolean {
  if (!Number.isSafeInteger(least) || !Number.isSafeInteger(most) || most - least >= wanted.size) return false;
  for (let value = least; value <= most; value++) if (!wanted.has(value)) return false;
  return true;
}

function textTerm(name: ColumnName, values: readonly string[], fold: boolean, cost: number): Term {
  const parts = values.map(wildcardParts);
  const needles = parts.filter(({ length }) => length === 1).map(([whole]) => needle(whole!, { fold, match: 'whole' }));
  const patterns = values.filter((_, i) => parts[i]!.length > 1);
  const isWanted = oneOfTexts(fold ? patterns.map((value) => value.toLowerCase()) : patterns);
  const candidates = patterns.map((value) => candidate(value, fold));
  return {
    cost,
    prepare(block) {
      const likely = needles.filter((wanted) => mayHave(block, name, wanted));
      if (likely.length === 0 && candidates.length === 0) return false;
      const column = block.texts(name);
      const member = new Uint8Array(column.list.length + 1);
      let marked = markTested(column.list, candidates, member, (text) => isWanted(fold ? text.toLowerCase() : text));
      for (const wanted of likely) marked += markMatches(column.list, wanted, member);
      return entriesIn(column, member, marked);
    },
  };
}

/** Returns the longest literal part of a value with wildcards. Every match contains this part. */
function candidate(value: string, fold: boolean, write = (part: string) => part): Needle {
  const longest = wildcardParts(value).reduce((a, b) => (b.length > a.length ? b : a));
  return needle(write(longest), { fold, match: 'part' });
}

/** Matches rows with a requested protocol in any spelling. */
function protocolTerm(field: string, values: Values): Term {
  const isWanted = oneOfTexts(texts(field, values).flatMap(wantedProtocols));
  return {
    cost: costs.text,
    prepare(block) {
      const column = block.texts('app_protocol');
      const member = new Uint8Array(column.list.length + 1);
      const isOne = (text: string) => appProtocols(text).some(isWanted);
      return entriesIn(column, member, markTested(column.list, undefined, member, isOne));
    },
  };
}

/**
 * Matches names within registered domains. Checks the distinct names of a block, and parses only names that may be in
 * a requested domain.
 */
function registeredDomainTerm(field: string, values: Values): Term {
  const domains = texts(field, values).map((value) => value.toLowerCase());
  const isWanted = oneOfTexts(domains);
  const candidates = domains.map((domain) => candidate(domain, true));
  return {
    cost: costs.text,
    prepare(block) {
      const column = block.texts('query');
      const member = new Uint8Array(column.list.length + 1);
      const marked = markTested(column.list, candidates, member, (name) => {
        const domain = registeredDomain(name);
        return domain !== undefined && isWanted(domain);
      });
      return entriesIn(column, member, marked);
    },
  };
}

/** Matches rows with an answer that has the requested data. */
function answerTerm(field: string, values: Values): Term {
  const wanted = texts(field, values);
  const inJson = (part: string) => JSON.stringify(part).slice(1, -1);
  const candidates = wanted.map((value) => candidate(value, false, inJson));
  const isWanted = oneOfTexts(wanted);
  return {
    cost: costs.text,
    prepare(block) {
      const column = block.texts('answers');
      const member = new Uint8Array(column.list.length + 1);
      const marked = markAnswers(column.list, candidates, isWanted, member);
      return entriesIn(column, member, marked);
    },
  };
}

function endTimeTerm(isWanted: (end: number) => boolean): Term {
  return {
    cost: costs.derived,
    prepare(block) {
      const start = block.numbers('timestamp');
      const duration = block.numbers('duration_ms');
      if (duration.encoding === encodings.absent) return false;
      return keep((row) => isWanted(endTime(start.at(row), duration.at(row))));
    },
  };
}

/** Matches community ids: the sensor's id if present, otherwise the computed id. */
function communityIdTerm(field: string, values: Values): Term {
  const wanted = new Set(texts(field, values));
  if ([...wanted].some((value) => value.includes('*'))) throw invalidField(field, 'does not support wildcards');
  const hashes = [...wanted].map(parseCommunityId).filter((words) => words !== undefined);
  return {
    cost: costs.derived,
    prepare(block) {
      const given = block.texts('community_id');
      const flowOf = flowReader(block);
      return keep((row) => {
        const text = given.text(row);
        if (text !== undefined) return wanted.has(text);
        if (hashes.length === 0) return false;
        const flow = flowOf(row);
        return hashes.some((words) => flowMatches(flow, words));
      });
    },
  };
}

function ownersTerm(ends: readonly End[]) {
  return (field: string, values: Values, assets: AssetLookup): Term => {
    const ids = texts(field, values).map((value) => canonicalUuid(value));
    if (!ids.every((id) => id !== undefined)) throw invalidField(field, 'must be a valid UUID');
    return assetTerm(ends, ids, assets);
  };
}
