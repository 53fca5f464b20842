import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { auditOutcomes } from '../../../src/contract/vocabulary.ts';
import { limits } from '../../../src/limits.ts';
import { openReader } from '../../../src/store/reader.ts';
import type { ListQuery, StoredAuditRecord } from '../../../src/store/store.ts';
import { uuid7 } from '../../../src/uuid.ts';
import { allRecords as all, hour, opened, resources, start } from '../../store/opened.ts';
import { principal, session } from './identity-records.ts';
import { withAdmin } from './with-admin.ts';

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

/** Returns the records of a page. */
const read = (page: { json: Uint8Array }): StoredAuditRecord[] =>
  resources<Omit<StoredAuditRecord, 'id'>>(page).map(({ id, type, attributes }) => {
    expect(type).toBe('audit_record');
    return { id, ...attributes };
  });

describe('the audit log', () => {
  test('is empty at first, and returns added records newest first', async () => {
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

  test('has each record once, even if the record is added again', async () => {
    const { store, reader } = opened({ maxAuditRecords: 3 });
    const records = [0, 1, 2].map((n) => record(n));
    for (let n = 0; n < 3; n++) await store.addAudit(records);
    await Promise.all(records.map((each) => store.addAudit([each])));
    expect(read(reader.listAudit(all))).toEqual(records.toReversed());
  });

  test('is bounded: the oldest records are removed when others are added', async () => {
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

  test('shrinks to a lowered limit', async () => {
    const { store, reader, dataDir } = opened();
    await store.addAudit(Array.from({ length: 50 }, (_, n) => record(n)));
    reader.close();
    await store.close();
    const { openStore } = await import('../../../src/store/writer.ts');
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

  test('ends a search when the search is cancelled', async () => {
    const { store, dataDir } = opened();
    await store.addAudit(Array.from({ length: 3000 }, (_, n) => record(n)));
    let asked = 0;
    const reader = openReader(dataDir, () => ++asked === 2);
    expect(() => reader.listAudit({ ...all, terms: [{ field: 'actor', values: ['nobody'] }] })).toThrow(
      expect.objectContaining({ code: 'CANCELLED' }),
    );
    reader.close();
  });
});

test('any filter, range, order and page gives the same records and total as a scan of all records', async () => {
  const { store, reader } = opened();
  const actors = ['anonymous', 'a', 'b'];
  const operations = ['login', 'listAlerts', 'several'];
  const addresses = ['192.0.2.1', '192.0.2.200', '2001:db8::1'];
  const records = Array.from({ length: 300 }, (_, n) =>
    record(Math.floor(n / 3), {
      actor: actors[n % 3]!,
      ...(n % 2 === 0 ? { actor_name: `name ${n % 8}`, resource: { type: 'token', id: `t${n % 5}` } } : {}),
      operation: operations[Math.floor(n / 7) % 3]!,
      outcome: auditOutcomes[Math.floor(n / 11) % 3]!,
      ...(n % 13 === 0 ? { code: 'FORBIDDEN', entry_ids: [uuid7(start), `e${n % 4}`] } : {}),
      source_address: addresses[Math.floor(n / 5) % 3]!,
      request_id: `r${n % 50}`,
    }),
  );
  await store.addAudit(records);
  /** Naive implementations of the filter terms. */
  const terms = {
    actor: ({ actor }) => [actor],
    actor_name: ({ actor_name }) => [actor_name],
    operation: ({ operation }) => [operation],
    outcome: ({ outcome }) => [outcome],
    code: ({ code }) => [code],
    resource_type: ({ resource }) => [resource?.type],
    resource_id: ({ resource }) => [resource?.id],
    request_id: ({ request_id }) => [request_id],
    source_address: ({ source_address }) => [source_address],
    entry_id: ({ entry_ids = [] }) => entry_ids,
  } as const satisfies Record<string, (each: StoredAuditRecord) => readonly (string | undefined)[]>;
  const values: Record<keyof typeof terms, readonly string[]> = {
    actor: [...actors, 'nobody'],
    actor_name: ['name 0', 'name 2', 'none'],
    operation: operations,
    outcome: auditOutcomes,
    code: ['FORBIDDEN', 'INTERNAL'],
    resource_type: ['token', 'alert'],
    resource_id: ['t0', 't3', 't9'],
    request_id: ['r1', 'r2', 'r99'],
    source_address: addresses,
    entry_id: ['e0', 'e1', 'none'],
  };
  const term = fc
    .constantFrom(...(Object.keys(terms) as (keyof typeof terms)[]))
    .chain((field) => fc.subarray([...values[field]], { minLength: 1 }).map((wanted) => ({ field, values: wanted })));
  const time = fc.oneof(fc.integer({ min: start - 3, max: start + 103 }), fc.constantFrom(0, -1, start + 0.5, 8.64e15));
  const query = fc.record(
    {
      from: time,
      to: time,
      q: fc.constantFrom('', 'LOGIN', 'name 2', 'T3', 'nothing'),
      terms: fc.array(term, { maxLength: 2 }),
      order: fc.constantFrom('asc' as const, 'desc' as const),
      page: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constant(2 ** 50)),
      per_page: fc.constantFrom(1, 7, 100, 1000),
    },
    { requiredKeys: ['terms', 'order', 'page', 'per_page'] },
  );
  const newestFirst = records.toSorted((a, b) =>
    a.time === b.time ? (a.id < b.id ? 1 : -1) : a.time < b.time ? 1 : -1,
  );
  fc.assert(
    fc.property(query, (wanted) => {
      const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY, q = '', page, per_page } = wanted;
      const expected = newestFirst.filter(
        (each) =>
          Date.parse(each.time) >= from &&
          Date.parse(each.time) < to &&
          [each.actor_name, each.operation, each.resource?.type, each.resource?.id, each.request_id].some((name) =>
            name?.toLowerCase().includes(q.toLowerCase()),
          ) &&
          wanted.terms.every(({ field, values }) =>
            terms[field](each).some((value) => value !== undefined && values.includes(value)),
          ),
      );
      if (wanted.order === 'asc') expected.reverse();
      const asked: ListQuery = { ...wanted, sort: 'time' };
      const got = reader.listAudit(asked);
      expect(got).toMatchObject({ total: expected.length, page });
      expect(read(got)).toEqual(expected.slice((page - 1) * per_page, page * per_page));
      expect(got.next_cursor !== undefined).toBe(page * per_page < expected.length);
      if (got.next_cursor === undefined) return;
      const next = reader.listAudit({ ...asked, cursor: got.next_cursor });
      expect(next).toEqual(reader.listAudit({ ...asked, page: page + 1 }));
    }),
    { numRuns: 150 },
  );
});

test('source addresses are filtered by block, and lists are sorted by time only', async () => {
  const { store, reader } = opened();
  await store.addAudit(['192.0.2.1', '192.0.3.1', '2001:db8::1'].map((ip, n) => record(n, { source_address: ip })));
  const within = (block: string) =>
    read(reader.listAudit({ ...all, terms: [{ field: 'source_address', values: [block] }] })).length;
  expect(['192.0.2.0/24', '192.0.0.0/16', '2001:db8::/32', '10.0.0.0/8'].map(within)).toEqual([1, 2, 1, 0]);
  const refused = (changes: Partial<ListQuery>) => () => reader.listAudit({ ...all, ...changes });
  const naming = (field: string) =>
    expect.objectContaining({ code: 'INVALID_REQUEST', details: expect.objectContaining({ field }) });
  expect(refused({ sort: 'actor' })).toThrow(naming('sort'));
  expect(refused({ terms: [{ field: 'code', values: ['WRONG'] }] })).toThrow(naming('code'));
  expect(refused({ cursor: 'x' })).toThrow(naming('cursor'));
});

describe('entries that a call caused', () => {
  test('are listed in the record of this call only, in order', async () => {
    const { store, reader, admin, rows } = await withAdmin();
    const [one, other] = [uuid7(start), uuid7(start)];
    const by = { id: admin.id, name: admin.name };
    const ana = principal('ana');
    await store.createPrincipal(ana, { ...by, call: one });
    await store.changePrincipal(ana.id, { status: 'suspended', roles: ['viewer'] }, { ...by, call: other });
    await store.record({
      kind: 'policy.reloaded',
      actor: admin.id,
      subject: { type: 'policy', id: 'p' },
      data: {},
    });
    await store.changePrincipal(ana.id, { roles: ['analyst'] }, { ...by, call: one });
    await store.createPrincipal(principal('ben'), by);
    const entries = (await rows()).map(({ id }) => id);
    expect(entries).toHaveLength(6);
    await store.addAudit([record(1, { call: other }), record(2, { call: one, entry_ids: ['first'] }), record(3)]);
    expect(read(reader.listAudit(all)).map(({ entry_ids }) => entry_ids)).toEqual([
      undefined,
      ['first', entries[0], entries[4]],
      [entries[1], entries[2]],
    ]);
    expect(Buffer.from(reader.listAudit(all).json).toString()).not.toContain('"call"');
  });

  test('stay with the record when the record is written again after a lost response', async () => {
    const { store, reader, admin, rows } = await withAdmin();
    const call = uuid7(start);
    await store.createPrincipal(principal('ana'), { id: admin.id, name: admin.name, call });
    const written = record(1, { call });
    for (let n = 0; n < 2; n++) await store.addAudit([written]);
    const entries = (await rows()).map(({ id }) => id);
    expect(read(reader.listAudit(all)).map(({ entry_ids }) => entry_ids)).toEqual([entries]);
  });

  test('include one entry for each session that a new password ends', async () => {
    const { store, reader, admin, rows } = await withAdmin();
    const call = uuid7(start);
    const sessions = Array.from({ length: limits.maxTokensPerPrincipal }, () => session(admin));
    await Promise.all(sessions.map((token) => store.addToken(token, admin)));
    await store.changePrincipal(admin.id, { password_hash: 'new' }, { id: admin.id, name: 'admin', call });
    await store.addAudit([record(1, { call })]);
    const revoked = (await rows()).filter(({ kind }) => kind === 'token.revoked').map(({ id }) => id);
    expect(read(reader.listAudit(all))[0]!.entry_ids).toEqual(revoked);
    expect(revoked).toHaveLength(sessions.length);
  });

  test('are forgotten after an hour if the call has no record', async () => {
    const { store, reader, admin, clock } = await withAdmin();
    const [lost, late] = [uuid7(start), uuid7(start + 2 * hour)];
    const by = { id: admin.id, name: admin.name };
    await store.createPrincipal(principal('ana'), { ...by, call: lost });
    clock.now += 2 * hour;
    await store.createPrincipal(principal('ben'), { ...by, call: late });
    await store.addAudit([record(1, { call: lost }), record(2, { call: late })]);
    expect(read(reader.listAudit(all)).map(({ entry_ids = [] }) => entry_ids.length)).toEqual([1, 0]);
  });
});
