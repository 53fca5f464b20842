import { setTimeout as pause } from 'node:timers/promises';
import { type OperationId, operationIds, routeOf } from '../../src/contract/routes.ts';
import { limits } from '../../src/limits.ts';
import { adminOf, openService } from './service.ts';

/** The operations that return a list in pages. */
export const lists = operationIds.filter((operation) => {
  const response = routeOf(operation).responses[200];
  return response?.kind === 'json' && response.lines !== undefined;
});

/** A text that is hard for any format: quotes, line endings, multi-byte letters, and markup. */
export const hostile = '"\\ \u2028\u0001\r\n\t,é 日本 🦊 \u{10ffff} ]}</script>\uFEFF';

/** Returns a count once it has not changed for 400 ms. */
export async function settled(count: () => number): Promise<number> {
  for (let before = -1; ; ) {
    if (before === count()) return before;
    before = count();
    await pause(400);
  }
}

/** Opens a service in which nearly every list has items; events, assets and services fill more than a page. */
export async function openLists() {
  const service = await openService();
  const admin = await adminOf(service);
  const conns = Array.from({ length: limits.maxPerPage + 200 }, (_, n) => ({
    ts: 1_700_000_000 + n / 10,
    uid: n % 3 === 0 ? `C${n}` : `C${n}${hostile}`,
    'id.orig_h': '192.168.0.10',
    'id.orig_p': 40_000,
    'id.resp_h': `10.0.${Math.floor(n / 250)}.${1 + (n % 250)}`,
    'id.resp_p': 443,
    proto: 'tcp',
    conn_state: 'SF',
    ...(n % 2 === 0 ? { duration: n / 7, orig_bytes: n, resp_bytes: 1e15 - n, service: 'ssl' } : {}),
    ...(n % 5 === 0 ? { vlan: n % 4096, history: 'ShADadFf', orig_pkts: 2, orig_ip_bytes: 2 ** 33 } : {}),
  }));
  const dns = Array.from({ length: 20 }, (_, n) => ({
    _path: 'dns',
    ts: 1_700_000_000 + n,
    uid: `D${n}`,
    'id.orig_h': n % 2 === 0 ? '10.0.0.1' : '2001:db8::1',
    'id.resp_h': n % 2 === 0 ? '10.0.0.2' : '2001:db8::2',
    'id.orig_p': 5353,
    'id.resp_p': 53,
    proto: 'udp',
    query: n === 7 ? `a${hostile}.test` : `a${n}.test`,
    qtype_name: 'A',
    rcode: 0,
    ...(n % 3 === 0 ? { AA: false, RD: true, answers: ['192.0.2.1', hostile], TTLs: [1.5, 300], rtt: 0.25 } : {}),
  }));
  const alert = {
    timestamp: '2026-01-01T00:00:00.000000+0000',
    event_type: 'alert',
    src_ip: '192.168.0.10',
    dest_ip: '203.0.113.9',
    proto: 'TCP',
    alert: { gid: 1, signature_id: 1, rev: 1, signature: 'Bad thing', severity: 1 },
  };
  const text = [...conns, ...dns, alert].map((record) => `${JSON.stringify(record)}\n`).join('');
  const headers = { 'content-type': 'application/x-ndjson' };
  const stored = await service.call('ingest', 'POST /api/v1/ingest', { token: admin, text, headers });
  const { rejected } = (stored.body as { data: { rejected: number } }).data;
  if (rejected !== 0) throw new Error(`${rejected} records were rejected`);
  const indicators = { name: 'Bad', content: 'bad.test\nworse.test\n' };
  await service.call('createIntel', 'POST /api/v1/intel', { token: admin, json: indicators });
  await service.ledger.rotateKey('event-signing', 'system');

  /** Ids of the resources that have lists of their own, by path parameter. */
  const ids = new Map<string, string>();
  const ask = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
    fetch(service.url + path, { ...init, headers: { authorization: `Bearer ${admin}`, ...headers } });
  for (const [parameter, path] of [
    ['alert_id', '/api/v1/alerts'],
    ['asset_id', '/api/v1/assets'],
    ['intel_id', '/api/v1/intel'],
  ] as const) {
    const { data } = (await (await ask(path)).json()) as { data: { id: string }[] };
    if (data[0] !== undefined) ids.set(parameter, data[0].id);
  }
  // This service writes no audit records itself.
  await service.store.addAudit([
    {
      id: '018f0000-0000-7000-8000-000000000009',
      actor: 'admin',
      operation: 'listTokens',
      request_id: 'r',
      source_address: '127.0.0.1',
      outcome: 'success',
      time: '2026-01-01T00:00:00.000Z',
    },
  ]);
  const note = { token: admin, json: { text: 'seen \u{1f98a} "twice"\nand \\ more' } };
  await service.call('addAlertNote', `POST /api/v1/alerts/${ids.get('alert_id')}/notes`, note);

  const pathOf = (operation: OperationId) =>
    routeOf(operation).path.replace(/:(\w+)/, (_, parameter: string) => ids.get(parameter) ?? parameter);

  /** Returns the list, read page by page. */
  async function itemsOf(operation: OperationId, query = ''): Promise<unknown[]> {
    const items: unknown[] = [];
    for (let page = 1; ; page++) {
      const paged = `${pathOf(operation)}${query === '' ? '?' : `${query}&`}per_page=1000&page=${page}`;
      const { data, pagination } = (await (await ask(paged)).json()) as {
        data: unknown[];
        pagination: { has_next: boolean };
      };
      items.push(...data);
      if (!pagination.has_next) return items;
    }
  }

  /**
   * Adds events on port 8443 and returns their number: eight pages of 2 MB as lines, more than socket buffers
   * hold.
   */
  async function addLargeEvents(): Promise<number> {
    const history = 'ShADadFf'.repeat(200);
    const events = Array.from({ length: 8 * limits.maxPerPage }, (_, n) => ({
      ts: 1_600_000_000 + n / 1000,
      uid: `S${n}`,
      'id.orig_h': `172.16.${n >> 8}.${n & 255}`,
      'id.orig_p': 1,
      'id.resp_h': '198.51.100.1',
      'id.resp_p': 8443,
      proto: 'tcp',
      conn_state: 'SF',
      history: `${history}${n}`,
    }));
    const text = events.map((event) => `${JSON.stringify(event)}\n`).join('');
    const { body } = await service.call('ingest', 'POST /api/v1/ingest', { token: admin, text, headers });
    const { accepted } = (body as { data: { accepted: number } }).data;
    if (accepted !== events.length) throw new Error(`${accepted} of ${events.length} events were taken`);
    return accepted;
  }

  return { service, admin, ids, ask, pathOf, itemsOf, addLargeEvents };
}

export type ServedLists = Awaited<ReturnType<typeof openLists>>;
