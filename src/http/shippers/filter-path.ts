import { type BulkField, type BulkFields, bulkFields } from '../../contract/bulk-items.ts';

/** The parts of the response to a bulk request that the client wants. */
export interface BulkParts {
  readonly took: boolean;
  readonly errors: boolean;
  readonly items: boolean;
  /** The wanted fields of each item. */
  readonly fields: BulkFields;
}

const everything: BulkParts = { took: true, errors: true, items: true, fields: bulkFields };

/**
 * Parses `?filter_path=` in the form that shippers use: names of parts separated by commas, such as `errors`,
 * `items.*.status` or `items.create.error.reason`. If a part of an error is wanted, the whole error is
 * returned. Other forms (`**`, parts of names, exclusions) do not filter: the response then contains all
 * parts.
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
