/** The audit record of a call names exactly the log entries that this call caused. */
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import type { AuditRecord } from '../../src/contract/resources/audit-record.ts';
import type { OperationId } from '../../src/contract/routes.ts';
import { ServiceError } from '../../src/errors.ts';
import { AuditLog } from '../../src/http/audit-log.ts';
import { auditedCall } from '../../src/http/audited-call.ts';
import { noContent } from '../../src/http/reply.ts';
import { endpoints } from '../../src/http/routes/index.ts';
import { openAccessPolicy } from '../../src/identities/access-policy.ts';
import { openReader } from '../../src/store/reader.ts';
import type { Store } from '../../src/store/store.ts';
import { uuid7 } from '../../src/uuid.ts';
import { serve, stopAll } from './serve.ts';
import { openService, password, type Service } from './service.ts';

const ends: (() => void | Promise<void>)[] = [stopAll];
afterEach(async () => {
  for (const end of ends.splice(1).reverse()) await end();
});

test('a call that caused log entries gets an individual audit record, which lists the entries', () => {
  const call = () => auditedCall({ operation: 'logout', audited: 'account' }, new Map(), 'r', '::1')!;
  const [told, untold, ofTheStore] = [call(), call(), call()];
  told.noteEntries(['a', 'b']);
  ofTheStore.noteEntries();
  expect(told.succeeded(noContent, 0).entry_ids).toEqual(['a', 'b']);
  for (const other of [untold, ofTheStore]) expect(other.succeeded(noContent, 0)).not.toHaveProperty('entry_ids');
  expect([told, untold, ofTheStore].map(({ countedAlone }) => countedAlone)).toEqual([true, false, true]);
});

/** Opens the policy. Its next change fails as if the store thread died, before or after the change is on disk. */
async function losing({ store, services }: Service, when: 'before' | 'after') {
  let lost = false;
  const changePolicy: Store['changePolicy'] = async (change, by) => {
    const isLost = change.event !== undefined && !lost;
    if (!isLost || when === 'after') await store.changePolicy(change, by);
    if (!isLost) return;
    lost = true;
    throw new ServiceError('WORKER_LOST', 'the store died');
  };
  const reader = openReader(services.config.data_dir);
  const policy = await openAccessPolicy({
    dataDir: services.config.data_dir,
    file: undefined,
    defaults: { metricsNeedRole: false, publicEntries: false },
    reader,
    writer: { changePolicy },
    sources: { now: Date.now, newId: () => uuid7(Date.now()) },
    onChange: () => undefined,
    warn: (message) => expect.unreachable(message),
  });
  ends.push(async () => {
    await policy.close();
    reader.close();
  });
  return policy;
}

/** Returns the operations of a service with this policy, and an audit log in its store. */
async function audited(service: Service, policy: Awaited<ReturnType<typeof losing>>) {
  const { store, auth, services } = service;
  const audit = new AuditLog({
    store,
    newId: () => uuid7(Date.now()),
    now: Date.now,
    log: pino({ level: 'silent' }),
    limitReached: () => undefined,
  });
  const { url } = await serve(endpoints({ ...services, policy }), { audit, authenticate: auth.authenticate });
  const ask = async (target: string, json: object, token?: string) => {
    const [method = '', path = ''] = target.split(' ');
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (token !== undefined) headers.authorization = `Bearer ${token}`;
    const answer = await fetch(url + path, { method, headers, body: JSON.stringify(json) });
    return { status: answer.status, body: (await answer.json()) as Record<string, string> };
  };
  return { ask, audit };
}

test.each(['before', 'after'] as const)(
  'after the store thread is lost %s a policy change is on disk, the response and the attribution match the outcome',
  async (when) => {
    const service = await openService();
    ends.push(() => service.close());
    const policy = await losing(service, when);
    const { ask, audit } = await audited(service, policy);
    const signIn = async (username: string) =>
      (await ask('POST /auth/login', { username, password })).body.access_token!;
    const alice = await signIn('admin');
    const bobsTerms = { name: 'bob', kind: 'user', roles: ['admin'], password };
    await ask('POST /api/v1/principals', bobsTerms, alice);
    const bob = await signIn('bob');

    const rules = policy.current.rules.map((rule) =>
      rule.operation === 'listAlerts' ? { ...rule, roles: ['auditor'] } : rule,
    );
    const isMade = when === 'after';
    expect((await ask('PUT /api/v1/policy', { rules }, alice)).status).toBe(isMade ? 200 : 503);
    expect((await ask('POST /api/v1/policy/reload', {}, bob)).status).toBe(200);
    expect(policy.current.version).toBe(isMade ? 2 : 1);
    await stopAll();
    await audit.close();

    await service.pump.idle();
    const list = async <T>(operation: OperationId, path: string) => {
      const { body } = await service.call(operation, `GET ${path}?per_page=1000`, { token: alice });
      return (body as { data: { attributes: T }[] }).data.map(({ attributes }) => attributes);
    };
    const leaves = await list<{ entry: { id: string; kind: string } }>('listEntries', '/api/transparency/entries');
    const entries = leaves.map(({ entry }) => entry).filter(({ kind }) => kind.startsWith('policy.'));
    expect(entries).toHaveLength(isMade ? 1 : 0);
    const records = await list<AuditRecord>('listAuditRecords', '/api/v1/audit');
    const changes = records.filter(({ operation }) => operation.endsWith('Policy'));
    const outcomes = new Map(changes.map((record) => [record.actor_name, record]));
    expect(changes).toHaveLength(2);
    expect(outcomes.get('admin')).toMatchObject(
      isMade
        ? { operation: 'updatePolicy', outcome: 'success', entry_ids: [entries[0]!.id] }
        : { operation: 'updatePolicy', outcome: 'failed', code: 'WORKER_LOST' },
    );
    expect(outcomes.get('bob')).toMatchObject({ operation: 'reloadPolicy', outcome: 'success' });
    expect(outcomes.get('bob')).not.toHaveProperty('entry_ids');
  },
);
