import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Status } from '../../src/contract/resources/status.ts';
import { operationIds, type Route, routeOf } from '../../src/contract/routes.ts';
import { ServiceError } from '../../src/errors.ts';
import { handlers } from '../../src/http/routes/index.ts';
import type { Services } from '../../src/http/services.ts';
import { limitMeanings, limits } from '../../src/limits.ts';
import { openService, password, type Service } from './service.ts';

let service: Service;
let admin: string;
let sensor: string;

beforeAll(async () => {
  service = await openService();
  admin = (await login()).access_token;
  sensor = await issue(['sensor']);
});
afterAll(() => service.close());

interface Tokens {
  access_token: string;
  refresh_token: string;
}

async function login(): Promise<Tokens> {
  const json = { username: 'admin', password };
  return (await service.call('login', 'POST /auth/login', { json })).body as Tokens;
}

async function issue(scopes: string[], principal?: string): Promise<string> {
  const { status, body, headers } = await service.call('issueToken', 'POST /api/v1/tokens', {
    token: admin,
    json: { name: 'a machine', scopes, ...(principal === undefined ? {} : { principal_id: principal }) },
  });
  const { id, attributes } = (body as { data: { id: string; attributes: { token: string } } }).data;
  expect([status, headers.get('location')]).toEqual([201, `/api/v1/tokens/${id}`]);
  return attributes.token;
}

const conn = (n: number) => ({
  ts: 1_700_000_000 + n,
  uid: `C${n}`,
  'id.orig_h': '192.168.0.10',
  'id.orig_p': 40_000 + n,
  'id.resp_h': '203.0.113.5',
  'id.resp_p': 443,
  proto: 'tcp',
  conn_state: 'SF',
});
const alertLine = {
  timestamp: '2026-01-01T00:00:00.000000+0000',
  event_type: 'alert',
  src_ip: '192.168.0.66',
  src_port: 1234,
  dest_ip: '203.0.113.9',
  dest_port: 80,
  proto: 'TCP',
  alert: {
    action: 'allowed',
    gid: 1,
    signature_id: 2001,
    rev: 1,
    signature: 'Bad thing',
    category: 'Trojan',
    severity: 1,
  },
};
const ndjson = (...records: unknown[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');
const lines = { 'content-type': 'application/x-ndjson' };

interface Page {
  data: { id: string; type: string; attributes: Record<string, unknown> }[];
  pagination: Record<string, unknown>;
}
interface Failure {
  error: { code: string; details?: { field?: string } };
}
const failure = ({ status, body }: { status: number; body: unknown }) => {
  const { code, details } = (body as Failure).error;
  return [status, code, details?.field];
};

test('every operation of the contract has a handler of its name, or is an upgrade', () => {
  const upgrades = operationIds.filter((operation) => routeOf(operation).websocket !== undefined);
  expect([...Object.keys(handlers), ...upgrades].sort()).toEqual([...operationIds].sort());
});

describe('access', () => {
  const guarded = operationIds.filter((operation) => routeOf(operation).access !== 'public');
  const targetOf = ({ method, path }: Route) =>
    `${method} ${path.replace(/:\w+/, '018f0000-0000-7000-8000-000000000001')}`;

  test('every operation that is not public refuses unauthenticated callers', async () => {
    for (const operation of guarded) {
      const route = routeOf(operation);
      if (route.websocket !== undefined) continue;
      const answer = await service.call(operation, targetOf(route));
      if (route.protocol === undefined)
        expect([operation, ...failure(answer)]).toEqual([operation, 401, 'UNAUTHENTICATED', undefined]);
      else expect([operation, answer.status]).toEqual([operation, 401]);
    }
  });

  test('a stream path without an upgrade reports the missing header', async () => {
    for (const operation of operationIds) {
      const route = routeOf(operation);
      if (route.websocket === undefined) continue;
      const answer = await fetch(service.url + route.path);
      expect([answer.status, ((await answer.json()) as Failure).error.details?.field]).toEqual([400, 'upgrade']);
    }
  });

  test('a public operation ignores invalid credentials', async () => {
    expect((await service.call('getHealth', 'GET /health', { token: 'nonsense' })).status).toBe(200);
  });
});

describe('sessions', () => {
  test('end with the reuse of a refresh token, and with logout', async () => {
    const first = await login();
    const who = await service.call('whoAmI', 'GET /auth/me', { token: first.access_token });
    expect(who.body).toMatchObject({
      data: { type: 'principal', attributes: { name: 'admin', roles: ['admin'] } },
    });
    const json = { refresh_token: first.refresh_token };
    const second = (await service.call('refresh', 'POST /auth/refresh', { json })).body as Tokens;
    expect(failure(await service.call('refresh', 'POST /auth/refresh', { json }))[1]).toBe('UNAUTHENTICATED');
    expect((await service.call('whoAmI', 'GET /auth/me', { token: second.access_token })).status).toBe(401);
    expect(service.revoked).toHaveLength(1);

    const third = await login();
    expect((await service.call('logout', 'POST /auth/logout', { token: third.access_token })).status).toBe(204);
    expect(service.revoked).toHaveLength(2);
    expect((await service.call('whoAmI', 'GET /auth/me', { token: third.access_token })).status).toBe(401);
  });

  test('a wrong password, an invalid body and an unknown field are rejected', async () => {
    const post = (options: Parameters<Service['call']>[2]) => service.call('login', 'POST /auth/login', options);
    expect(failure(await post({ json: { username: 'admin', password: 'wrong' } }))).toEqual([
      401,
      'UNAUTHENTICATED',
      undefined,
    ]);
    expect(failure(await post({ json: { username: 'admin' } }))).toEqual([400, 'INVALID_REQUEST', 'password']);
    expect(failure(await post({ json: { username: 'admin', password, x: 1 } }))).toEqual([400, 'INVALID_REQUEST', 'x']);
    expect(failure(await post({ text: '{', headers: { 'content-type': 'application/json' } }))).toEqual([
      400,
      'INVALID_REQUEST',
      'body',
    ]);
    expect(failure(await post({}))).toEqual([400, 'INVALID_REQUEST', 'body']);
    expect(failure(await post({ text: 'a=b', headers: { 'content-type': 'text/plain' } }))).toEqual([
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      'content-type',
    ]);
    const long = JSON.stringify({ username: 'x'.repeat(300_000), password });
    expect(failure(await post({ text: long, headers: { 'content-type': 'application/json' } }))[1]).toBe(
      'PAYLOAD_TOO_LARGE',
    );
  });

  test('a compressed body is decompressed', async () => {
    const answer = await fetch(`${service.url}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: gzipSync(JSON.stringify({ username: 'admin', password })),
    });
    expect(answer.status).toBe(200);
  });
});

describe('tokens', () => {
  test('are issued, listed without secrets, and revoked once', async () => {
    const token = await issue(['admin']);
    const list = (await service.call('listTokens', 'GET /api/v1/tokens?per_page=1', { token: admin })).body as Page;
    expect(JSON.stringify(list)).not.toContain('secret_hash');
    expect(list.data[0]?.attributes).toMatchObject({
      name: 'a machine',
      kind: 'long_lived',
      scopes: ['admin'],
    });
    const target = `DELETE /api/v1/tokens/${list.data[0]?.id}`;
    expect((await service.call('whoAmI', 'GET /auth/me', { token })).status).toBe(200);
    expect((await service.call('revokeToken', target, { token: admin })).status).toBe(204);
    expect(service.revoked).toContain(list.data[0]?.id);
    expect((await service.call('whoAmI', 'GET /auth/me', { token })).status).toBe(401);
    expect(failure(await service.call('revokeToken', target, { token: admin }))[1]).toBe('NOT_FOUND');
  });

  test('with invalid attributes are rejected, and the error names the field', async () => {
    const post = (json: unknown) => service.call('issueToken', 'POST /api/v1/tokens', { token: admin, json });
    const principal_id = '018f0000-0000-7000-8000-000000000001';
    expect(failure(await post({ name: 'x', scopes: ['admin'], principal_id }))[2]).toBe('principal_id');
    const expires_at = '2020-01-01T00:00:00.000Z';
    expect(failure(await post({ name: 'x', scopes: ['admin'], expires_at }))[2]).toBe('expires_at');
    expect(failure(await post({ name: 'x', scopes: ['king'] }))[2]).toBe('scopes.0');
  });

  test('of a sensor do not permit reading alerts', async () => {
    const list = await service.call('listAlerts', 'GET /api/v1/alerts', { token: sensor });
    expect(failure(list).slice(0, 2)).toEqual([403, 'FORBIDDEN']);
    expect((await service.call('whoAmI', 'GET /auth/me', { token: sensor })).body).toMatchObject({
      data: { attributes: { roles: ['sensor'] } },
    });
  });
});

describe('ingest', () => {
  test('valid lines are stored and published, invalid lines are reported', async () => {
    const before = service.published.events.length;
    const text = `${ndjson(conn(1), conn(2))}{"broken"\n${ndjson(conn(3))}`;
    const { body } = await service.call('ingest', 'POST /api/v1/ingest', {
      token: sensor,
      text,
      headers: lines,
    });
    expect(body).toMatchObject({ data: { accepted: 3, rejected: 1, errors: [{ line: 3 }] } });
    await vi.waitFor(() => expect(service.published.events.length).toBe(before + 1), 60_000);
    const list = (
      await service.call('listNetworkEvents', 'GET /api/v1/events/network?ip=203.0.113.5', { token: admin })
    ).body as Page;
    expect(list.pagination).toMatchObject({ total: 3 });
    const [newest] = list.data;
    expect(newest?.attributes).toMatchObject({ connection_id: 'C3' });
    const one = await service.call('getNetworkEvent', `GET /api/v1/events/network/${newest?.id.toUpperCase()}`, {
      token: admin,
    });
    expect((one.body as { data: unknown }).data).toEqual(newest);
  });

  test('a repeated Idempotency-Key repeats the response and stores no events; with another body, it is a CONFLICT', async () => {
    const send = (text: string, key = 'k1') =>
      service.call('ingest', 'POST /api/v1/ingest', {
        token: sensor,
        text,
        headers: { ...lines, 'idempotency-key': key },
      });
    const before = service.published.events.length;
    const first = await send(ndjson(conn(10)));
    const second = await send(ndjson(conn(10)));
    expect((second.body as { data: unknown }).data).toEqual((first.body as { data: unknown }).data);
    expect(failure(await send(ndjson(conn(11))))[1]).toBe('CONFLICT');
    expect(service.published.events.length).toBe(before + 1);
    expect(failure(await send('', 'x'.repeat(256)))).toEqual([400, 'INVALID_REQUEST', 'idempotency-key']);
    expect(failure(await send('', 'a b'))).toEqual([400, 'INVALID_REQUEST', 'idempotency-key']);
  });

  test('two principals with the same Idempotency-Key each store a body and get the matching response', async () => {
    const send = async (token: string, text: string) => {
      const headers = { ...lines, 'idempotency-key': 'shared' };
      const { status, body } = await service.call('ingest', 'POST /api/v1/ingest', { token, text, headers });
      expect(status).toBe(200);
      return (body as { data: { accepted: number } }).data;
    };
    const made = await service.call('createPrincipal', 'POST /api/v1/principals', {
      token: admin,
      json: { name: 'another sensor', kind: 'sensor', roles: ['sensor'] },
    });
    const { id } = (made.body as { data: { id: string } }).data;
    const other = await issue(['sensor'], id);
    const before = service.published.events.length;
    const [own, theirs] = [ndjson(conn(30), conn(31)), ndjson(conn(32))];
    expect([(await send(sensor, own)).accepted, (await send(other, theirs)).accepted]).toEqual([2, 1]);
    expect([(await send(sensor, own)).accepted, (await send(other, theirs)).accepted]).toEqual([2, 1]);
    expect(service.published.events.length).toBe(before + 2);
  });

  test.each<[string, Uint8Array<ArrayBuffer>, string]>([
    ['lines', Buffer.from(ndjson(conn(20), conn(21))), ''],
    ['an array', Buffer.from(JSON.stringify([conn(22), conn(23)])), ''],
    [
      'objects over several lines',
      Buffer.from([conn(24), conn(25)].map((one) => JSON.stringify(one, null, 2)).join('\n')),
      '',
    ],
    ['compressed lines without Content-Encoding', gzipSync(ndjson(conn(26), conn(27))), 'application/x-ndjson'],
    ['compressed lines without any header', gzipSync(ndjson(conn(28), conn(29))), ''],
  ])('recognises a body that no header describes: %s', async (_, body, type) => {
    const answer = await fetch(`${service.url}/api/v1/ingest`, {
      method: 'POST',
      headers: { authorization: `Bearer ${sensor}`, ...(type === '' ? {} : { 'content-type': type }) },
      body,
    });
    expect(await answer.json()).toMatchObject({ data: { accepted: 2, rejected: 0 } });
  });

  test('typed endpoints accept only native events of their table', async () => {
    const event = {
      type: 'dns_event',
      timestamp: '2026-01-01T00:00:00.000Z',
      src_ip: '10.0.0.1',
      dst_ip: '10.0.0.2',
      transport: 'udp',
      kind: 'query',
      query: 'example.org',
    };
    const { body } = await service.call('ingestDnsEvents', 'POST /api/v1/events/dns', {
      token: sensor,
      json: [event],
    });
    expect(body).toMatchObject({ data: { accepted: 1, rejected: 0 } });
    const wrong = await service.call('ingestNetworkEvents', 'POST /api/v1/events/network', {
      token: sensor,
      json: [event],
    });
    expect(wrong.body).toMatchObject({ data: { accepted: 0, rejected: 1 } });
    const list = (await service.call('listDnsEvents', 'GET /api/v1/events/dns?q=example', { token: admin }))
      .body as Page;
    const id = list.data[0]?.id;
    expect((await service.call('getDnsEvent', `GET /api/v1/events/dns/${id}`, { token: admin })).status).toBe(200);
    expect(
      failure(await service.call('getNetworkEvent', `GET /api/v1/events/network/${id}`, { token: admin }))[0],
    ).toBe(404);
  });

  test('names unknown parameters and sources in the error, and accepts an empty body with zero counts', async () => {
    const send = (query: string) =>
      service.call('ingest', `POST /api/v1/ingest?${query}`, { token: sensor, text: ' ', headers: lines });
    expect(failure(await send('source=syslog'))).toEqual([400, 'INVALID_REQUEST', 'source']);
    expect(failure(await send('sauce=zeek'))).toEqual([400, 'INVALID_REQUEST', 'sauce']);
    expect((await send('ack=memory')).body).toMatchObject({ data: { accepted: 0, rejected: 0 } });
  });
});

describe('alerts', () => {
  let id: string;
  beforeAll(async () => {
    await service.call('ingest', 'POST /api/v1/ingest', {
      token: sensor,
      text: ndjson(alertLine),
      headers: lines,
    });
    const list = (await service.call('listAlerts', 'GET /api/v1/alerts?src_ip=192.168.0.66', { token: admin }))
      .body as Page;
    id = list.data[0]!.id;
  });

  test('a change is returned, published, and guarded by If-Match', async () => {
    await service.pump.idle(); // Recording the position of the alert's entry in the log changes the alert, too.
    const before = await service.call('getAlert', `GET /api/v1/alerts/${id}`, { token: admin });
    const put = (json: unknown, headers: Record<string, string> = {}) =>
      service.call('updateAlert', `PUT /api/v1/alerts/${id}`, { token: admin, json, headers });
    const etag = before.headers.get('etag')!;
    const changed = await put({ status: 'in_progress', assignee: 'admin' }, { 'if-match': etag });
    expect(changed.body).toMatchObject({
      data: { id, attributes: { status: 'in_progress', assignee: 'admin' } },
    });
    expect(changed.headers.get('etag')).not.toBe(etag);
    expect(service.published.alerts.at(-1)).toMatchObject({ alert: { id, status: 'in_progress' } });
    expect(failure(await put({ status: 'new' }, { 'if-match': etag }))[1]).toBe('VERSION_MISMATCH');
    expect(failure(await put({ status: 'new' }, { 'if-match': 'x' }))[2]).toBe('if-match');
    const early = await put({ status: 'archived' });
    expect(failure(early)).toEqual([409, 'INVALID_TRANSITION', 'status']);
    expect(early.body).toMatchObject({ error: { details: { reason: expect.any(String), to: 'archived' } } });
    expect(failure(await put({ count: 1 }))).toEqual([400, 'INVALID_REQUEST', 'count']);
  });

  test('a verdict can be withdrawn', async () => {
    const put = (json: unknown) => service.call('updateAlert', `PUT /api/v1/alerts/${id}`, { token: admin, json });
    expect((await put({ verdict: 'benign' })).body).toMatchObject({
      data: { attributes: { verdict: 'benign' } },
    });
    const { body } = await put({ verdict: '' });
    expect((body as { data: { attributes: object } }).data.attributes).not.toHaveProperty('verdict');
    const history = await service.call('listAlertHistory', `GET /api/v1/alerts/${id}/history`, {
      token: admin,
    });
    expect((history.body as Page).data[0]?.attributes).toMatchObject({
      action: 'verdict_set',
      from: 'benign',
    });
  });

  test.each([null, ''])('a verdict and an assignee are withdrawn with %j, singly and in bulk', async (none) => {
    const attributes = async () => {
      const { body } = await service.call('getAlert', `GET /api/v1/alerts/${id}`, { token: admin });
      return (body as { data: { attributes: object } }).data.attributes;
    };
    const single = (json: object) => service.call('updateAlert', `PUT /api/v1/alerts/${id}`, { token: admin, json });
    const bulk = (change: object) =>
      service.call('bulkUpdateAlerts', 'POST /api/v1/alerts/bulk', {
        token: admin,
        json: { ids: [id], change },
      });
    for (const put of [single, bulk]) {
      expect((await put({ verdict: 'benign', assignee: 'admin' })).status).toBe(200);
      expect(await attributes()).toMatchObject({ verdict: 'benign', assignee: 'admin' });
      expect((await put({ verdict: none, assignee: none })).status).toBe(200);
      expect(await attributes()).not.toHaveProperty('verdict');
      expect(await attributes()).not.toHaveProperty('assignee');
    }
    const refused = await single({ assignee: 7 });
    expect(refused.body).toMatchObject({ error: { details: { reason: 'must be a string or null' } } });
  });

  test('an assignee must be the exact name of a user', async () => {
    const path = `PUT /api/v1/alerts/${id}`;
    for (const assignee of ['nobody known', 'ADMIN', 'zeek-assigned']) {
      if (assignee === 'zeek-assigned')
        await service.call('createPrincipal', 'POST /api/v1/principals', {
          token: admin,
          json: { name: assignee, kind: 'sensor', roles: ['sensor'] },
        });
      const answer = await service.call('updateAlert', path, { token: admin, json: { assignee } });
      expect(failure(answer)).toEqual([400, 'INVALID_REQUEST', 'assignee']);
      const json = { ids: [id], change: { assignee } };
      const bulk = await service.call('bulkUpdateAlerts', 'POST /api/v1/alerts/bulk', { token: admin, json });
      expect(failure(bulk)).toEqual([400, 'INVALID_REQUEST', 'assignee']);
    }
  });

  test('notes are added and listed', async () => {
    const path = `/api/v1/alerts/${id}/notes`;
    const added = await service.call('addAlertNote', `POST ${path}`, {
      token: admin,
      json: { text: 'seen' },
    });
    expect(added.status).toBe(201);
    const list = (await service.call('listAlertNotes', `GET ${path}`, { token: admin })).body as Page;
    expect(list.data[0]?.attributes).toMatchObject({ text: 'seen', author: 'admin', alert_id: id });
  });

  test('invalid identifiers are rejected as specified; unknown identifiers are not found', async () => {
    const wrong = await service.call('getAlert', 'GET /api/v1/alerts/17', { token: admin });
    expect((wrong.body as Failure).error).toMatchObject({
      code: 'INVALID_REQUEST',
      details: { field: 'alert_id', reason: 'must be a valid UUID' },
    });
    const other = '018f0000-0000-7000-8000-000000000001';
    expect(failure(await service.call('getAlert', `GET /api/v1/alerts/${other}`, { token: admin }))[0]).toBe(404);
    expect(
      failure(await service.call('listAlertNotes', `GET /api/v1/alerts/${other}/notes`, { token: admin }))[0],
    ).toBe(404);
    expect(failure(await service.call('getAlert', `GET /api/v1/alerts/${id}?x=1`, { token: admin }))[2]).toBe('x');
  });
});

describe('transparency', () => {
  test('the head has no envelope and an exact timestamp, and the proofs match the head', async () => {
    await login();
    service.pump.wake();
    await service.pump.idle();
    const answer = await fetch(`${service.url}/api/transparency/sth`);
    const text = await answer.text();
    const exact = BigInt(/"timestamp_ns":(\d+)/.exec(text)![1]!);
    expect(exact % 1024n).toBe(0n);
    const { body } = await service.call('getTreeHead', 'GET /api/transparency/sth');
    const { tree_size } = body as { tree_size: number };
    expect(tree_size).toBeGreaterThan(2);
    const inclusion = `GET /api/transparency/inclusion?leaf_index=0&tree_size=${tree_size}`;
    expect((await service.call('getInclusionProof', inclusion)).body).toMatchObject({
      leaf_index: 0,
      tree_size,
    });
    const consistency = `GET /api/transparency/consistency?first=1&second=${tree_size}`;
    expect((await service.call('getConsistencyProof', consistency)).body).toMatchObject({ first_size: 1 });
    expect((await service.call('getKeySet', 'GET /.well-known/jwks.json')).status).toBe(200);
    const leaf = await service.call('getLeaf', 'GET /api/transparency/leaf?leaf_index=0', { token: admin });
    const { canonical, entry } = leaf.body as { canonical: string; entry: unknown };
    expect(JSON.parse(Buffer.from(canonical, 'base64').toString())).toEqual(entry);
  });

  test.each([
    ['getInclusionProof', 'inclusion?leaf_index=01', 'leaf_index'],
    ['getInclusionProof', 'inclusion?leaf_index=0x1&tree_size=2', 'leaf_index'],
    ['getInclusionProof', 'inclusion?tree_size=1', 'leaf_index'],
    ['getInclusionProof', 'inclusion?leaf_index=9007199254740993', 'leaf_index'],
    ['getConsistencyProof', 'consistency?first=0&second=1', 'first'],
    ['getConsistencyProof', 'consistency?first=1', 'second'],
    ['getConsistencyProof', 'consistency?first=1&first=2&second=3', 'first'],
    ['getTreeHead', 'sth?tree_size=%2B1', 'tree_size'],
  ] as const)('%s %s is INVALID_REQUEST, and the error names %s', async (operation, query, field) => {
    const answer = await service.call(operation, `GET /api/transparency/${query}`);
    expect(failure(answer)).toEqual([400, 'INVALID_REQUEST', field]);
  });
});

describe('keys', () => {
  const listed = async () => ((await service.call('listKeys', 'GET /api/v1/keys', { token: admin })).body as Page).data;
  const active = async (purpose: string) =>
    (await listed()).find(({ attributes }) => attributes.purpose === purpose && attributes.state === 'active')!;
  const rotate = (purpose: string) =>
    service.call('rotateKey', 'POST /api/v1/keys/rotate', { token: admin, json: { purpose } });

  test('are listed in pages, without private parts', async () => {
    const all = await listed();
    expect(all.map(({ attributes }) => attributes.purpose)).toContain('checkpoint');
    expect(JSON.stringify(all)).not.toMatch(/"(d|svc_encrypted)"/);
    const { body } = await service.call('listKeys', 'GET /api/v1/keys?page=2&per_page=3', { token: admin });
    expect((body as Page).data).toEqual(all.slice(3, 6));
    expect((body as Page).pagination).toMatchObject({ total: all.length, page: 2, has_prev: true });
  });

  test('are rotated on request by an administrator, except the checkpoint key', async () => {
    const before = await active('event-signing');
    const { status, body } = await rotate('event-signing');
    expect([status, body]).toMatchObject([
      200,
      { data: { type: 'key', attributes: { purpose: 'event-signing', state: 'active' } } },
    ]);
    const after = await active('event-signing');
    expect([after.id, after.id === before.id]).toEqual([(body as { data: { id: string } }).data.id, false]);
    const leaf = `GET /api/transparency/leaf?leaf_index=${after.attributes.from_size}`;
    const { entry } = (await service.call('getLeaf', leaf, { token: admin })).body as {
      entry: Record<string, unknown>;
    };
    const me = (await service.call('whoAmI', 'GET /auth/me', { token: admin })).body as {
      data: { id: string };
    };
    expect(entry).toMatchObject({ kind: 'key.retired', actor: me.data.id, subject: { id: before.id } });
    expect(failure(await rotate('checkpoint'))).toEqual([400, 'INVALID_REQUEST', 'purpose']);
    expect(failure(await rotate('lunch'))).toEqual([400, 'INVALID_REQUEST', 'purpose']);
  });

  test('sessions survive the rotation of the key of access tokens, but not its revocation', async () => {
    const { access_token: token, refresh_token } = await login();
    const who = async (one: string) => (await service.call('whoAmI', 'GET /auth/me', { token: one })).status;
    const first = await active('access-token');
    await rotate('access-token');
    const renewed = (await login()).access_token;
    expect([await who(token), await who(renewed)]).toEqual([200, 200]);
    const json = { reason: 'the disk was stolen' };
    const revoked = await service.call('revokeKey', `POST /api/v1/keys/${first.id}/revoke`, {
      token: renewed,
      json,
    });
    expect(revoked.body).toMatchObject({ data: { id: first.id, attributes: { state: 'revoked' } } });
    expect([await who(token), await who(renewed)]).toEqual([401, 200]);
    const refreshed = await service.call('refresh', 'POST /auth/refresh', { json: { refresh_token } });
    expect(await who((refreshed.body as Tokens).access_token)).toBe(200);
    admin = renewed;
  });

  test('cannot be retired while active, or revoked twice; unknown keys are not found', async () => {
    const { id } = await active('transparency-sth');
    const call = (operation: 'retireKey' | 'revokeKey', key: string, json?: unknown) => {
      const target = `POST /api/v1/keys/${key}/${operation === 'retireKey' ? 'retire' : 'revoke'}`;
      return service.call(operation, target, { token: admin, ...(json === undefined ? {} : { json }) });
    };
    expect(failure(await call('retireKey', id)).slice(0, 2)).toEqual([409, 'INVALID_TRANSITION']);
    expect((await call('revokeKey', id, { reason: 'stolen' })).status).toBe(200);
    expect(failure(await call('revokeKey', id, { reason: 'stolen' }))[1]).toBe('INVALID_TRANSITION');
    expect((await active('transparency-sth')).id).not.toBe(id);
    const head = (await service.call('getTreeHead', 'GET /api/transparency/sth')).body;
    expect(head).not.toMatchObject({ signer_key_id: id });
    expect(failure(await call('revokeKey', id, { reason: '' }))).toEqual([400, 'INVALID_REQUEST', 'reason']);
    expect(failure(await call('retireKey', '17'))).toEqual([400, 'INVALID_REQUEST', 'key_id']);
    const other = '018f0000-0000-7000-8000-000000000001';
    expect(failure(await call('retireKey', other))[1]).toBe('NOT_FOUND');
    expect(failure(await call('revokeKey', other, { reason: 'x' }))[1]).toBe('NOT_FOUND');
  });

  test('are visible to administrators only', async () => {
    const answer = await service.call('listKeys', 'GET /api/v1/keys', { token: sensor });
    expect(failure(answer).slice(0, 2)).toEqual([403, 'FORBIDDEN']);
  });
});

describe('the system', () => {
  test('serves health, status, the OpenAPI document and metrics', async () => {
    const health = await service.call('getHealth', 'GET /health?probe=1');
    expect(health.body).toMatchObject({ status: 'ok', ledger: 'ok' });
    const status = await service.call('getStatus', 'GET /api/v1/status', { token: admin });
    expect(status.body).toMatchObject({ data: { attributes: { ready: true } } });
    const openapi = await service.call('getOpenApi', 'GET /api/v1/openapi.json');
    expect(openapi.body).toMatchObject({ openapi: '3.1.0' });
    const metrics = await service.call('getMetrics', 'GET /metrics');
    expect(metrics.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(metrics.body).toContain('candor_http_requests_total{operation="login",status="200"}');
    expect(service.logged).toEqual([]);
  });
});

describe('settings and failures', () => {
  test('an empty log has no head; access to metrics and leaves follows their settings', async () => {
    const other = await openService({
      CANDOR_METRICS_REQUIRE_AUTH: 'true',
      CANDOR_TRANSPARENCY_PUBLIC_ENTRIES: 'true',
    });
    const head = await other.call('getTreeHead', 'GET /api/transparency/sth');
    expect(failure(head).slice(0, 2)).toEqual([503, 'LOG_EMPTY']);
    expect(head.headers.get('retry-after')).not.toBeNull();
    expect((await fetch(`${other.url}/metrics`)).status).toBe(401);
    expect((await fetch(`${other.url}/api/transparency/leaf?leaf_index=0`)).status).not.toBe(401);
    await other.close();
  });

  test('refusals of pools and logins are counted by limit', async () => {
    const overloaded = () => Promise.reject(new ServiceError('OVERLOADED', 'full'));
    const queries = new Proxy({} as Services['queries'], { get: () => overloaded });
    const other = await openService({}, { queries, ingest: { add: overloaded } });
    const json = { username: 'admin', password };
    const { access_token: token } = (await other.call('login', 'POST /auth/login', { json })).body as Tokens;
    expect((await other.call('listAlerts', 'GET /api/v1/alerts', { token })).status).toBe(503);
    expect((await other.call('listDnsEvents', 'GET /api/v1/events/dns', { token })).status).toBe(503);
    expect((await other.call('ingest', 'POST /api/v1/ingest', { token, text: 'x', headers: lines })).status).toBe(503);
    const wrong = { json: { username: 'mallory', password: 'x' } };
    const statuses = [];
    for (let n = 0; n <= limits.maxLoginFailuresPerMinute; n++)
      statuses.push((await other.call('login', 'POST /auth/login', wrong)).status);
    expect(statuses.at(-1)).toBe(429);
    const status = (await other.call('getStatus', 'GET /api/v1/status', { token })).body;
    const { limits_reached, verdict } = (status as { data: { attributes: Status } }).data.attributes;
    expect(limits_reached).toEqual([
      { limit: 'maxQueuedQueries', times: 2, meaning: limitMeanings.maxQueuedQueries },
      { limit: 'maxQueuedBodies', times: 1, meaning: limitMeanings.maxQueuedBodies },
      { limit: 'maxLoginFailuresPerMinute', times: 1, meaning: limitMeanings.maxLoginFailuresPerMinute },
    ]);
    expect(verdict).toMatchObject({
      well: true,
      limits: expect.stringContaining('maxQueuedQueries twice, '),
    });
    await other.close();
  });

  test.each([
    ['PAYLOAD_TOO_LARGE', 'too_many_records', 'maxBodyRecords'],
    ['UNAVAILABLE', 'disk_full', 'minFreeDiskBytes'],
    ['UNAVAILABLE', 'outbox_full', 'maxOutboxRows'],
  ] as const)('a refusal with %s and reason %s is counted as %s', async (code, reason, limit) => {
    const add = () => Promise.reject(new ServiceError(code, 'refused', { reason }));
    const other = await openService({}, { ingest: { add } });
    const json = { username: 'admin', password };
    const { access_token: token } = (await other.call('login', 'POST /auth/login', { json })).body as Tokens;
    await other.call('ingest', 'POST /api/v1/ingest', { token, text: 'x', headers: lines });
    const { body } = await other.call('getStatus', 'GET /api/v1/status', { token });
    expect(body).toMatchObject({ data: { attributes: { limits_reached: [{ limit, times: 1 }] } } });
    await other.close();
  });

  test('a commit whose publication fails is still acknowledged', async () => {
    const other = await openService();
    vi.spyOn(other.hub, 'publish').mockImplementation(() => {
      throw new Error('a bug in the hub');
    });
    const json = { username: 'admin', password };
    const { access_token: token } = (await other.call('login', 'POST /auth/login', { json })).body as Tokens;
    const sent = await other.call('ingest', 'POST /api/v1/ingest', {
      token,
      text: ndjson(conn(1)),
      headers: lines,
    });
    expect(sent.body).toMatchObject({ data: { accepted: 1 } });
    expect(other.logged[0]).toMatchObject({ level: 50, err: { message: 'a bug in the hub' } });
    await other.close();
  });

  test('a request that lost its pool worker gets UNAVAILABLE, and the bytes of its body are returned to the budget', async () => {
    const other = await openService(
      { CANDOR_LIMITS_MAX_INGEST_IN_FLIGHT_BYTES: '65536' },
      { ingest: { add: () => Promise.reject(new ServiceError('WORKER_LOST', 'the thread died')) } },
    );
    const json = { username: 'admin', password };
    const { access_token: token } = (await other.call('login', 'POST /auth/login', { json })).body as Tokens;
    for (let n = 0; n < 3; n++) {
      const answer = await other.call('ingest', 'POST /api/v1/ingest', {
        token,
        text: 'x'.repeat(60_000),
        headers: lines,
      });
      expect(failure(answer).slice(0, 2)).toEqual([503, 'UNAVAILABLE']);
      expect(answer.headers.get('retry-after')).toBe('1');
      expect(JSON.stringify(answer.body)).not.toContain('the thread died');
    }
    await other.close();
  });

  test('ack=memory responds before the commit, whose failure is logged and counted', async () => {
    const other = await openService();
    const json = { username: 'admin', password };
    const { access_token: token } = (await other.call('login', 'POST /auth/login', { json })).body as Tokens;
    let fail: (() => void) | undefined;
    other.store.commit = () =>
      new Promise((_resolve, reject) => {
        fail = () => reject(new ServiceError('UNAVAILABLE', 'disk full'));
      });
    const target = 'POST /api/v1/ingest?ack=memory';
    const { body } = await other.call('ingest', target, { token, text: ndjson(conn(1)), headers: lines });
    expect(body).toMatchObject({ data: { accepted: 1 } });
    await vi.waitFor(() => expect(fail).toBeDefined(), 60_000);
    fail?.();
    await vi.waitFor(() => expect(other.logged).toHaveLength(1), 60_000);
    expect((await other.call('getMetrics', 'GET /metrics')).body).toContain('candor_ingest_late_failures_total 1');
    await other.close();
  });

  test('if the ledger does not answer, health reports 503, and a scrape still succeeds', async () => {
    const other = await openService();
    other.ledger.status = () => Promise.reject(new ServiceError('UNAVAILABLE', 'restarting'));
    const health = await other.call('getHealth', 'GET /health');
    expect([health.status, (health.body as { ledger: string }).ledger]).toEqual([503, 'unknown']);
    expect((await other.call('getMetrics', 'GET /metrics')).body).toContain('candor_status_up 0');
    await other.close();
  });
});
