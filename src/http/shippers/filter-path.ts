import { type BulkField, type BulkFields, bulkFields } from '../../contract/bulk-items.ts';

/** What a client wants of the answer to a bulk request. */
export interface BulkParts {
  readonly took: boolean;
  readonly errors: boolean;
  readonly items: boolean;
  /** Of each item. */
  readonly fields: BulkFields;
}

const everything: BulkParts = { took: true, errors: true, items: true, fields: bulkFields };

/**
 * `?filter_path=` as shippers use it: names of parts with commas between, of items as `items.*.status` or
 * `items.create.error.reason`. Of an error all is told where a part of it is wanted. What is written otherwise (`**`, parts
 * of names, exclusions) leaves nothing out: who reads the answer finds what it asked for.
 */
export function bulkParts(filterPath: string | undefined): BulkParts {
  const paths = (filterPath ?? '').split(',').filter((path) => path !== '');
  const parts = paths.map((path) => path.split('.'));
  if (paths.length === 0 || parts.some((path) => !isPlain(path))) return everything;
  const named = new Set(parts.map(([part]) => part));
  const ofItems = parts.filter(([part]) => part === 'items');
  const whole = ofItems.some(([, , field]) => field === undefined || field === '*');
  const wanted = new Set(ofItems.map(([, , field]) => field));
  const fields = whole ? bulkFields : bulkFields.filter((field: BulkField) => wanted.has(field));
  return { took: named.has('took'), errors: named.has('errors'), items: fields.length > 0, fields };
}

const isPlain = (path: readonly string[]): boolean =>
  path.every((name) => /^(\*|[a-z_]+)$/.test(name)) && path[0] !== '*';
