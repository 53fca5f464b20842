import { describe, expect, test } from 'vitest';
import type { AlertHistory } from '../../../src/contract/resources/alert.ts';
import { limits } from '../../../src/limits.ts';
import type { ListQuery } from '../../../src/store/store.ts';
import { analyst, batchOf, finding, hour, type Opened, opened, resources } from '../../store/opened.ts';

const oldestFirst: ListQuery = { terms: [], sort: 'at', order: 'asc', per_page: 1000, page: 1 };
const historyOf = ({ reader }: Opened, id: string, query: Partial<ListQuery> = {}) =>
  resources<AlertHistory>(reader.listAlertHistory(id, { ...oldestFirst, ...query })).map(
    ({ attributes }) => attributes,
  );
/** Returns the actions in the history of an alert, without records of the triage. */
const toldOf = (open: Opened, id: string) =>
  historyOf(open, id)
    .filter(({ action }) => action !== 'triaged')
    .map(({ action, actor, from, to }) => [action, actor.name ?? actor.id, from, to]);

async function raised(open: Opened, ...findings: Parameters<typeof finding>) {
  const { alerts } = await open.store.commit(batchOf([finding(...findings)]));
  return alerts[0]!.alert.id;
}

describe('the history of an alert', () => {
  test('records changes by findings and users, with author and time, but not each occurrence', async () => {
    const open = opened();
    const { store, clock } = open;
    const id = await raised(open);
    for (let n = 0; n < 5; n++) await raised(open);
    clock.now += 1000;
    await store.changeAlert(id, { status: 'in_progress', assignee: 'ana', note: 'looking' }, analyst);
    clock.now += 1000;
    await raised(open, { severity: 'critical' });
    expect(toldOf(open, id)).toEqual([
      ['raised', 'system', undefined, 'low'],
      ['status_changed', 'ana', 'new', 'in_progress'],
      ['assigned', 'ana', undefined, 'ana'],
      ['noted', 'ana', undefined, undefined],
      ['severity_changed', 'system', 'low', 'critical'],
      ['priority_changed', 'system', 'low', 'critical'],
    ]);
    expect(historyOf(open, id)[1]).toEqual({
      alert_id: id,
      at: new Date(clock.now - 1000).toISOString(),
      action: 'status_changed',
      actor: analyst,
      from: 'new',
      to: 'in_progress',
    });
  });

  test('begins with a record of the recurrence if the alert repeats an earlier alert', async () => {
    const open = opened();
    const first = await raised(open);
    await open.store.changeAlert(first, { status: 'resolved' }, analyst);
    const second = await raised(open, { timestamp: finding().timestamp + hour / 2 });
    expect(second).not.toBe(first);
    expect(toldOf(open, second)).toEqual([['recurred', 'system', undefined, 'low']]);
  });

  test('is filtered by action, author, time and text, and paged in order', async () => {
    const open = opened();
    const { store, reader, clock } = open;
    const id = await raised(open);
    const ben = { id: '01900000-0000-7000-8000-00000000000b', name: 'ben' };
    clock.now += 1000;
    await store.changeAlert(id, { assignee: 'ana' }, analyst);
    clock.now += 1000;
    await store.changeAlert(id, { assignee: 'ben', tags: ['checked'] }, ben);
    const actions = (query: Partial<ListQuery>) => historyOf(open, id, query).map(({ action }) => action);
    expect(actions({ terms: [{ field: 'action', values: ['assigned'] }] })).toHaveLength(2);
    expect(actions({ terms: [{ field: 'actor', values: ['ben'] }] })).toEqual(['assigned', 'tags_changed']);
    expect(actions({ terms: [{ field: 'actor', values: [analyst.id] }] })).toEqual(['assigned']);
    expect(actions({ terms: [{ field: 'actor', values: ['system'] }] })).toContain('raised');
    expect(actions({ from: clock.now })).toEqual(['assigned', 'tags_changed']);
    expect(actions({ q: 'CHECKED' })).toEqual(['tags_changed']);
    const newest = { ...oldestFirst, order: 'desc', per_page: 2 } as const;
    const page = reader.listAlertHistory(id, newest);
    expect(resources<AlertHistory>(page).map(({ attributes }) => attributes.action)).toEqual([
      'tags_changed',
      'assigned',
    ]);
    const next = reader.listAlertHistory(id, { ...newest, cursor: page.next_cursor! });
    expect(resources<AlertHistory>(next)[0]?.attributes.to).toBe('ana');
  });

  test('is bounded: the oldest records not made by users are removed first', async () => {
    const open = opened();
    const { store } = open;
    const id = await raised(open);
    const service = { id: 'system', name: 'system' };
    const flip = (n: number, by: typeof analyst) =>
      store.changeAlert(id, { status: n % 2 === 0 ? 'in_progress' : 'new' }, by);
    for (let n = 0; n < 20; n++) await flip(n, analyst);
    await Promise.all(Array.from({ length: 2 * limits.maxAlertHistory }, (_, n) => flip(n, service)));
    const byService = historyOf(open, id);
    expect(byService.length).toBeLessThanOrEqual(1.1 * limits.maxAlertHistory);
    expect(byService.filter(({ actor }) => actor.name === 'ana')).toHaveLength(20);
    expect(byService.map(({ action }) => action)).not.toContain('raised');
    await Promise.all(Array.from({ length: 2 * limits.maxAlertHistory }, (_, n) => flip(n, analyst)));
    const byPeople = historyOf(open, id);
    expect(byPeople.length).toBeLessThanOrEqual(1.1 * limits.maxAlertHistory);
    expect(byPeople.every(({ actor }) => actor.name === 'ana')).toBe(true);
    const { limits_reached } = await store.status();
    expect(limits_reached.maxAlertHistory).toBeGreaterThan(2 * limits.maxAlertHistory);
  });

  test('is empty for an unknown alert', () => {
    const open = opened();
    expect(historyOf(open, '01900000-0000-7000-8000-000000000001')).toEqual([]);
    expect(historyOf(open, 'nothing')).toEqual([]);
  });
});
