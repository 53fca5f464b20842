import { rmSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../../../src/database/lmdb.ts';
import { Intel } from '../../../../src/detect/store/intel/intel.ts';
import { planIntel, planIntelChange, planIntelRemoval } from '../../../../src/detect/store/intel/intel-change.ts';
import { getIntel } from '../../../../src/detect/store/intel/intel-reads.ts';
import type { IntelContent } from '../../../../src/detect/store/intel/intel-row.ts';
import { limits } from '../../../../src/limits.ts';
import { Outbox } from '../../../../src/store/outbox.ts';
import { openReader } from '../../../../src/store/reader.ts';
import { openTables } from '../../../../src/store/tables.ts';
import { openStore } from '../../../../src/store/writer.ts';
import { system } from '../../../identities/store/identity-records.ts';
import { newest, opened, resources, start } from '../../../store/opened.ts';
import { contentOf, terms } from './known-bad.ts';

const day = 86_400_000;
const byChange = { ...newest, sort: 'changed_at' };
const byValue = { ...newest, sort: 'value', order: 'asc' } as const;

/** Opens the intel tables in a separate file, so that transactions can be aborted. */
function owner() {
  const { dataDir, store } = opened();
  void store;
  const root = openDatabase(`${dataDir}/intel-only.mdb`);
  const tables = openTables(root);
  const clock = { now: start };
  const parts = () => ({ tables, outbox: new Outbox(tables), intel, nowMs: clock.now });
  let intel = new Intel(tables, () => clock.now);
  onTestFinished(async () => {
    await root.close();
    rmSync(`${dataDir}/intel-only.mdb`, { force: true });
  });
  return {
    tables,
    clock,
    intel: () => intel,
    reopen: () => {
      intel = new Intel(tables, () => clock.now);
    },
    within: <T>(plan: (given: ReturnType<typeof parts>) => () => T): T => root.transactionSync(() => plan(parts())()),
    undone: (plan: (given: ReturnType<typeof parts>) => () => unknown) => {
      expect(() =>
        root.transactionSync(() => {
          plan(parts())();
          throw new Error('undone');
        }),
      ).toThrow('undone');
      intel.forget();
    },
    write: () => root.transactionSync(() => intel.write()),
  };
}

test('a list is stored with its content, and each effective change is one log entry', async () => {
  const { store, reader, clock } = opened();
  const made = await store.createIntel(
    { ...terms, source: 'ours' },
    contentOf('bad.example\njunk\n198.51.100.0/24'),
    system,
  );
  expect(made.list).toMatchObject({
    name: 'bad ones',
    indicators: 2,
    rejected_total: 1,
    expired: 0,
    hits: 0,
    version: 1,
  });
  expect(reader.getIntel(made.id.toUpperCase(), start)).toEqual({ id: made.id, list: made.list });
  expect(resources(reader.listIntel(byChange, start))).toEqual([
    { id: made.id, type: 'intel_list', attributes: made.list },
  ]);
  const named = reader.listIndicators(made.id, byValue)!;
  expect(resources<{ kind: string }>(named).map(({ id, attributes }) => [id, attributes.kind])).toEqual([
    ['198.51.100.0/24', 'address'],
    ['bad.example', 'domain'],
  ]);
  expect(reader.listIndicators('01900000-0000-7000-8000-000000000000', byValue)).toBeUndefined();

  clock.now += day;
  const changed = await store.changeIntel(made.id, { enabled: false, source: '' }, system, { version: 1 });
  expect(changed.list).toMatchObject({
    enabled: false,
    version: 2,
    content_changed_at: made.list.content_changed_at,
  });
  expect(changed.list).not.toHaveProperty('source');
  const same = await store.changeIntel(made.id, { enabled: false }, system, {
    content: contentOf('bad.example\njunk\n198.51.100.0/24'),
  });
  expect([same.unchanged, same.list.version]).toEqual([true, 2]);
  const replaced = await store.changeIntel(made.id, {}, system, { content: contentOf('other.example') });
  expect(replaced.list).toMatchObject({ indicators: 1, rejected: [], version: 3 });
  expect(resources(reader.listIndicators(made.id, byValue)!).map(({ id }) => id)).toEqual(['other.example']);
  await expect(store.removeIntel(made.id, system, 2)).rejects.toMatchObject({ code: 'VERSION_MISMATCH' });
  await store.removeIntel(made.id, system, 3);
  const gone = [store.removeIntel(made.id, system), store.changeIntel(made.id, {}, system)];
  await Promise.all(gone.map((change) => expect(change).rejects.toMatchObject({ code: 'NOT_FOUND' })));

  const rows = (await store.outbox(10)).map(({ kind, subject, data }) => [kind, subject, data]);
  const entry = { id: made.id, title: 'bad ones', level: 'high', indicators: 2 };
  const counts = (added: number, removed: number, changes: number) => ({
    added_count: added,
    removed_count: removed,
    changed_count: changes,
  });
  expect(rows.map(([kind, subject]) => [kind, subject])).toEqual(
    Array(4).fill(['detection.reloaded', { type: 'ruleset', id: 'intel' }]),
  );
  expect(rows.map(([, , data]) => data)).toEqual([
    expect.objectContaining({
      version: 1,
      ...counts(1, 0, 0),
      added: [expect.objectContaining({ ...entry, source: 'ours' })],
    }),
    expect.objectContaining({
      version: 2,
      ...counts(0, 0, 1),
      changed: [
        {
          before: expect.objectContaining({ enabled: true }),
          after: expect.objectContaining({ enabled: false }),
        },
      ],
    }),
    expect.objectContaining({ version: 3, ...counts(0, 0, 1) }),
    expect.objectContaining({ version: 4, ...counts(0, 1, 0) }),
  ]);
});

test('indicators expire at their own time, or after the default validity of the list if they have no time', async () => {
  const { store, reader, clock } = opened();
  const content = 'a.example,2026-11-21\nb.example\nc.example,2027-01-01';
  const { id } = await store.createIntel({ ...terms, default_valid_days: 3 }, contentOf(content), system);
  const expired = (now: number) => reader.getIntel(id, now)?.list.expired;
  expect([start, start + day, start + 3 * day, start + 100 * day].map(expired)).toEqual([0, 1, 2, 3]);
  const [first, second] = resources<object>(reader.listIndicators(id, byValue)!);
  expect(first?.attributes).toMatchObject({ valid_until: '2026-11-21T00:00:00.000Z' });
  expect(second?.attributes).toMatchObject({ valid_until: new Date(start + 3 * day).toISOString() });
  clock.now += 2 * day;
  // Uploading the same content again is a change, because the default validity starts again.
  const again = await store.changeIntel(id, {}, system, { content: contentOf(content) });
  expect(again.list).toMatchObject({ version: 2, expired: 1 });
  expect(reader.getIntel(id, start + 3 * day)?.list.expired).toBe(1);
});

test('the number of lists, and the number of indicators in all lists, are limited', async () => {
  const { store } = opened();
  const large: IntelContent = { ...contentOf('bad.example'), indicators: limits.maxIntelIndicators - 5 };
  const { id } = await store.createIntel(terms, large, system);
  const six: IntelContent = { ...contentOf('bad.example'), indicators: 6 };
  await expect(store.createIntel(terms, six, system)).rejects.toMatchObject({
    code: 'CONFLICT',
    details: { field: 'content' },
  });
  await store.changeIntel(id, {}, system, { content: six });
  for (let n = 1; n < limits.maxIntelLists; n++) await store.createIntel(terms, contentOf(''), system);
  await expect(store.createIntel(terms, contentOf(''), system)).rejects.toMatchObject({ code: 'CONFLICT' });
});

test('a long index is read back completely, even after the file is opened again', async () => {
  const { dataDir, store, reader } = opened();
  const names = Array.from({ length: 40_000 }, (_, n) => `n${n}.bad.example`);
  const { id } = await store.createIntel(terms, contentOf(names.join('\n')), system);
  expect(reader.listIndicators(id, { ...byValue, q: 'n39999.' })?.total).toBe(1);
  await store.close();
  const again = openStore({ dataDir, alertWindowMs: day, clock: () => start });
  const other = openReader(dataDir);
  expect(other.listIndicators(id, byValue)?.total).toBe(40_000);
  other.close();
  await again.close();
});

test('events are matched against enabled lists, and against the stored lists after an aborted transaction', () => {
  const { within, undone, intel, reopen, clock } = owner();
  const hit = (name: string) => intel().matcher.domainHit(name, start)?.indicator;
  const { id } = within((parts) => planIntel(parts, terms, contentOf('bad.example'), system));
  expect(hit('www.bad.example')).toBe('bad.example');
  undone((parts) => planIntelChange(parts, { id, change: {}, content: contentOf('other.example') }, system));
  expect([hit('bad.example'), hit('other.example')]).toEqual(['bad.example', undefined]);
  undone((parts) => planIntelRemoval(parts, id, system));
  expect(hit('bad.example')).toBe('bad.example');
  undone((parts) => planIntel(parts, terms, contentOf('third.example'), system));
  expect(hit('third.example')).toBeUndefined();

  within((parts) => planIntelChange(parts, { id, change: { enabled: false } }, system));
  expect([hit('bad.example'), intel().matcher.bytes]).toEqual([undefined, 0]);
  within((parts) => planIntelChange(parts, { id, change: { enabled: true, severity: 'low' } }, system));
  expect(intel().matcher.domainHit('bad.example', start)?.severity).toBe('low');
  within((parts) =>
    planIntelChange(parts, { id, change: { expires_at: new Date(start + day).toISOString() } }, system),
  );
  reopen();
  expect(hit('bad.example')).toBe('bad.example');
  clock.now += day;
  expect(hit('bad.example')).toBeUndefined();
  within((parts) => planIntelRemoval(parts, id, system));
  expect(intel().matcher.isEmpty).toBe(true);
});

test('hits are counted once: with the transaction that processed the events, or again after an aborted transaction', () => {
  const { within, write, intel, tables } = owner();
  const { id } = within((parts) => planIntel(parts, terms, contentOf('bad.example'), system));
  intel().counted(id, start);
  intel().counted(id, start - 5);
  intel().forget();
  expect(getIntel(tables, id, start)?.list).toMatchObject({ hits: 0 });
  intel().counted(id, start);
  intel().counted(id, start - 5);
  write();
  intel().counted(id, start + 7);
  write();
  expect(getIntel(tables, id, start)?.list).toMatchObject({
    hits: 3,
    last_hit_at: new Date(start + 7).toISOString(),
  });
  intel().counted(id, start);
  within((parts) => planIntelRemoval(parts, id, system));
  write();
  expect([...tables.intelHits.getKeys()]).toEqual([]);
});
