/** Frequent administrative calls without effect do not displace other records from the audit log. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AuditRecord } from '../../src/contract/resources/audit-record.ts';
import { AuditLog } from '../../src/http/audit-log.ts';
import { endpoints } from '../../src/http/routes/index.ts';
import { limits } from '../../src/limits.ts';
import { uuid7 } from '../../src/uuid.ts';
import { forRoles, withRules } from '../identities/policy-parts.ts';
import { allRecords, resources } from '../store/opened.ts';
import { type Served, serve, stopAll } from './serve.ts';
import { openService, password, type Service } from './service.ts';

let service: Service;
let served: Served;
let token: string;
beforeAll(async () => {
  service = await openService();
  const audit = new AuditLog({
    store: service.store,
    newId: () => uuid7(Date.now()),
    // The clock stands still, so the minute never ends.
    now: () => Date.UTC(2026, 10, 20),
    log: service.services.log,
    limitReached: () => undefined,
  });
  served = await serve(endpoints(service.services), { authenticate: service.auth.authenticate, audit });
  const json = { username: 'admin', password };
  token = ((await service.call('login', 'POST /auth/login', { json })).body as { access_token: string }).access_token;
});
afterAll(async () => {
  await stopAll();
  await service.close();
});

async function ask(target: string, body?: unknown): Promise<void> {
  const [method = '', path = ''] = target.split(' ');
  const answer = await fetch(served.url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(answer.status, await answer.text()).toBe(200);
}

const records = () =>
  resources<AuditRecord>(service.reader.listAudit(allRecords)).filter(
    ({ attributes }) => attributes.count === undefined,
  ).length;

test('calls without effect are counted beyond a share of the minute; each change gets a separate record', async () => {
  const { rules } = service.services.policy.current;
  const principal = `PUT /api/v1/principals/${service.reader.principalByName('admin')?.id}`;
  const each = Math.ceil((limits.auditSuccessesPerMinute + 5) / 4);
  for (let n = 0; n < each; n++) {
    await ask('PUT /api/v1/config', { settings: {} });
    await ask('PUT /api/v1/policy', { rules });
    await ask('POST /api/v1/policy/reload');
    await ask(principal, {});
  }
  expect(records()).toBe(limits.auditSuccessesPerMinute);
  await ask('PUT /api/v1/config', { settings: { 'alerts.window_ms': 5000 } });
  await ask('PUT /api/v1/policy', { rules: withRules(rules, forRoles('listAlerts', 'admin')) });
  await ask(principal, { name: 'root-ops' });
  expect(records()).toBe(limits.auditSuccessesPerMinute + 3);
});
