import { writeList } from '../../contract/json-list.ts';
import type { AuditRecord } from '../../contract/resources/audit-record.ts';
import { maxEntryIds } from '../../contract/vocabulary.ts';
import { boundsOnlyTime } from '../../database/lists/filter.ts';
import { pageFrom, pageOf, type Row } from '../../database/lists/list.ts';
import { entryCount } from '../../database/rows.ts';
import { positionsByTime, timeRange } from '../../database/time-pages.ts';
import type { ListPage, ListQuery, StoredAuditRecord } from '../../store/store.ts';
import { auditList, type ListedRecord } from '../lists.ts';
import { takeEntries } from './call-entries.ts';
import type { AuditRow, IdentityTables } from './tables.ts';

/**
 * Maximum number of records removed for each record added. It is greater than one, so that a lowered limit is
 * reached.
 */
const sweptForEach = 4;

/**
 * Plans the addition of records. Records whose id and time already exist stay unchanged. Beyond `max`, the
 * oldest records are removed.
 */
export function planAudit(tables: IdentityTables, records: readonly StoredAuditRecord[], max: number): () => void {
  return () => {
    const { audit } = tables;
    for (const { id, call, ...attributes } of records) {
      const { actor, operation, outcome, time } = attributes;
      const key: [number, string] = [Date.parse(time), id];
      if (audit.doesExist(key)) continue;
      const caused = call === undefined ? [] : takeEntries(tables, call);
      const entry_ids = [...(attributes.entry_ids ?? []), ...caused].slice(0, maxEntryIds);
      const record: AuditRecord = { ...attributes, ...(entry_ids.length === 0 ? {} : { entry_ids }) };
      audit.putSync(key, [actor, operation, outcome, JSON.stringify(record)]);
    }
    const excess = Math.min(entryCount(audit) - max, sweptForEach * records.length);
    if (excess > 0) for (const key of [...audit.getKeys({ limit: excess })]) audit.removeSync(key);
  };
}

/**
 * Returns one page of audit records, with the exact total. If only the time is bounded, keys are counted, at
 * 0.06 µs each, and only the page is read; with a filter, every record of the range is read.
 *
 * @param cancelled - polled during the query; when it returns true, the query fails with CANCELLED
 */
export function listAudit({ audit }: IdentityTables, query: ListQuery, cancelled: () => boolean): ListPage {
  const { shown, ...rest } =
    query.sort === 'time' && boundsOnlyTime(query)
      ? pageFrom(auditList, query, (after, offset) => positionsByTime(audit, query, after, offset))
      : pageOf(auditList, rows(audit, query), query, cancelled);
  const texts = shown.map(({ value, id }) => {
    const [, , , json] = audit.get([value as number, id])!;
    return `{"id":${JSON.stringify(id)},"type":"${auditList.type}","attributes":${json}}`;
  });
  return { json: writeList(texts, query.form), ...rest };
}

function* rows(audit: IdentityTables['audit'], query: ListQuery): Generator<Row<ListedRecord>> {
  for (const { key, value } of audit.getRange(timeRange(query)))
    yield { id: key[1], item: new AuditItem(key[0], value) };
}

class AuditItem implements ListedRecord {
  readonly time: number;
  readonly #row: AuditRow;
  #attributes: AuditRecord | undefined;

  constructor(time: number, row: AuditRow) {
    this.time = time;
    this.#row = row;
  }

  get actor(): string {
    return this.#row[0];
  }

  get operation(): string {
    return this.#row[1];
  }

  get outcome(): string {
    return this.#row[2];
  }

  get json(): string {
    return this.#row[3];
  }

  get attributes(): AuditRecord {
    this.#attributes ??= JSON.parse(this.json) as AuditRecord;
    return this.#attributes;
  }
}
