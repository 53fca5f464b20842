import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { auditOutcomes } from '../../src/contract/resources/audit-record.ts';
import { openReader } from '../../src/store/lmdb/reader.ts';
import type { AuditListQuery, StoredAuditRecord } from '../../src/store/store.ts';
import { uuid7 } from '../../src/uuid.ts';
import { opened, resources, start } from './opened.ts';

const record = (n: number, changes: Partial<StoredAuditRecord> = {}): StoredAuditRecord => ({
  id: uuid7(start + n),
  actor: 'anonymous',
  operation: 'login',
  request_id: `r${n}`,
  source_address: '192.0.2.1',
  outcome: 'success',
  time: new Date(start + n).toISOString(),
  ...changes,
});
const all: AuditListQuery = { page: 1, per_page: 1000 };

/** A page as the records that it was made of. */
const read = (page: { json: Uint8Array }): StoredAuditRecord[] =>
  resources<Omit<StoredAuditRecord, 'id'>>(page).map(({ id, type, attributes }) => {
    expect(type).toBe('audit_record');
    return { id, ...attributes };
  });

describe('the audit log', () => {
  test('is empty at first, and gives back what was added, newest first', async () => {
    const { store, reader } = opened();
    expect(reader.listAudit(all)).toMatchObject({ total: 0, page: 1 });
    expect(read(reader.listAudit(all))).toEqual([]);
    const records = [
      record(0, { actor_name: 'Ünal "<\\>" \u2028 \ud83d\ude00', count: 3, code: 'FORBIDDEN' }),
      record(1, { resource: { type: 'alert', id: uuid7(start) } }),
      record(2),
    ];
    await store.addAudit([records[2]!, records[0]!]);
    await store.addAudit([]);
    await store.addAudit([records[1]!]);
    expect(read(reader.listAudit(all))).toEqual(records.toReversed());
  });

  test('has a record once, however often its call is repeated', async () => {
    const { store, reader } = opened({ maxAuditRecords: 3 });
    const records = [0, 1, 2].map((n) => record(n));
    for (let n = 0; n < 3; n++) await store.addAudit(records);
    await Promise.all(records.map((each) => store.addAudit([each])));
    expect(read(reader.listAudit(all))).toEqual(records.toReversed());
  });

  test('is bounded: the oldest go with what is added', async () => {
    const { store, reader } = opened({ maxAuditRecords: 10 });
    for (let n = 0; n < 40; n += 4) {
      await store.addAudit([0, 1, 2, 3].map((i) => record(n + i)));
      const { total } = reader.listAudit(all);
      expect(total).toBe(Math.min(n + 4, 10));
    }
    expect(read(reader.listAudit(all)).map(({ request_id }) => request_id)).toEqual(
      Array.from({ length: 10 }, (_, i) => `r${39 - i}`),
    );
    await Promise.all([50, 51, 52].map((n) => store.addAudit([record(n)])));
    await store.addAudit(Array.from({ length: 25 }, (_, n) => record(100 + n)));
    expect(reader.listAudit(all).total).toBe(10);
    expect(read(reader.listAudit(all))[0]?.request_id).toBe('r124');
  });

  test('comes down to a limit that was lowered', async () => {
    const { store, reader, dataDir } = opened();
    await store.addAudit(Array.from({ length: 50 }, (_, n) => record(n)));
    reader.close();
    await store.close();
    const { openStore } = await import('../../src/store/lmdb/store.ts');
    const again = openStore({ dataDir, alertWindowMs: 1, maxAuditRecords: 10 });
    const after = openReader(dataDir);
    const totals = [];
    for (let n = 0; n < 14; n++) {
      await again.addAudit([record(100 + n)]);
      totals.push(after.listAudit(all).total);
    }
    expect(totals).toEqual([47, 44, 41, 38, 35, 32, 29, 26, 23, 20, 17, 14, 11, 10]);
    after.close();
    await again.close();
  });

  test('a search that nobody waits for ends', async () => {
    const { store, dataDir } = opened();
    await store.addAudit(Array.from({ length: 3000 }, (_, n) => record(n)));
    let asked = 0;
    const reader = openReader(dataDir, () => ++asked === 2);
    expect(() => reader.listAudit({ ...all, actor: ['nobody'] })).toThrow(
      expect.objectContaining({ code: 'CANCELLED' }),
    );
    reader.close();
  });
});

test('any filter, range and page gives what going through all records gives, with the total', async () => {
  const { store, reader } = opened();
  const actors = ['anonymous', 'a', 'b'];
  const operations = ['login', 'listAlerts', 'several'];
  const records = Array.from({ length: 300 }, (_, n) =>
    record(Math.floor(n / 3), {
      actor: actors[n % 3]!,
      operation: operations[Math.floor(n / 7) % 3]!,
      outcome: auditOutcomes[Math.floor(n / 11) % 3]!,
    }),
  );
  await store.addAudit(records);
  const some = <T>(...values: T[]) => fc.subarray(values, { minLength: 1 });
  const time = fc.oneof(
    fc.integer({ min: start - 3, max: start + 103 }),
    fc.constantFrom(0, -1, start + 0.5, 8.64e15),
  );
  const query = fc.record(
    {
      from: time,
      to: time,
      actor: some(...actors, 'nobody'),
      operation: some(...operations),
      outcome: some(...auditOutcomes),
      page: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constant(2 ** 50)),
      per_page: fc.constantFrom(1, 7, 100, 1000),
    },
    { requiredKeys: ['page', 'per_page'] },
  );
  const newestFirst = records.toSorted((a, b) =>
    a.time === b.time ? (a.id < b.id ? 1 : -1) : a.time < b.time ? 1 : -1,
  );
  fc.assert(
    fc.property(query, (wanted) => {
      const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY, page, per_page } = wanted;
      const expected = newestFirst.filter(
        (each) =>
          Date.parse(each.time) >= from &&
          Date.parse(each.time) < to &&
          (wanted.actor ?? [each.actor]).includes(each.actor) &&
          (wanted.operation ?? [each.operation]).includes(each.operation) &&
          (wanted.outcome ?? [each.outcome]).includes(each.outcome),
      );
      const got = reader.listAudit(wanted);
      expect(got).toMatchObject({ total: expected.length, page });
      expect(read(got)).toEqual(expected.slice((page - 1) * per_page, page * per_page));
    }),
    { numRuns: 500 },
  );
});
