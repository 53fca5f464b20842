import { ServiceError } from '../../errors.ts';
import type { AuditListQuery, ListPage, StoredAuditRecord } from '../store.ts';
import { type AuditRow, entryCount, type Tables } from './tables.ts';

/** Records removed for each that is added, at most: more than come, so that a limit that was lowered is reached. */
const sweptForEach = 4;
/** Rows read between two looks at whether anybody still waits: a millisecond. */
const rowsAtOnce = 1024;

/** Plans new records; those under an id and time that exist replace them. The oldest beyond `max` go. */
export function planAudit({ audit }: Tables, records: readonly StoredAuditRecord[], max: number): () => void {
  return () => {
    for (const { id, ...record } of records) {
      const { actor, operation, outcome, time } = record;
      audit.putSync([Date.parse(time), id], [actor, operation, outcome, JSON.stringify(record)]);
    }
    const excess = Math.min(entryCount(audit) - max, sweptForEach * records.length);
    if (excess > 0) for (const key of [...audit.getKeys({ limit: excess })]) audit.removeSync(key);
  };
}

/**
 * One page, newest first, with the exact total. Without a filter keys are counted, at 0.06 µs each; with one, every
 * record of the range is read.
 *
 * @param cancelled - asked now and then; once true, it ends with CANCELLED
 */
export function listAudit({ audit }: Tables, query: AuditListQuery, cancelled: () => boolean): ListPage {
  const { from, to, page, per_page } = query;
  // A time alone sorts before all keys of that time.
  const start = to === undefined ? {} : { start: [to] as unknown as [number, string] };
  const end = from === undefined ? {} : { end: [from] as unknown as [number, string] };
  const range = { ...start, ...end, reverse: true };
  const offset = (page - 1) * per_page;
  const shown: string[] = [];
  const show = ([, id]: [number, string], [, , , json]: AuditRow) =>
    shown.push(`{"id":${JSON.stringify(id)},"type":"audit_record","attributes":${json}}`);

  let total = 0;
  const wanted = compile(query);
  if (wanted === undefined) {
    // A copy, because lmdb-js writes to the options of a count.
    total = from === undefined && to === undefined ? entryCount(audit) : audit.getKeysCount({ ...range });
    if (offset < total)
      for (const { key, value } of audit.getRange({ ...range, offset, limit: per_page })) show(key, value);
  } else {
    let read = 0;
    for (const { key, value } of audit.getRange(range)) {
      if (++read % rowsAtOnce === 0 && cancelled())
        throw new ServiceError('CANCELLED', 'nobody waits for this query any more');
      if (!wanted(value)) continue;
      if (total >= offset && total < offset + per_page) show(key, value);
      total++;
    }
  }
  return { json: new TextEncoder().encode(`[${shown.join(',')}]`), total, page };
}

/** Undefined where everything is wanted. */
function compile({ actor, operation, outcome }: AuditListQuery): ((row: AuditRow) => boolean) | undefined {
  const sets = [actor, operation, outcome].map((values) =>
    values === undefined ? undefined : new Set<string>(values),
  );
  const terms = sets.flatMap((values, column) =>
    values === undefined ? [] : [(row: AuditRow) => values.has(row[column]!)],
  );
  return terms.length === 0 ? undefined : (row) => terms.every((term) => term(row));
}
