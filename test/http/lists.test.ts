/** Lists for administrators, over HTTP: pages by cursor and by number, filters, orders, errors. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OperationId } from '../../src/contract/routes.ts';
import type { Token } from '../../src/store/store.ts';
import { uuid7 } from '../../src/uuid.ts';
import { openService, password, type Service } from './service.ts';

interface Item {
  readonly id: string;
  readonly type: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

interface Page {
  readonly data: readonly Item[];
  readonly pagination: { readonly total: number; readonly page: number; readonly next_cursor?: string };
}

let service: Service;
let admin: string;
/** Ids of the principals by name. */
const principals = new Map<string, string>();
let alert: string;
const started = new Date().toISOString();

const made = ({ body }: { body: unknown }) => (body as { data: Item }).data;
const post = (operation: OperationId, path: string, json: object) =>
  service.call(operation, `POST ${path}`, { token: admin, json });

beforeAll(async () => {
  service = await openService();
  const json = { username: 'admin', password };
  const answer = await service.call('login', 'POST /auth/login', { json });
  admin = (answer.body as { access_token: string }).access_token;
  for (const [name, kind, roles] of [
    ['ana', 'user', ['viewer']],
    ['Ben', 'user', ['analyst', 'viewer']],
    ['zeek-1', 'sensor', ['sensor']],
    ['zeek-2', 'sensor', ['sensor']],
    ['check', 'auditor_client', ['auditor']],
  ] as const)
    principals.set(name, made(await post('createPrincipal', '/api/v1/principals', { name, kind, roles })).id);
  const suspended = { token: admin, json: { status: 'suspended' } };
  await service.call('updatePrincipal', `PUT /api/v1/principals/${principals.get('zeek-2')}`, suspended);
  for (const [name, of, scopes, expires_at] of [
    ['of ana', 'ana', ['viewer'], undefined],
    ['of Ben', 'Ben', ['analyst'], new Date(Date.now() + 3600_000).toISOString()],
    ['revoked', 'zeek-1', ['sensor'], undefined],
  ] as const) {
    const terms = {
      name,
      scopes,
      principal_id: principals.get(of),
      ...(expires_at === undefined ? {} : { expires_at }),
    };
    const { id } = made(await post('issueToken', '/api/v1/tokens', terms));
    if (name === 'revoked') await service.call('revokeToken', `DELETE /api/v1/tokens/${id}`, { token: admin });
  }
  await service.store.addToken(expired(principals.get('zeek-1')!), { id: 'system', name: 'system' });
  const eve = {
    timestamp: '2026-11-20T10:00:00.000000+0000',
    event_type: 'alert',
    src_ip: '10.0.0.1',
    dest_ip: '198.51.100.7',
    proto: 'TCP',
    alert: { gid: 1, signature_id: 1, rev: 1, signature: 'Rule', severity: 3 },
  };
  const headers = { 'content-type': 'application/x-ndjson' };
  await service.call('ingest', 'POST /api/v1/ingest', { token: admin, text: JSON.stringify(eve), headers });
  alert = (await list('listAlerts', '/api/v1/alerts')).data[0]!.id;
  for (const text of ['first look', 'second look', 'Closed'])
    await post('addAlertNote', `/api/v1/alerts/${alert}/notes`, { text });
});
afterAll(() => service.close());

/** Returns an expired token for the store. Requests with an expiry in the past are rejected. */
function expired(principal: string): Token {
  const issued = Date.now() - 2000;
  return {
    jti: uuid7(issued),
    principal_id: principal,
    kind: 'long_lived',
    name: 'short',
    roles: ['sensor'],
    secret_hash: '0'.repeat(64),
    issued_at: new Date(issued).toISOString(),
    expires_at: new Date(issued + 1000).toISOString(),
  };
}

async function list(operation: OperationId, path: string, query = ''): Promise<Page> {
  const { status, body } = await service.call(operation, `GET ${path}?${query}`, { token: admin });
  expect([status, query]).toEqual([200, query]);
  return body as Page;
}

const lists: Record<string, { operation: OperationId; path: () => string; time: string; fewest: number }> = {
  principals: {
    operation: 'listPrincipals',
    path: () => '/api/v1/principals',
    time: 'created_at',
    fewest: 6,
  },
  tokens: { operation: 'listTokens', path: () => '/api/v1/tokens', time: 'issued_at', fewest: 5 },
  keys: { operation: 'listKeys', path: () => '/api/v1/keys', time: 'created_at', fewest: 4 },
  notes: {
    operation: 'listAlertNotes',
    path: () => `/api/v1/alerts/${alert}/notes`,
    time: 'created_at',
    fewest: 3,
  },
  backups: { operation: 'listBackups', path: () => '/api/v1/backups', time: 'created_at', fewest: 0 },
};

describe.each(Object.entries(lists))('the list of %s', (_name, { operation, path, time, fewest }) => {
  const page = (query: string) => list(operation, path(), query);

  test('is paged by cursor to its end, and agrees with numbered pages', async () => {
    const all = await page('per_page=1000');
    expect(all.data.length).toBeGreaterThanOrEqual(fewest);
    expect(all.pagination).toMatchObject({ total: all.data.length, page: 1 });
    const walked: Item[] = [];
    let cursor: string | undefined;
    for (let number = 1; number === 1 || cursor !== undefined; number++) {
      const one = await page(`per_page=2${cursor === undefined ? '' : `&cursor=${cursor}`}`);
      expect(one.data).toEqual((await page(`per_page=2&page=${number}`)).data);
      expect(one.pagination).toMatchObject({ total: all.data.length, page: number });
      walked.push(...one.data);
      cursor = one.pagination.next_cursor;
    }
    expect(walked).toEqual(all.data);
  });

  test('is newest first, and oldest first on request', async () => {
    const { data } = await page('');
    const times = data.map(({ attributes }) => String(attributes[time]));
    expect(times).toEqual(times.toSorted().reverse());
    expect((await page(`sort=${time}`)).data).toEqual(data.toReversed());
  });

  test('is limited by a half-open time range', async () => {
    expect((await page(`from=${Date.now() + 60_000}`)).pagination.total).toBe(0);
    expect((await page(`to=${Date.parse(started) - 3600_000}`)).pagination.total).toBe(0);
    const [newest] = (await page('')).data;
    if (newest === undefined) return;
    const at = String(newest.attributes[time]);
    expect((await page(`from=${at}`)).data.map(({ id }) => id)).toContain(newest.id);
    expect((await page(`to=${at}`)).data.map(({ id }) => id)).not.toContain(newest.id);
  });

  test.each([
    ['colour=red', 'colour'],
    ['sort=colour', 'sort'],
    ['min_severity=high', 'min_severity'],
    ['from=never', 'from'],
    ['q=', 'q'],
    ['cursor=AAAA', 'cursor'],
    ['per_page=1001', 'per_page'],
  ])('rejects %s, and the error names the parameter', async (query, field) => {
    const answer = await service.call(operation, `GET ${path()}?${query}`, { token: admin });
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { code: 'INVALID_REQUEST', details: { field } } },
    });
  });

  test('rejects a cursor of another filter or of another list', async () => {
    const cursorOf = async (one: (typeof lists)[string]) =>
      (await list(one.operation, one.path(), 'per_page=1')).pagination.next_cursor;
    for (const one of Object.values(lists)) {
      const cursor = await cursorOf(one);
      if (cursor === undefined) continue;
      const own = one.operation === operation;
      const query = `cursor=${cursor}${own ? '&q=look' : ''}`;
      const answer = await service.call(operation, `GET ${path()}?${query}`, { token: admin });
      expect(answer).toMatchObject({ status: 400, body: { error: { details: { field: 'cursor' } } } });
    }
  });
});

describe('lists', () => {
  const names = async (path: string, query: string) => {
    const operation = path === 'principals' ? 'listPrincipals' : 'listTokens';
    const { data } = await list(operation, `/api/v1/${path}`, query);
    return data.map(({ attributes }) => attributes.name ?? attributes.kind);
  };
  const id = (name: string) => principals.get(name)!;

  test.each([
    ['kind=sensor&sort=name', ['zeek-1', 'zeek-2']],
    ['kind=sensor&kind=auditor_client&sort=-name', ['zeek-2', 'zeek-1', 'check']],
    ['role=viewer&sort=name', ['Ben', 'ana']],
    ['roles=auditor&roles=sensor&status=active&sort=name', ['check', 'zeek-1']],
    ['status=suspended', ['zeek-2']],
    ['name=ana', ['ana']],
    ['name=an', []],
    ['q=ZEEK&sort=name', ['zeek-1', 'zeek-2']],
    ['sort=-last_login_at&per_page=1', ['admin']],
  ])('contain only the principals that match %s', async (query, expected) => {
    expect(await names('principals', query)).toEqual(expected);
  });

  test.each([
    [() => `principal_id=${id('zeek-1')}&sort=name`, ['revoked', 'short']],
    [() => `principal_id=${id('ana')}&principal_id=${id('Ben')}&sort=name`, ['of Ben', 'of ana']],
    [() => 'kind=session', ['session']],
    [() => 'status=expired', ['short']],
    [() => 'status=revoked', ['revoked']],
    [() => 'status=active&kind=long_lived&sort=name', ['of Ben', 'of ana']],
    [() => 'role=sensor&status=revoked', ['revoked']],
    [() => 'scopes=analyst', ['of Ben']],
    [() => 'q=OF&sort=-name', ['of ana', 'of Ben']],
    [() => 'sort=expires_at&kind=long_lived&per_page=2', ['short', 'of Ben']],
  ])('contain only the tokens that match the filter, %#', async (query, expected) => {
    expect(await names('tokens', query())).toEqual(expected);
  });

  test('contain only the keys and notes that match the filter', async () => {
    const keys = await list('listKeys', '/api/v1/keys', 'purpose=checkpoint&state=active');
    expect(keys.data.map(({ attributes }) => attributes.purpose)).toEqual(['checkpoint']);
    const notes = await list('listAlertNotes', `/api/v1/alerts/${alert}/notes`, 'q=LOOK&author=admin');
    expect(notes.data.map(({ attributes }) => attributes.text)).toEqual(['second look', 'first look']);
    const none = await list('listAlertNotes', `/api/v1/alerts/${alert}/notes`, 'author=nobody');
    expect(none.pagination.total).toBe(0);
  });

  test('contain no secret', async () => {
    for (const [operation, path] of [
      ['listPrincipals', '/api/v1/principals'],
      ['listTokens', '/api/v1/tokens'],
    ] as const) {
      const text = JSON.stringify(await list(operation, path, 'per_page=1000'));
      for (const secret of ['argon2', 'password_hash', 'secret_hash', 'family_hash'])
        expect(text).not.toContain(secret);
    }
  });
});

test('backups are listed by state, and paged', async () => {
  for (let n = 0; n < 3; n++) {
    const { id } = made(await post('createBackup', '/api/v1/backups', {}));
    await expect
      .poll(async () => {
        const { body } = await service.call('getBackup', `GET /api/v1/backups/${id}`, { token: admin });
        return (body as { data: Item }).data.attributes.state;
      })
      .toBe('completed');
  }
  const all = await list('listBackups', '/api/v1/backups', 'state=completed');
  expect(all.pagination.total).toBe(3);
  const first = await list('listBackups', '/api/v1/backups', 'per_page=2');
  const rest = await list('listBackups', '/api/v1/backups', `per_page=2&cursor=${first.pagination.next_cursor}`);
  expect([...first.data, ...rest.data]).toEqual(all.data);
  expect((await list('listBackups', '/api/v1/backups', 'state=failed')).data).toEqual([]);
});
