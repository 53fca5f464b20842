import { invalidField } from '../errors.ts';
import { canonicalUuid } from '../uuid.ts';
import { addressTerm } from './address-term.ts';
import { markAnswers } from './answers.ts';
import type { AssetLookup } from './asset-lookup.ts';
import { assetTerm } from './asset-term.ts';
import type { End } from './block-assets.ts';
import { encodings } from './block-format.ts';
import { type ColumnName, columnOf } from './columns.ts';
import { flowMatches, parseCommunityId } from './community-id.ts';
import type { FilterTerm } from './filter.ts';
import { flag, number, place, texts, time, type Values } from './filter-values.ts';
import type { Table } from './records.ts';
import { registeredDomain } from './registered-domain.ts';
import { endTime, flowReader } from './resource.ts';
import { costs, entriesIn, keep, numbersIn, type Term } from './term.ts';
import { markMatches, mayHave, needle } from './text-search.ts';

/** Fields that are no column of their own, or more than one. */
const derivedFields: Readonly<
  Record<Table, Readonly<Record<string, (field: string, values: Values, assets: AssetLookup) => Term>>>
> = {
  network: {
    ip: (field, values) => addressTerm(['src_ip', 'dst_ip'], texts(field, values), field),
    end_time: endTimeTerm,
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

/** Columns that are not attributes that a filter can name. */
const notFilterable: ReadonlySet<string> = new Set(['id', 'answers']);

export function compileTerm(table: Table, { field, values }: FilterTerm, assets: AssetLookup): Term {
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
      return numberTerm(
        name,
        new Set(texts(field, values).map((value) => place(field, value, column.values))),
      );
    case 'address':
      return addressTerm([name], texts(field, values), field);
    case 'text':
    case 'unique':
      return textTerm(name, texts(field, values), column.fold === true, costs[column.kind]);
    case undefined:
      throw invalidField(field, `is not a filter of ${table} events`);
  }
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

/** Whether every whole number from the least to the largest is wanted; not said of those from 2^53 on, which can't be counted up. */
function isEach(wanted: ReadonlySet<number>, least: number, most: number): boolean {
  if (!Number.isSafeInteger(least) || !Number.isSafeInteger(most) || most - least >= wanted.size)
    return false;
  for (let value = least; value <= most; value++) if (!wanted.has(value)) return false;
  return true;
}

function textTerm(name: ColumnName, values: readonly string[], fold: boolean, cost: number): Term {
  const needles = values.map((value) => needle(value, { fold, match: 'whole' }));
  return {
    cost,
    prepare(block) {
      const likely = needles.filter((wanted) => mayHave(block, name, wanted));
      if (likely.length === 0) return false;
      const column = block.texts(name);
      const member = new Uint8Array(column.list.length + 1);
      let marked = 0;
      for (const wanted of likely) marked += markMatches(column.list, wanted, member);
      return entriesIn(column, member, marked);
    },
  };
}

/** By the distinct names of a block: those that end in the domain are asked for their own. */
function registeredDomainTerm(field: string, values: Values): Term {
  const domains = texts(field, values).map((value) => value.toLowerCase());
  const needles = domains.flatMap((domain) =>
    [domain, `${domain}.`].map((text) => needle(text, { fold: true, match: 'suffix' })),
  );
  return {
    cost: costs.text,
    prepare(block) {
      const column = block.texts('query');
      const member = new Uint8Array(column.list.length + 1);
      for (const wanted of needles) markMatches(column.list, wanted, member);
      let marked = 0;
      for (let code = 1; code < member.length; code++) {
        if (member[code] === 0) continue;
        const domain = registeredDomain(column.list.text(code - 1));
        if (domain !== undefined && domains.includes(domain)) marked++;
        else member[code] = 0;
      }
      return entriesIn(column, member, marked);
    },
  };
}

/** Rows one of whose answers has this data. */
function answerTerm(field: string, values: Values): Term {
  const wanted = new Set(texts(field, values));
  const needles = [...wanted].map((value) => needle(JSON.stringify(value), { fold: false, match: 'part' }));
  return {
    cost: costs.text,
    prepare(block) {
      const column = block.texts('answers');
      const member = new Uint8Array(column.list.length + 1);
      const marked = markAnswers(column.list, needles, (data) => wanted.has(data), member);
      return entriesIn(column, member, marked);
    },
  };
}

function endTimeTerm(field: string, values: Values): Term {
  const wanted = new Set(values.map((value) => time(field, value)));
  return {
    cost: costs.derived,
    prepare(block) {
      const start = block.numbers('timestamp');
      const duration = block.numbers('duration_ms');
      if (duration.encoding === encodings.absent) return false;
      return keep((row) => wanted.has(endTime(start.at(row), duration.at(row))));
    },
  };
}

/** The sensor's id where it gave one, else the computed one. */
function communityIdTerm(field: string, values: Values): Term {
  const wanted = new Set(texts(field, values));
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
