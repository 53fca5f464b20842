import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AuditRecord } from '../../src/contract/resources/audit-record.ts';
import { invalidField, ServiceError } from '../../src/errors.ts';
import { AuditLog } from '../../src/http/audit-log.ts';
import type { Endpoint } from '../../src/http/endpoint.ts';
import { bareJson, created, noContent, resource } from '../../src/http/reply.ts';
import type { LimitName } from '../../src/limits.ts';
import type { Store, StoreReader } from '../../src/store/store.ts';
import { uuid7 } from '../../src/uuid.ts';
import { allRecords, opened, resources } from '../store/opened.ts';
import { bodyOf, type Served, serve, stopAll } from './serve.ts';

const admin = { id: '01900000-0000-7000-8000-00000000000a', name: 'admin' };
const viewer = { id: '01900000-0000-7000-8000-00000000000b', name: 'vera' };
const other = '01900000-0000-7000-8000-0000000000ff';

/** Wraps the real store; a test can make its writes fail. */
class Door implements Pick<Store, 'addAudit'> {
  readonly #store: Store;
  barred: Error | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  async addAudit(records: Parameters<Store['addAudit']>[0]): Promise<void> {
    if (this.barred !== undefined) throw this.barred;
    await this.#store.addAudit(records);
  }
}

const authenticate = (credentials: unknown) => {
  const authorization =
    typeof credentials === 'string'
      ? credentials
      : (credentials as { authorization?: string } | undefined)?.authorization;
  if (authorization === 'Bearer admin') return { principal: admin, roles: ['admin'] as const, jti: other };
  if (authorization === 'Bearer viewer') return { principal: viewer, roles: ['viewer'] as const, jti: other };
  throw new ServiceError('UNAUTHENTICATED', 'bad credentials');
};

let changes = 0;
const admins = ['admin'] as const;
const endpoints: Endpoint[] = [
  {
    operation: 'getPrincipal',
    method: 'GET',
    path: '/principals/:principal_id',
    access: admins,
    audited: 'read',
    run({ params }) {
      if (params.get('principal_id') === other) throw new ServiceError('NOT_FOUND', 'no such principal');
      return resource('principal', params.get('principal_id')!, {});
    },
  },
  {
    operation: 'createPrincipal',
    method: 'POST',
    path: '/principals',
    access: admins,
    audited: 'administration',
    run() {
      changes++;
      return created('principal', other, {}, `/principals/${other}`);
    },
  },
  {
    operation: 'revokeToken',
    method: 'DELETE',
    path: '/tokens/:token_id',
    access: admins,
    audited: 'administration',
    run({ params }) {
      if (params.get('token_id') === other) throw new ServiceError('WORKER_LOST', 'the store died');
      if (params.get('token_id') !== admin.id) throw invalidField('token_id', 'must be a valid UUID');
      changes++;
      return noContent;
    },
  },
  { operation: 'getStatus', method: 'GET', path: '/status', access: 'public', run: () => bareJson({}) },
];

let reader: StoreReader;
let door: Door;
let audit: AuditLog;
let served: Served;
let limitsReached: LimitName[];
let logged: { level: number; msg: string }[];

beforeEach(async () => {
  changes = 0;
  limitsReached = [];
  logged = [];
  const parts = opened();
  reader = parts.reader;
  door = new Door(parts.store);
  audit = new AuditLog({
    store: door,
    newId: () => uuid7(Date.now()),
    now: Date.now,
    log: pino({}, { write: (line: string) => logged.push(JSON.parse(line)) }),
    limitReached: (limit) => limitsReached.push(limit),
  });
  served = await serve(endpoints, { authenticate, audit });
});
afterEach(stopAll);

/** Returns the records on disk, oldest first. */
const written = () =>
  resources<AuditRecord>(reader.listAudit(allRecords))
    .map(({ attributes }) => attributes)
    .reverse();

async function until(count: number): Promise<AuditRecord[]> {
  while (written().length < count) await new Promise((resolve) => setTimeout(resolve, 10));
  return written();
}

function call(target: string, token?: string, requestId = 'trace-1') {
  const [method, path] = target.split(' ') as [string, string];
  const headers: Record<string, string> = { 'x-request-id': requestId };
  if (token !== undefined) headers.authorization = `Bearer ${token}`;
  return fetch(served.url + path, { method, headers });
}

describe('a change', () => {
  test('is recorded on disk before its response is sent: caller, operation, source address and outcome', async () => {
    const answer = await call('POST /principals', 'admin');
    expect([answer.status, written()]).toEqual([
      201,
      [
        {
          actor: admin.id,
          actor_name: 'admin',
          operation: 'createPrincipal',
          resource: { type: 'principal', id: other },
          request_id: 'trace-1',
          source_address: '127.0.0.1',
          outcome: 'success',
          time: expect.stringMatching(/Z$/),
        },
      ],
    ]);
    await call(`DELETE /tokens/${admin.id}`, 'admin');
    expect(written().at(-1)).toMatchObject({
      operation: 'revokeToken',
      resource: { type: 'token', id: admin.id },
    });
    await audit.close();
  });

  test('of an administrator always gets a separate record', async () => {
    for (let n = 0; n < 100; n++) await call('POST /principals', 'admin', `trace-${n}`);
    expect(new Set(written().map(({ request_id }) => request_id)).size).toBe(100);
    await audit.close();
  });

  test('is recorded each time if it failed but may have taken effect', async () => {
    for (let n = 0; n < 30; n++) await call(`DELETE /tokens/${other}`, 'admin');
    const records = await until(30);
    for (const record of records) expect(record).toMatchObject({ outcome: 'failed', code: 'WORKER_LOST' });
    await audit.close();
  });
});

describe('a call without a change', () => {
  test('is recorded on disk soon afterwards: reads, requests rejected before the handler, and failures', async () => {
    const asked: [string, string | undefined][] = [
      [`GET /principals/${admin.id}`, 'admin'],
      [`GET /principals/${other}`, 'admin'],
      [`GET /principals/${admin.id}`, 'viewer'],
      [`GET /principals/${admin.id}`, undefined],
      [`POST /principals`, 'wrong'],
    ];
    for (const [target, token] of asked) await call(target, token);
    const records = await until(asked.length);
    expect(records).toMatchObject([
      { actor: admin.id, operation: 'getPrincipal', resource: { id: admin.id }, outcome: 'success' },
      { actor: admin.id, resource: { id: other }, outcome: 'failed', code: 'NOT_FOUND' },
      { actor: viewer.id, actor_name: 'vera', outcome: 'refused', code: 'FORBIDDEN' },
      { actor: 'anonymous', resource: { id: admin.id }, outcome: 'refused', code: 'UNAUTHENTICATED' },
      { actor: 'anonymous', operation: 'createPrincipal', outcome: 'refused', code: 'UNAUTHENTICATED' },
    ]);
    expect(changes).toBe(0);
    await audit.close();
  });

  test('is recorded when the service stops, counts included', async () => {
    for (let n = 0; n < 50; n++) await call('POST /principals');
    await served.server.close();
    await audit.close();
    const records = written();
    expect(records).toHaveLength(11);
    expect(records.at(-1)).toMatchObject({ operation: 'createPrincipal', outcome: 'refused', count: 40 });
    expect(limitsReached).toHaveLength(40);
  });

  test('is not recorded if the operation is not audited or does not exist', async () => {
    for (const target of ['GET /status', 'GET /nothing', 'PUT /principals', 'OPTIONS /principals'])
      await call(target, 'admin');
    await audit.close();
    expect(written()).toEqual([]);
  });

  test('never records the value of an invalid path parameter, because it may be a secret', async () => {
    const secret = `candor_${admin.id}_${'s'.repeat(43)}`;
    await call(`DELETE /tokens/${secret}`, 'admin');
    await audit.close();
    expect(written()).toMatchObject([{ operation: 'revokeToken', code: 'INVALID_REQUEST' }]);
    expect(JSON.stringify(written())).not.toContain('sss');
    expect(written()[0]).not.toHaveProperty('resource');
  });
});

describe('a store that rejects records', () => {
  const full = new ServiceError('UNAVAILABLE', 'the disk is full');

  test('causes the first change to fail after it was made, and later changes before they are made', async () => {
    door.barred = full;
    const first = await call('POST /principals', 'admin', 'first');
    expect([first.status, changes]).toEqual([503, 1]);
    expect((await bodyOf(first)).error).toMatchObject({
      code: 'UNAVAILABLE',
      details: { reason: 'audit_log' },
    });
    const second = await call('POST /principals', 'admin', 'second');
    expect([second.status, changes]).toEqual([503, 1]);
    expect((await bodyOf(second)).error).toMatchObject({ details: { reason: 'audit_log' } });
    expect((await call(`GET /principals/${admin.id}`, 'admin', 'third')).status).toBe(200);
    expect(logged.map(({ level, msg }) => [level, msg])).toEqual([[40, 'the audit log cannot be written']]);

    door.barred = undefined;
    const records = await until(3);
    expect(records.map(({ request_id, outcome }) => [request_id, outcome])).toEqual([
      ['first', 'success'],
      ['second', 'failed'],
      ['third', 'success'],
    ]);
    expect((await call('POST /principals', 'admin')).status).toBe(201);
    expect(logged.at(-1)?.msg).toBe('the audit log can be written again');
    await audit.close();
  });

  test('delays the response if the failure is brief, as during a restart', async () => {
    door.barred = new ServiceError('UNAVAILABLE', 'store is being restarted');
    setTimeout(() => {
      door.barred = undefined;
    }, 50);
    expect((await call('POST /principals', 'admin')).status).toBe(201);
    expect(written()).toHaveLength(1);
    await audit.close();
  });

  test('loses the pending records at the stop, and the log says how many', async () => {
    door.barred = full;
    await call(`GET /principals/${admin.id}`, 'admin');
    await audit.close();
    expect(logged.at(-1)).toMatchObject({ level: 50, records: 1, msg: 'audit records could not be written' });
  });
});
