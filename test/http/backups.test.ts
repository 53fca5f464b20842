import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Backup } from '../../src/contract/resources/backup.ts';
import { openService, password, type Service } from './service.ts';

interface One {
  readonly data: { readonly id: string; readonly attributes: Backup };
}
interface Many {
  readonly data: readonly One['data'][];
  readonly pagination: { readonly total: number };
}

let service: Service;
let admin: string;
beforeAll(async () => {
  service = await openService();
  admin = await signIn();
});
afterAll(() => service.close());

async function signIn(): Promise<string> {
  const { body } = await service.call('login', 'POST /auth/login', { json: { username: 'admin', password } });
  return (body as { access_token: string }).access_token;
}

async function finished(id: string): Promise<One> {
  for (;;) {
    const { body } = await service.call('getBackup', `GET /api/v1/backups/${id}`, { token: admin });
    if ((body as One).data.attributes.state !== 'running') return body as One;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const codeOf = ({ body }: { body: unknown }) => (body as { error: { code: string } }).error.code;

describe('backups over HTTP', () => {
  test('are started, followed and listed', async () => {
    const begun = await service.call('createBackup', 'POST /api/v1/backups', { token: admin });
    const { id } = (begun.body as One).data;
    expect(begun.status).toBe(202);
    expect(begun.headers.get('location')).toBe(`/api/v1/backups/${id}`);
    expect((begun.body as One).data.attributes.state).toBe('running');
    const second = await service.call('createBackup', 'POST /api/v1/backups', { token: admin });
    expect({ status: second.status, code: codeOf(second) }).toEqual({ status: 409, code: 'CONFLICT' });
    expect((await finished(id)).data.attributes).toMatchObject({ state: 'completed' });
    const upper = await service.call('getBackup', `GET /api/v1/backups/${id.toUpperCase()}`, {
      token: admin,
    });
    expect(upper.status).toBe(200);
    const list = (await service.call('listBackups', 'GET /api/v1/backups?per_page=1', { token: admin })).body as Many;
    expect(list.data.map((one) => one.id)).toEqual([id]);
    expect(list.pagination.total).toBe(1);
  });

  test('return the integers of the head without loss of precision', async () => {
    const begun = await service.call('createBackup', 'POST /api/v1/backups', { token: admin });
    const { id, attributes } = (await finished((begun.body as One).data.id)).data;
    const exact = new RegExp(`"timestamp_ns":${BigInt(attributes.sth!.timestamp_ns)}[,}]`);
    for (const path of [`/api/v1/backups/${id}`, '/api/v1/backups']) {
      const answer = await fetch(service.url + path, { headers: { authorization: `Bearer ${admin}` } });
      expect(await answer.text()).toMatch(exact);
    }
  });

  test('respond 404 for a backup that does not exist, and 400 for an invalid id', async () => {
    const path = 'GET /api/v1/backups/01940000-0000-7000-8000-000000000000';
    const answer = await service.call('getBackup', path, { token: admin });
    expect({ status: answer.status, code: codeOf(answer) }).toEqual({ status: 404, code: 'NOT_FOUND' });
    const bad = await service.call('getBackup', 'GET /api/v1/backups/..%2f..', { token: admin });
    expect({ status: bad.status, code: codeOf(bad) }).toEqual({ status: 400, code: 'INVALID_REQUEST' });
  });

  test('are allowed for administrators only', async () => {
    const json = { name: 'looker', scopes: ['viewer'] };
    const issued = await service.call('issueToken', 'POST /api/v1/tokens', { token: admin, json });
    const { token } = (issued.body as { data: { attributes: { token: string } } }).data.attributes;
    for (const [operation, target] of [
      ['createBackup', 'POST /api/v1/backups'],
      ['listBackups', 'GET /api/v1/backups'],
      ['getBackup', 'GET /api/v1/backups/01940000-0000-7000-8000-000000000000'],
    ] as const) {
      expect((await service.call(operation, target)).status, operation).toBe(401);
      expect((await service.call(operation, target, { token })).status, operation).toBe(403);
    }
  });
});

test('a log that cannot continue is not backed up, because the copy could not be verified', async () => {
  const { ledger } = service;
  const status = await ledger.status();
  const degraded = await openService(
    {},
    {
      ledger: Object.assign(Object.create(ledger), {
        status: async () => ({
          ...status,
          health: { state: 'degraded', fault: 'rollback', advice: 'restore it' },
        }),
      }),
    },
  );
  const { body } = await degraded.call('login', 'POST /auth/login', {
    json: { username: 'admin', password },
  });
  const { access_token: token } = body as { access_token: string };
  const answer = await degraded.call('createBackup', 'POST /api/v1/backups', { token });
  expect({ status: answer.status, code: codeOf(answer) }).toEqual({ status: 503, code: 'UNAVAILABLE' });
  await degraded.close();
});
