/** The audit log of a running service, read through its own operation. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { adminPassword, type Service, startService } from '../../scripts/service.ts';
import { call, failure, type Item, type Page, type Request } from '../system/call.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'candor-audit-'));
let service: Service;
let admin: string;
let adminId: string;

const signIn = (username: string, password: string) =>
  call(service, 'login', { json: { username, password }, headers: { 'x-request-id': `login-${username}` } });

async function start(): Promise<void> {
  service = await startService({ dataDir });
  admin = ((await signIn('admin', adminPassword)).body as { access_token: string }).access_token;
  const me = (await call(service, 'whoAmI', { token: admin })).body as { data: Item };
  adminId = me.data.id;
}

beforeAll(start);
afterAll(async () => {
  await service.kill().catch(() => undefined);
  rmSync(dataDir, { recursive: true, force: true });
});

async function page(query = ''): Promise<Page> {
  const { status, body } = await call(service, 'listAuditRecords', { token: admin, query });
  expect(status).toBe(200);
  return body as Page;
}

/** Returns the newest record of a request, once it is written. */
async function recordOf(requestId: string): Promise<Item['attributes']> {
  for (let tries = 0; tries < 200; tries++) {
    const { data } = await page('per_page=1000');
    const found = data.find(({ attributes }) => attributes.request_id === requestId);
    if (found !== undefined) return found.attributes;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`no record of ${requestId}`);
}

/** Calls an operation with its own request id, and returns the status and the record of the call. */
async function recorded(operation: Parameters<typeof call>[1], request: Request = {}) {
  const id = crypto.randomUUID();
  const { status } = await call(service, operation, { ...request, headers: { 'x-request-id': id } });
  return [status, await recordOf(id)] as const;
}

test('a login is recorded with the principal of the session and the given username', async () => {
  const record = await recordOf('login-admin');
  const jti = JSON.parse(Buffer.from(admin.split('.')[1]!, 'base64url').toString('utf8')).jti;
  expect(record).toMatchObject({
    actor: adminId,
    actor_name: 'admin',
    operation: 'login',
    resource: { type: 'token', id: jti },
    source_address: '127.0.0.1',
    outcome: 'success',
  });
});

test('a refused login records the username and never the password', async () => {
  const username = `mallory\u202e${'x'.repeat(180)}`;
  const json = { username, password: 'a wrong password' };
  expect(await recorded('login', { json })).toMatchObject([
    401,
    { actor: 'anonymous', actor_name: username, outcome: 'refused', code: 'UNAUTHENTICATED' },
  ]);
});

test('requests rejected before the handler and failed requests are recorded with their code', async () => {
  const json = { username: 'admin' };
  expect(await recorded('login', { json })).toMatchObject([
    400,
    { actor: 'anonymous', outcome: 'failed', code: 'INVALID_REQUEST' },
  ]);
  expect(await recorded('listPrincipals', { token: 'candor_nobody' })).toMatchObject([
    401,
    { actor: 'anonymous', outcome: 'refused', code: 'UNAUTHENTICATED' },
  ]);
  const id = crypto.randomUUID();
  expect(await recorded('getPrincipal', { token: admin, params: [id] })).toMatchObject([
    404,
    { actor: adminId, resource: { type: 'principal', id }, outcome: 'failed', code: 'NOT_FOUND' },
  ]);
  expect(await recorded('getPrincipal', { token: admin, params: [adminId] })).toMatchObject([
    200,
    { actor: adminId, actor_name: 'admin', resource: { type: 'principal', id: adminId }, outcome: 'success' },
  ]);
});

test('a request to read the audit log without permission is recorded', async () => {
  const json = { name: 'vera', kind: 'user', roles: ['viewer'], password: 'a password of vera' };
  const made = (await call(service, 'createPrincipal', { token: admin, json })).body as { data: Item };
  const tokens = (await signIn('vera', 'a password of vera')).body as {
    access_token: string;
    refresh_token: string;
  };
  const token = tokens.access_token;
  expect(failure(await call(service, 'listAuditRecords', { token }))[0]).toBe(403);
  expect(await recorded('listAuditRecords', { token })).toMatchObject([
    403,
    { actor: made.data.id, actor_name: 'vera', outcome: 'refused', code: 'FORBIDDEN' },
  ]);
  expect(await recorded('refresh', { json: { refresh_token: tokens.refresh_token } })).toMatchObject([
    200,
    { actor: made.data.id, operation: 'refresh', resource: { type: 'token' }, outcome: 'success' },
  ]);
});

test('the audit log is read in pages, newest first, by actor, operation, outcome and time', async () => {
  const all = (await page('per_page=1000')).data;
  const times = all.map(({ attributes }) => String(attributes.time));
  expect(times).toEqual(times.toSorted().reverse());
  const refused = await page('outcome=refused&operation=listAuditRecords&operation=listPrincipals&per_page=2');
  expect(refused.pagination).toMatchObject({ total: 3, total_pages: 2 });
  for (const { attributes } of refused.data) expect(attributes.outcome).toBe('refused');
  const mine = await page(`actor=${adminId}&operation=login`);
  expect(mine.data).toHaveLength(1);
  const { time } = mine.data[0]!.attributes;
  const since = (await page(`from=${time}&to=${Date.parse(String(time)) + 1}&operation=login`)).data;
  expect(since).toHaveLength(1);
  for (const [query, field] of [
    ['outcome=lost', 'outcome'],
    ['operation=login&operation=listEverything', 'operation'],
    ['code=BAD', 'code'],
    ['source_address=home', 'source_address'],
    ['entry_id=1', 'entry_id'],
    ['sort=actor', 'sort'],
    ['cursor=AAAA', 'cursor'],
  ] as const)
    expect(failure(await call(service, 'listAuditRecords', { token: admin, query }))).toEqual([
      400,
      'INVALID_REQUEST',
      field,
    ]);
  expect((await page('operation=several&operation=login')).data.length).toBeGreaterThan(0);
});

test('the audit log is paged by cursor while records are added, without gap or repetition', async () => {
  const before = (await page('per_page=1000')).data;
  const walked: Item[] = [];
  let cursor: string | undefined;
  for (let first = true; first || cursor !== undefined; first = false) {
    const to = `to=${Date.parse(String(before[0]!.attributes.time)) + 1}`;
    const one: Page = await page(`per_page=3&${to}${cursor === undefined ? '' : `&cursor=${cursor}`}`);
    walked.push(...one.data);
    cursor = one.pagination.next_cursor;
  }
  expect(walked.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
});

test('a password change is recorded for its principal, and a logout for its token', async () => {
  const json = { name: 'pat', kind: 'user', roles: ['viewer'], password: 'a password of pat' };
  const made = await call(service, 'createPrincipal', { token: admin, json });
  const { id } = (made.body as { data: Item }).data;
  const signedIn = (await signIn('pat', json.password)).body as { access_token: string };
  const token = signedIn.access_token;
  const words = { current_password: json.password, new_password: 'another password of pat' };
  const [changed, change] = await recorded('changePassword', { token, json: words });
  expect([changed, change]).toMatchObject([204, { actor: id, resource: { type: 'principal', id } }]);
  const jti = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString('utf8')).jti;
  const [left, logout] = await recorded('logout', { token });
  expect([left, logout]).toMatchObject([204, { actor: id, resource: { type: 'token', id: jti } }]);
  const found = await page(`resource_type=principal&resource_id=${id}&outcome=success&sort=time`);
  expect(found.data.map(({ attributes }) => attributes.operation)).toEqual(['createPrincipal', 'changePassword']);
  const here = await page(`resource_id=${id}&source_address=127.0.0.0/8&q=PAT&actor_name=pat`);
  expect(here.data.map(({ attributes }) => attributes.operation)).toEqual(['changePassword']);
  const byPattern = await page(`resource_id=${id}&actor_name=p*t`);
  expect(byPattern.data.map(({ attributes }) => attributes.operation)).toEqual(['changePassword']);
  const byOthers = await page(`resource_id=${id}&not_actor_name=p*t`);
  expect(byOthers.data.map(({ attributes }) => attributes.operation)).toEqual(['createPrincipal']);
});

test('the record of a deletion names the asset, even after many other changes', async () => {
  const assetOf = async (name: string) =>
    ((await call(service, 'createAsset', { token: admin, json: { name } })).body as { data: Item }).data.id;
  const ids = [await assetOf('printer'), await assetOf('camera')];
  for (let n = 0; n < 65; n++)
    await call(service, 'updateAsset', { token: admin, params: [ids[0]!], json: { owner: `owner ${n}` } });
  for (const id of ids) {
    const [status, record] = await recorded('deleteAsset', { token: admin, params: [id] });
    expect([status, record]).toMatchObject([
      204,
      { actor: adminId, actor_name: 'admin', resource: { type: 'asset', id }, outcome: 'success' },
    ]);
  }
  expect((await page(`resource_type=asset&resource_id=${ids[1]}&sort=time`)).data).toMatchObject(
    ['createAsset', 'deleteAsset'].map((operation) => ({ attributes: { operation } })),
  );
});

test('a stop writes pending records: of a sensor with their reason, counted per minute or hour, and of refused calls; no record contains a secret', async () => {
  const json = { name: 'tap-1', kind: 'sensor', roles: ['sensor'] };
  const made = await call(service, 'createPrincipal', { token: admin, json });
  const { id } = (made.body as { data: Item }).data;
  const issued = await call(service, 'issueToken', {
    token: admin,
    json: { name: 'tap-1', scopes: ['sensor'], principal_id: id },
  });
  const { data } = issued.body as { data: Item };
  const token = data.attributes.token as string;
  const send = (body: string) =>
    fetch(`${service.url}/api/v1/ingest`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
      body,
    });
  for (const body of [
    '{"type":"network_event","timestamp":7}\n',
    'noise\nnoise\n',
    '{"_path":"weird","ts":1}\n{"_path":"weird","ts":2}\n',
  ])
    await send(body);
  await call(service, 'revokeToken', { token: admin, params: [data.id] });
  expect((await send('noise')).status).toBe(401);
  for (let n = 0; n < 30; n++) await call(service, 'rotateKey', { json: { purpose: 'access-token' } });
  expect(await service.stop()).toBe(0);
  await start();
  const records = (await page(`actor=${id}&operation=ingest`)).data.map(({ attributes }) => attributes);
  expect(records).toMatchObject([
    { outcome: 'success', count: 2, actor_name: 'tap-1', reason: 'ignored: zeek.weird' },
    {
      outcome: 'failed',
      code: 'INVALID_REQUEST',
      count: 3,
      actor_name: 'tap-1',
      reason: 'src_ip is missing; line is neither a JSON object nor a row after a header of Zeek TSV',
      sample: 'line 1: {"type":"network_event","timestamp":7}',
    },
    { outcome: 'refused', code: 'UNAUTHENTICATED', actor_name: 'tap-1', source_address: '127.0.0.1' },
  ]);
  const refused = (await page('operation=rotateKey&outcome=refused&per_page=1000')).data;
  const calls = refused.reduce((sum, { attributes }) => sum + Number(attributes.count ?? 1), 0);
  expect(calls).toBe(30);
  const text = JSON.stringify((await page('per_page=1000')).data);
  for (const secret of [adminPassword, 'a password of vera', 'a wrong password', admin, 'refresh_', 'candor_'])
    expect(text).not.toContain(secret);
});
