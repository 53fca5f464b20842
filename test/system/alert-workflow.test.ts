/** Bulk work on alerts in the running service: changes, their history, exports and groups. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { login, type Service, startService, tokenFor } from '../../scripts/service.ts';
import type { OperationId } from '../../src/contract/routes.ts';
import { type Answer, call, failure, type Item, listAll, type Page, type Request, send } from './call.ts';

let service: Service;
let admin: string;
let analyst: string;
let viewer: string;
/** All alerts, newest first. */
let alerts: Item[];

/** Number of alerts per rule; few enough that no alert is summarized. */
const perRule = 40;
const rules = Array.from({ length: 30 }, (_, n) => ({
  signature_id: 3000 + n,
  signature: `Odd thing ${n}`,
  category: n % 2 === 0 ? 'Trojan' : 'Policy',
  severity: n % 2 === 0 ? 3 : 4,
}));
const at = Date.UTC(2026, 10, 20);

beforeAll(async () => {
  service = await startService();
  admin = await login(service);
  analyst = await tokenFor(service, 'analyst');
  viewer = await tokenFor(service, 'viewer');
  const lines = rules.flatMap((rule) => Array.from({ length: perRule }, (_, n) => suricata(rule, n)));
  expect(await send(service, admin, lines.join('\n'))).toMatchObject({ rejected: 0 });
  alerts = await everyAlert();
});
afterAll(() => service.stop());

const suricata = (rule: (typeof rules)[number], n: number) =>
  JSON.stringify({
    timestamp: new Date(at + n * 1000).toISOString().replace('Z', '+0000'),
    event_type: 'alert',
    src_ip: `10.${rule.signature_id - 3000}.0.${n}`,
    src_port: 1024 + n,
    dest_ip: `198.51.${rule.signature_id - 3000}.${n}`,
    dest_port: 443,
    proto: 'TCP',
    alert: { action: 'allowed', gid: 1, rev: 1, ...rule },
  });

const everyAlert = (query = '') => listAll(service, 'listAlerts', admin, query);
const ask = (operation: OperationId, request: Request = {}): Promise<Answer> =>
  call(service, operation, { token: analyst, ...request });
const bulk = async (json: object): Promise<Record<string, unknown>> => {
  const { status, body } = await ask('bulkUpdateAlerts', { json });
  expect(status, JSON.stringify(body)).toBe(200);
  return (body as { data: Record<string, unknown> }).data;
};
const attributesOf = async (id: string) =>
  ((await ask('getAlert', { params: [id] })).body as { data: Item }).data.attributes;
const historyOf = async (id: string, query = 'sort=at&per_page=1000') =>
  ((await ask('listAlertHistory', { params: [id], query })).body as Page).data.map(
    ({ attributes }) => attributes as Record<string, unknown> & { action: string },
  );
const idsOf = (...rows: number[]) => rows.map((n) => alerts[n]!.id);
const missing = '01900000-0000-7000-8000-000000000001';

test('the service raises the alerts of the sensor', () => {
  expect(alerts).toHaveLength(rules.length * perRule);
});

describe('a bulk change', () => {
  test('changes each alert separately and once, and lists the alerts that could not be changed', async () => {
    const [a, b, archived] = idsOf(0, 1, 2) as [string, string, string];
    for (const status of ['resolved', 'archived']) await ask('updateAlert', { params: [archived], json: { status } });
    const ids = [a, b.toUpperCase(), a, archived, missing];
    const change = { status: 'in_progress', assignee: 'admin', note: 'looking at these' };
    expect(await bulk({ ids, change })).toEqual({
      matched: 4,
      changed: 2,
      unchanged: 0,
      failed_total: 2,
      failed: [
        { id: archived, code: 'INVALID_TRANSITION', reason: expect.any(String) },
        { id: missing, code: 'NOT_FOUND', reason: expect.any(String) },
      ],
    });
    for (const id of [a, b]) {
      const before = alerts.find((alert) => alert.id === id)!.attributes;
      expect(await attributesOf(id)).toMatchObject({
        status: 'in_progress',
        assignee: 'admin',
        note_count: 1,
        version: (before.version as number) + 1,
      });
      const notes = ((await ask('listAlertNotes', { params: [id] })).body as Page).data;
      expect(notes.map(({ attributes }) => attributes.text)).toEqual(['looking at these']);
    }
    expect(await bulk({ ids: [a, b], change: { assignee: 'admin' } })).toMatchObject({
      changed: 0,
      unchanged: 2,
    });
  });

  test('is sent live, change by change, in order', async () => {
    const socket = new WebSocket(`${service.url.replace('http', 'ws')}/api/v1/alerts/stream`, [`bearer.${viewer}`]);
    const seen: { seq: number; data: Item }[] = [];
    const subscribed = new Promise<void>((resolve) => {
      socket.addEventListener('message', ({ data }) => {
        const message = JSON.parse(String(data));
        if (message.type === 'subscribed') resolve();
        if (message.type === 'event') seen.push(message);
      });
    });
    await subscribed;
    const ids = alerts.slice(100, 220).map(({ id }) => id);
    expect(await bulk({ ids, change: { tags: ['wave'] } })).toMatchObject({ changed: 120 });
    while (seen.length < 120) await new Promise((resolve) => setTimeout(resolve, 10));
    socket.close();
    expect(seen.map(({ data }) => data.id).sort()).toEqual([...ids].sort());
    expect(seen.every(({ data }) => (data.attributes.tags as string[]).includes('wave'))).toBe(true);
    const seqs = seen.map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.toSorted((x, y) => x - y));
  });

  test('accepts a filter, which is evaluated once', async () => {
    const filter = { category: 'Policy', status: 'new' };
    const wanted = await everyAlert('category=Policy&status=new');
    expect(wanted.length).toBeGreaterThan(500);
    expect(await bulk({ filter, change: { status: 'suppressed' } })).toEqual({
      matched: wanted.length,
      changed: wanted.length,
      unchanged: 0,
      failed_total: 0,
      failed: [],
    });
    expect(await everyAlert('category=Policy&status=new')).toEqual([]);
    expect(await bulk({ filter, change: { status: 'suppressed' } })).toMatchObject({ matched: 0 });
  });

  test('that is logged covers at most as many alerts as its audit record can name', async () => {
    const answer = await ask('bulkUpdateAlerts', { json: { filter: {}, change: { severity: 'critical' } } });
    expect(failure(answer)).toEqual([400, 'INVALID_REQUEST', 'filter']);
    expect(JSON.stringify(answer.body)).toContain(String(alerts.length));
    const ids = idsOf(300, 301, 302);
    expect(await bulk({ ids, change: { severity: 'high' } })).toMatchObject({ changed: 3 });
    const query = 'operation=bulkUpdateAlerts&outcome=success&per_page=1';
    const audit = (await ask('listAuditRecords', { token: admin, query })).body as Page;
    expect(audit.data[0]?.attributes.entry_ids).toHaveLength(3);
  });

  test.each([
    [{ change: {} }, 'ids'],
    [{ ids: [], change: {} }, 'ids'],
    [{ ids: ['x'], change: {} }, 'ids.0'],
    [{ ids: [missing], filter: {}, change: {} }, 'filter'],
    [{ filter: { sort: 'title' }, change: {} }, 'filter.sort'],
    [{ filter: { status: 'gone' }, change: {} }, 'filter.status'],
    [{ filter: {} }, 'change'],
    [{ filter: {}, change: { version: 2 } }, 'change.version'],
  ])('%j is rejected', async (json, field) => {
    expect(failure(await ask('bulkUpdateAlerts', { json }))).toEqual([400, 'INVALID_REQUEST', field]);
  });

  test('requires the analyst role', async () => {
    const json = { ids: idsOf(5), change: { status: 'resolved' } };
    expect(failure(await ask('bulkUpdateAlerts', { token: viewer, json }))).toEqual([403, 'FORBIDDEN', undefined]);
  });
});

describe('the history of an alert', () => {
  test('names the user and the changes, bulk changes included', async () => {
    const [id] = idsOf(400) as [string];
    await bulk({ ids: [id], change: { verdict: 'benign', tags: ['seen'] } });
    const me = (await ask('whoAmI')).body as { data: Item };
    const told = (await historyOf(id)).filter(({ action }) => action !== 'triaged');
    expect(told[0]).toMatchObject({ alert_id: id, action: 'raised', actor: { id: 'system' } });
    const byPeople = told.filter(({ actor }) => (actor as { id: string }).id !== 'system');
    expect(byPeople.slice(-2)).toMatchObject([
      { action: 'verdict_set', to: 'benign', actor: { id: me.data.id, name: expect.any(String) } },
      { action: 'tags_changed', added: ['seen'] },
    ]);
    expect((await historyOf(id, 'action=raised')).map(({ action }) => action)).toEqual(['raised']);
  });

  test('is not found for an unknown alert', async () => {
    expect(failure(await ask('listAlertHistory', { params: [missing] }))).toEqual([404, 'NOT_FOUND', 'alert_id']);
  });
});

describe('an export', () => {
  const exported = async (query: string) => {
    const { status, headers, body } = await ask('exportAlerts', { token: viewer, query });
    expect([status, headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
    const lines = (body as string).split('\n');
    expect(lines.pop()).toBe('');
    return { headers, items: lines.map((line) => JSON.parse(line)) };
  };

  test('has every alert once, as in the list', async () => {
    const { headers, items } = await exported('');
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename="alerts-\d{8}T\d{6}Z\.ndjson"$/);
    const byId = (a: Item, b: Item) => (a.id < b.id ? -1 : 1);
    expect(items).toEqual((await everyAlert()).sort(byId));
  });

  test('accepts the filters of the list, and supports OCSF', async () => {
    const wanted = await everyAlert('category=Policy&status=suppressed');
    const { items, headers } = await exported('category=Policy&status=suppressed&format=ocsf');
    expect(headers.get('content-disposition')).toMatch(/\.ocsf\.ndjson"$/);
    expect(items.map(({ finding_info }) => finding_info.uid).sort()).toEqual(wanted.map(({ id }) => id).sort());
    expect(items[0]).toMatchObject({
      class_uid: 2004,
      category_uid: 2,
      type_uid: 200402,
      status_id: 3,
      metadata: { version: '1.5.0', product: { name: 'Candor' } },
      evidences: [{ src_endpoint: { ip: expect.any(String) }, connection_info: { protocol_name: 'tcp' } }],
    });
    expect((await exported('title=nothing')).items).toEqual([]);
    expect(failure(await ask('exportAlerts', { query: 'format=csv' }))[2]).toBe('format');
    expect(failure(await ask('exportAlerts', { query: 'page=2' }))[2]).toBe('page');
  });

  test('that is not read to the end releases its slot', async () => {
    for (let n = 0; n < 20; n++) {
      const controller = new AbortController();
      const answer = await fetch(`${service.url}/api/v1/alerts/export`, {
        headers: { authorization: `Bearer ${viewer}` },
        signal: controller.signal,
      });
      expect(answer.status).toBe(200);
      controller.abort();
    }
    expect((await exported('')).items).toHaveLength(alerts.length);
  });
});

describe('groups', () => {
  test('count the alerts of each value in the list, largest first, and all other alerts together', async () => {
    const all = await everyAlert();
    for (const by of ['rule_id', 'status', 'severity', 'category', 'src_ip']) {
      const { body } = await ask('groupAlerts', { token: viewer, query: `by=${by}&limit=1000` });
      const { groups, others, alerts: total } = (body as { data: Groups }).data;
      const counted = new Map<unknown, number>();
      for (const { attributes } of all) counted.set(attributes[by], (counted.get(attributes[by]) ?? 0) + 1);
      for (const { value, alerts: count } of groups) expect(count).toBe(counted.get(value));
      const counts = [...counted.values()].sort((a, b) => b - a);
      expect(groups.map(({ alerts: count }) => count)).toEqual(counts.slice(0, 1000));
      expect(groups.reduce((sum, group) => sum + group.alerts, others.alerts)).toBe(all.length);
      expect(total).toBe(all.length);
    }
  });

  test('include only alerts that match a filter', async () => {
    const { body } = await ask('groupAlerts', { query: 'by=rule_id&tag=wave&limit=1' });
    const { groups, alerts: total, distinct } = (body as { data: Groups }).data;
    expect([total, groups.length, distinct > 1]).toEqual([120, 1, true]);
    expect(failure(await ask('groupAlerts', { query: 'by=title' }))[2]).toBe('by');
    expect(failure(await ask('groupAlerts'))[2]).toBe('by');
  });
});

interface Groups {
  readonly alerts: number;
  readonly distinct: number;
  readonly groups: readonly { readonly value?: string; readonly alerts: number }[];
  readonly others: { readonly alerts: number };
}
