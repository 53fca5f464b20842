import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import type { Principal } from '../../src/contract/resources/principal.ts';
import { limits } from '../../src/limits.ts';
import { openService, password, type Service } from './service.ts';

const newPassword = 'another horse battery';

let service: Service;
let admin: string;

beforeAll(async () => {
  service = await openService();
  admin = await tokenOf('admin');
});
afterAll(() => service.close());

interface Shown {
  readonly data: { readonly id: string; readonly attributes: Principal & { readonly token: string } };
}

const shown = ({ body }: { body: unknown }) => (body as Shown).data;

async function login(username: string, secret = password) {
  return service.call('login', 'POST /auth/login', { json: { username, password: secret } });
}

async function sessionOf(username: string, secret = password) {
  const { status, body } = await login(username, secret);
  expect(status).toBe(200);
  return body as { access_token: string; refresh_token: string };
}

const tokenOf = async (username: string, secret = password) => (await sessionOf(username, secret)).access_token;

const me = async (token: string) => (await service.call('whoAmI', 'GET /auth/me', { token })).status;

const create = (json: object, token = admin) =>
  service.call('createPrincipal', 'POST /api/v1/principals', { token, json });

const user = async (name: string, more: object = {}) =>
  shown(await create({ name, kind: 'user', roles: ['viewer'], password, ...more })).id;

const update = (id: string, json: object, headers: Record<string, string> = {}) =>
  service.call('updatePrincipal', `PUT /api/v1/principals/${id}`, { token: admin, json, headers });

const read = (id: string) => service.call('getPrincipal', `GET /api/v1/principals/${id}`, { token: admin });

const change = (token: string, current_password: string, new_password: string) =>
  service.call('changePassword', 'PUT /auth/password', { token, json: { current_password, new_password } });

const invalid = (field: string) => ({
  status: 400,
  body: { error: { code: 'INVALID_REQUEST', details: { field } } },
});

interface Entry {
  readonly kind: string;
  readonly actor: string;
  readonly subject: { readonly id: string };
}

/** Returns the entries of one kind in the log, once the outbox is empty, oldest first. */
async function logged(kind: string): Promise<Entry[]> {
  await service.pump.idle();
  const target = `GET /api/transparency/entries?kind=${kind}&per_page=1000`;
  const { body } = await service.call('listEntries', target, { token: admin });
  return (body as { data: { attributes: { entry: Entry } }[] }).data.map(({ attributes }) => attributes.entry);
}

async function socketOf(token: string): Promise<WebSocket> {
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}/ws`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await once(socket, 'open');
  socket.send('{"type":"ping"}');
  await once(socket, 'message');
  return socket;
}

const closeCode = async (socket: WebSocket) => (await once(socket, 'close'))[0] as number;

describe('a principal', () => {
  test('is created, shown, listed and signs in; responses and service logs do not contain its password', async () => {
    const made = await create({ name: 'zoe', kind: 'user', roles: ['analyst'], password });
    expect(made.status).toBe(201);
    const { id, attributes } = shown(made);
    expect(made.headers.get('location')).toBe(`/api/v1/principals/${id}`);
    expect(attributes).toMatchObject({
      name: 'zoe',
      kind: 'user',
      roles: ['analyst'],
      status: 'active',
      version: 1,
    });
    expect(shown(await read(id)).attributes).toEqual(attributes);
    const list = await service.call('listPrincipals', 'GET /api/v1/principals?per_page=100', {
      token: admin,
    });
    expect((list.body as { data: unknown[] }).data).toContainEqual({ id, type: 'principal', attributes });
    expect(await me(await tokenOf('zoe'))).toBe(200);
    for (const text of [made.body, list.body, service.logged])
      for (const secret of [password, 'argon2', 'password_hash']) expect(JSON.stringify(text)).not.toContain(secret);
  });

  test('has no password if it is a machine; for a user the password is optional', async () => {
    expect(await create({ name: 'm', kind: 'sensor', roles: ['sensor'], password })).toMatchObject(invalid('password'));
    const sensor = shown(await create({ name: 'zeek-1', kind: 'sensor', roles: ['sensor'] })).id;
    expect(await update(sensor, { password })).toMatchObject(invalid('password'));
    expect((await create({ name: 'by-certificate', kind: 'user', roles: ['viewer'] })).status).toBe(201);
    expect((await login('by-certificate')).status).toBe(401);
  });

  test.for([
    ['name', { name: ' padded' }],
    ['name', { name: 'invisible\u200b' }],
    ['name', { name: '' }],
    ['password', { password: 'short' }],
    ['password', { name: 'same-as-mine', password: 'Same-As-Mine' }],
    ['roles/0', { roles: ['root'] }],
    ['version', { version: 3 }],
    ['password_hash', { password_hash: 'x' }],
  ])('is rejected if %s is invalid: %j', async ([field, wrong]) => {
    const answer = await create({ name: 'wrong', kind: 'user', roles: [], password, ...(wrong as object) });
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'INVALID_REQUEST' } } });
    const { details } = (answer.body as { error: { details: { field: string } } }).error;
    expect(details.field.split(/[./[]/)[0]).toBe((field as string).split('/')[0]);
  });

  test('requires a unique and valid name, and signs in only with its current name', async () => {
    const [one, two] = [await user('ann'), await user('ben')];
    expect((await create({ name: 'ann', kind: 'user', roles: [] })).body).toMatchObject({
      error: { code: 'CONFLICT' },
    });
    expect((await update(two, { name: 'ann' })).body).toMatchObject({ error: { code: 'CONFLICT' } });
    expect((await update(two, { name: 'Ann' })).body).toMatchObject({ error: { code: 'CONFLICT' } });
    for (const name of ['ben ', 'Anonymous', 'b\u0435n'])
      expect(await update(two, { name })).toMatchObject(invalid('name'));
    expect(shown(await update(one, { name: 'anna' })).attributes).toMatchObject({ name: 'anna', version: 2 });
    expect((await login('ann')).status).toBe(401);
    expect((await login('anna')).status).toBe(200);
  });

  test('is not changed if If-Match has a version other than the current one', async () => {
    const id = await user('versioned');
    const stale = await update(id, { roles: ['analyst'] }, { 'if-match': '"7"' });
    expect(stale).toMatchObject({
      status: 412,
      body: { error: { code: 'VERSION_MISMATCH', details: { version: 1 } } },
    });
    const changed = await update(id, { roles: ['analyst'] }, { 'if-match': '"1"' });
    expect(shown(changed).attributes).toMatchObject({ roles: ['analyst'], version: 2 });
    expect((await update(id, { roles: [] }, { 'if-match': '"1"' })).status).toBe(412);
    expect(await update(id, {}, { 'if-match': 'x' })).toMatchObject(invalid('if-match'));
    const nobody = '01890000-0000-7000-8000-000000000000';
    expect((await update(nobody, { roles: [] })).status).toBe(404);
    expect((await read(nobody)).status).toBe(404);
  });

  test('is refused with all its credentials while suspended', async () => {
    const id = await user('suspect');
    const { access_token, refresh_token } = await sessionOf('suspect');
    const issued = await issue(id, ['viewer']);
    expect((await update(id, { status: 'suspended' })).status).toBe(200);
    expect(await Promise.all([me(access_token), me(shown(issued).attributes.token)])).toEqual([401, 401]);
    expect((await service.call('refresh', 'POST /auth/refresh', { json: { refresh_token } })).status).toBe(401);
    expect((await login('suspect')).status).toBe(401);
    expect(await issue(id, ['viewer'])).toMatchObject(invalid('principal_id'));
    expect((await update(id, { status: 'active' })).status).toBe(200);
    expect(await Promise.all([me(access_token), me(shown(issued).attributes.token)])).toEqual([200, 200]);
  });

  test('cannot be suspended and cannot lose its role if it is the last administrator', async () => {
    const { id } = shown(await service.call('whoAmI', 'GET /auth/me', { token: admin }));
    for (const lockout of [{ status: 'suspended' }, { roles: ['viewer'] }])
      expect((await update(id, lockout)).body).toMatchObject({ error: { code: 'CONFLICT' } });
    expect(await me(admin)).toBe(200);
  });

  test('is created and listed by administrators only', async () => {
    await user('curious');
    const token = await tokenOf('curious');
    expect((await create({ name: 'x', kind: 'user', roles: ['admin'] }, token)).status).toBe(403);
    expect((await service.call('listPrincipals', 'GET /api/v1/principals', { token })).status).toBe(403);
  });
});

const issue = (principal_id: string, scopes: string[]) =>
  service.call('issueToken', 'POST /api/v1/tokens', {
    token: admin,
    json: { name: 't', scopes, principal_id },
  });

test('a token that lists a role twice is rejected', async () => {
  const { id } = shown(await service.call('whoAmI', 'GET /auth/me', { token: admin }));
  expect(await issue(id, ['sensor', 'sensor'])).toMatchObject(invalid('scopes.1'));
});

describe('a password', () => {
  test('is changed by its owner: the current session continues, other sessions end and are logged', async () => {
    const id = await user('changing');
    const [kept, other] = [await sessionOf('changing'), await sessionOf('changing')];
    expect((await change(kept.access_token, password, newPassword)).status).toBe(204);
    expect(await Promise.all([me(kept.access_token), me(other.access_token)])).toEqual([200, 401]);
    expect((await login('changing')).status).toBe(401);
    expect((await login('changing', newPassword)).status).toBe(200);
    const { refresh_token } = kept;
    expect((await service.call('refresh', 'POST /auth/refresh', { json: { refresh_token } })).status).toBe(200);
    expect((await logged('token.revoked')).filter(({ actor }) => actor === id)).toHaveLength(1);
  });

  test('cannot be set to an invalid value, or by a principal without a password', async () => {
    const id = shown(await create({ name: 'without', kind: 'user', roles: ['viewer'] })).id;
    const { token } = shown(await issue(id, ['viewer'])).attributes;
    expect(await change(token, password, newPassword)).toMatchObject({ status: 409 });
    await user('forgetful');
    const own = await tokenOf('forgetful');
    for (const wrong of ['short', 'FORGETFUL', password])
      expect(await change(own, password, wrong)).toMatchObject(invalid('new_password'));
    expect(await me(own)).toBe(200);
  });

  test('is not changed with a wrong current password, which counts as a failed login', async () => {
    const throttled = await openService();
    try {
      const json = { username: 'admin', password };
      const { body } = await throttled.call('login', 'POST /auth/login', { json });
      const token = (body as { access_token: string }).access_token;
      const attempt = (current_password: string) =>
        throttled.call('changePassword', 'PUT /auth/password', {
          token,
          json: { current_password, new_password: newPassword },
        });
      for (let n = 0; n < limits.maxLoginFailuresPerMinute; n++)
        expect(await attempt(`guess ${n}`)).toMatchObject(invalid('current_password'));
      const refused = await attempt(password);
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect((await throttled.call('login', 'POST /auth/login', { json })).status).toBe(429);
    } finally {
      await throttled.close();
    }
  });

  test('is reset by an administrator: all sessions end, issued tokens stay valid', async () => {
    const id = await user('locked-out');
    const session = await tokenOf('locked-out');
    const { token } = shown(await issue(id, ['viewer'])).attributes;
    expect(shown(await update(id, { password: newPassword })).attributes.version).toBe(2);
    expect(await Promise.all([me(session), me(token)])).toEqual([401, 200]);
    expect((await login('locked-out', newPassword)).status).toBe(200);
  });
});

describe('an open socket', () => {
  test.for([
    ['4401 when its token is revoked', 4401, (_id: string, jti: string) => revoke(jti)],
    ['4401 when its principal is suspended', 4401, (id: string) => update(id, { status: 'suspended' })],
    ['4403 when its principal loses read access', 4403, (id: string) => update(id, { roles: ['sensor'] })],
  ] as const)('is closed with %s', async ([name, code, act], { expect }) => {
    const id = await user(`watcher ${name}`, { roles: ['viewer', 'sensor'] });
    const issued = shown(await issue(id, ['viewer', 'sensor']));
    const [socket, bystander] = await Promise.all([socketOf(issued.attributes.token), socketOf(admin)]);
    const closed = closeCode(socket);
    const { status } = await act(id, issued.id);
    expect(status).toBeLessThan(300);
    expect(await closed).toBe(code);
    expect(bystander.readyState).toBe(WebSocket.OPEN);
    bystander.close();
  });

  test('is closed with its session: after logout, a password change, or the reuse of a refresh token', async () => {
    await user('many');
    const sessions = [await sessionOf('many'), await sessionOf('many'), await sessionOf('many')] as const;
    const sockets = await Promise.all(sessions.map(({ access_token }) => socketOf(access_token)));
    const closed = sockets.map(closeCode);
    await service.call('logout', 'POST /auth/logout', { token: sessions[0].access_token });
    expect(await closed[0]).toBe(4401);
    for (let n = 0; n < 2; n++)
      await service.call('refresh', 'POST /auth/refresh', {
        json: { refresh_token: sessions[1].refresh_token },
      });
    expect(await closed[1]).toBe(4401);
    const asking = await tokenOf('many');
    const kept = await socketOf(asking);
    expect((await change(asking, password, newPassword)).status).toBe(204);
    expect(await closed[2]).toBe(4401);
    expect(kept.readyState).toBe(WebSocket.OPEN);
    kept.close();
  });
});

const revoke = (jti: string) =>
  service.call('revokeToken', `DELETE /api/v1/tokens/${jti.toUpperCase()}`, { token: admin });

test('a token is found at the location that its creation returned, and its secret is not shown', async () => {
  const id = await user('placed');
  const issued = await issue(id, ['viewer']);
  const { id: jti, attributes } = shown(issued);
  const { token: _, ...rest } = attributes;
  const at = `GET ${issued.headers.get('location')}`;
  const found = await service.call('getToken', at, { token: admin });
  expect(found).toMatchObject({ status: 200, body: { data: { id: jti, type: 'token' } } });
  expect(shown(found).attributes).toEqual(rest);
  await revoke(jti);
  expect(shown(await service.call('getToken', at, { token: admin })).attributes).toMatchObject({
    revoked_at: expect.any(String),
  });
  const none = `GET /api/v1/tokens/${id}`;
  expect((await service.call('getToken', none, { token: admin })).status).toBe(404);
});

test('the last use of a token is recorded, to the minute', async () => {
  const id = await user('used');
  const { id: jti, attributes } = shown(await issue(id, ['viewer']));
  expect(await me(attributes.token)).toBe(200);
  await service.auth.writeTokenUses();
  const list = await service.call('listTokens', 'GET /api/v1/tokens?per_page=1000', { token: admin });
  const { data } = list.body as { data: { id: string; attributes: { last_used_at?: string } }[] };
  const at = data.find((token) => token.id === jti)?.attributes.last_used_at;
  expect(at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z$/);
  expect(Math.abs(Date.parse(at!) - Date.now())).toBeLessThan(10 * 60_000);
});
