import type { TObject } from 'typebox';
import { routeOf } from '../../../contract/routes.ts';
import { type TableName, tables } from './tables.ts';

/** The attribute shown first. */
export const firstField: Readonly<Record<TableName, string>> = {
  network: 'dst_port',
  dns: 'registered_domain',
};

/** Attributes listed first, because counting their values is most useful. */
const preferred: Readonly<Record<TableName, readonly string[]>> = {
  network: [
    'src_ip',
    'dst_ip',
    'ip',
    'dst_port',
    'app_protocol',
    'transport',
    'state',
    'direction',
    'severity',
    'sensor',
  ],
  dns: ['src_ip', 'registered_domain', 'query', 'qtype', 'rcode_name', 'answer', 'dst_ip', 'severity', 'sensor'],
};

/** Returns all fields whose values the service counts, preferred fields first. */
export function countedFields(table: TableName): string[] {
  const { query } = routeOf(tables[table].values);
  const { by } = (query as TObject).properties;
  const known = (by as { enum?: readonly string[] } | undefined)?.enum ?? [];
  return [...new Set([...preferred[table].filter((name) => known.includes(name)), ...known])];
}

/** Formats a share in per cent; never rounds to 0 or 100. */
export function shareOf(count: number, total: number): string {
  const share = total === 0 ? 0 : (100 * count) / total;
  if (count > 0 && share < 0.1) return '< 0.1 %';
  if (count < total && share > 99.9) return '> 99.9 %';
  return `${share.toFixed(share < 10 || share > 99 ? 1 : 0).replace(/\.0$/, '')} %`;
}
