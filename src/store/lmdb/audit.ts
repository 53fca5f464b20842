import { writeList } from '../../contract/json-list.ts';
import type { AuditRecord } from '../../contract/resources/audit-record.ts';
import { maxEntryIds } from '../../contract/vocabulary.ts';
import { auditList, type ListedRecord } from '../lists/audit-records.ts';
import { boundsOnlyTime } from '../lists/filter.ts';
import { pageFrom, pageOf, type Row } from '../lists/list.ts';
import type { ListPage, ListQuery, StoredAuditRecord } from '../store.ts';
import { takeEntries } from './call-entries.ts';
import { type AuditRow, entryCount, type Tables } from './tables.ts';
import { placesByTime, timeRange } from './time-pages.ts';

/**
 * Maximum number of records removed for each one added: more than one, so that a lowered limit is reached.
 */
const sweptForEach = 4;

/** Plans new records; existing ones, by id and time, stay unchanged. Beyond `max`, the oldest are removed. */
export function planAudit(tables: Tables, records: readonly StoredAuditRecord[], max: number): () => void {
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
 * Returns one page with the exact total. If only the time is bounded, keys are counted, at 0.06 µs each, and
 * only the page is read; with a filter, every record of the range is read.
 *
 * @param cancelled - polled from time to time; when true, the query ends with CANCELLED
 */
export function listAudit({ audit }: Tables, query: ListQuery, cancelled: () => boolean): ListPage {
  const { shown, ...rest } =
    query.sort === 'time' && boundsOnlyTime(query)
      ? pageFrom(auditList, query, (after, offset) => placesByTime(audit, query, after, offset))
      : pageOf(auditList, rows(audit, query), query, cancelled);
  const texts = shown.map(({ value, id }) => {
    const [, , , json] = audit.get([value as number, id])!;
    return `{"id":${JSON.stringify(id)},"type":"${auditList.type}","attributes":${json}}`;
  });
  return { json: writeList(texts, query.form), ...rest };
}

function* rows(audit: Tables['audit'], query: ListQuery): Generator<Row<ListedRecord>> {
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
