import { type Attribute, attributes } from './attributes.ts';
import type { TableName } from './tables.ts';

type Named = Pick<Attribute, 'title' | 'width' | 'from'>;

/** Columns that combine several attributes. */
const composed: Readonly<Record<TableName, Readonly<Record<string, Named>>>> = {
  network: {
    src: { title: 'Source', width: 176 },
    dst: { title: 'Destination', width: 176 },
    protocol: { title: 'Protocol', width: 104, from: 480 },
    traffic: { title: 'Sent / received', width: 148, from: 860 },
  },
  dns: { src: { title: 'Client', width: 176 }, dst: { title: 'Resolver', width: 176 } },
};

const namedOf = (table: TableName, id: string): Named | undefined => composed[table][id] ?? attributes[table][id];

const defaults: Readonly<Record<TableName, readonly string[]>> = {
  network: ['timestamp', 'severity', 'src', 'dst', 'protocol', 'state', 'traffic', 'duration_ms'],
  dns: ['timestamp', 'severity', 'src', 'qtype', 'query', 'rcode_name', 'answers', 'rtt_ms'],
};

export interface ColumnName {
  readonly id: string;
  readonly title: string;
}

/** Returns all columns of a table in display order. */
export function allColumns(table: TableName): ColumnName[] {
  const ids = new Set([...defaults[table], ...Object.keys(composed[table]), ...Object.keys(attributes[table])]);
  return [...ids].map((id) => ({ id, title: titleOf(table, id) }));
}

export const titleOf = (table: TableName, id: string): string => namedOf(table, id)?.title ?? id;

/** Parses the columns in the URL; without columns, returns the defaults. The time is always included. */
export function chosenColumns(table: TableName, text: string | null | undefined): readonly string[] {
  const known = new Set(allColumns(table).map(({ id }) => id));
  const named = [...new Set((text ?? '').split(','))].filter((id) => known.has(id));
  if (named.length === 0) return defaults[table];
  return named.includes('timestamp') ? named : ['timestamp', ...named];
}

/** Formats columns for the URL; undefined for the defaults. */
export function columnsText(table: TableName, ids: readonly string[]): string | undefined {
  const order = allColumns(table).map(({ id }) => id);
  const text = order.filter((id) => ids.includes(id)).join(',');
  return text === '' || text === [...defaults[table]].join(',') ? undefined : text;
}

/** Returns the width in pixels. */
export const widthOf = (table: TableName, id: string): number => namedOf(table, id)?.width ?? 100;

export const fromOf = (table: TableName, id: string): number | undefined => namedOf(table, id)?.from;
