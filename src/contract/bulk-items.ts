/** Fields of an item in the response of an Elasticsearch bulk request. */
export const bulkFields = [
  '_index',
  '_id',
  '_version',
  'result',
  '_shards',
  '_seq_no',
  '_primary_term',
  'status',
  'error',
] as const;
export type BulkField = (typeof bulkFields)[number];
/** Fields to return for each item. */
export type BulkFields = readonly BulkField[];

/** The part of a bulk action that the response repeats. */
export interface BulkSubject {
  readonly action: string;
  readonly index?: string | undefined;
  readonly id?: string | undefined;
}

export interface BulkError {
  readonly status: number;
  readonly type: string;
  readonly reason: string;
}

export interface BulkWriter {
  /** Formats the item of a stored record. */
  created(subject: BulkSubject): string;
  /** Formats the item of a duplicate, or of a record whose kind is not stored. The item reports a success. */
  noop(subject: BulkSubject): string;
  failed(subject: BulkSubject, error: BulkError): string;
}

/**
 * Returns a writer of response items as JSON with these fields. An item that has none of the fields is written as an
 * empty string.
 */
export function bulkWriter(fields: BulkFields): BulkWriter {
  const wanted = new Set(fields);
  const { created, noop } = endsOf(fields);
  const write = ({ action, index, id }: BulkSubject, end: string): string => {
    const index_ = index === undefined || !wanted.has('_index') ? '' : `"_index":${JSON.stringify(index)},`;
    const id_ = id === undefined || !wanted.has('_id') ? '' : `"_id":${JSON.stringify(id)},`;
    const said = `${index_}${id_}${end}`;
    return said === '' ? '' : `{"${action}":{${said.endsWith(',') ? said.slice(0, -1) : said}}}`;
  };
  return {
    created: (subject) => write(subject, created),
    noop: (subject) => write(subject, noop),
    failed: (subject, { status, type, reason }) =>
      write(subject, pick(fields, { status, error: { type, reason, index: subject.index } })),
  };
}

/** Returns the ends of response items, after `_index` and `_id`, for a stored record, a no-op and a conflict. */
export function endsOf(fields: BulkFields): Readonly<Record<'created' | 'noop' | 'conflict', string>> {
  const done = (result: 'created' | 'noop', status: number) =>
    pick(fields, {
      _version: 1,
      result,
      _shards: { total: 1, successful: 1, failed: 0 },
      _seq_no: 0,
      _primary_term: 1,
      status,
    });
  return { created: done('created', 201), noop: done('noop', 200), conflict: pick(fields, conflict) };
}

/**
 * Error if the document of a `create` already exists. Shippers recognise this error as a record that they have sent
 * before.
 */
const conflict = {
  status: 409,
  error: {
    type: 'version_conflict_engine_exception',
    reason: 'version conflict, document already exists (current version [1])',
  },
};

function pick(fields: BulkFields, members: Partial<Record<BulkField, unknown>>): string {
  return bulkFields
    .filter((field) => fields.includes(field) && members[field] !== undefined)
    .map((field) => `"${field}":${JSON.stringify(members[field])}`)
    .join(',');
}

/** Placeholder for an id in a response until the row has one. */
export const blankId = '00000000-0000-0000-0000-000000000000';
