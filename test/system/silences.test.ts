/** Silences and floods in the running service, from lines of a sensor to the alerts that a user sees. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { login, type Service, startService, tokenFor } from '../../scripts/service.ts';
import type { OperationId } from '../../src/contract/routes.ts';
import { type Answer, call, failure, type Item, listAll, type Page, type Request, send } from './call.ts';

let service: Service;
let admin: string;
let analyst: string;
let viewer: string;

beforeAll(async () => {
  service = await startService({ env: { CANDOR_THREADS_INGEST: '2', CANDOR_THREADS_ANALYTICS: '2' } });
  admin = await login(service);
  analyst = await tokenFor(service, 'analyst');
  viewer = await tokenFor(service, 'viewer');
});
afterAll(() => service.stop());

const ask = (operation: OperationId, request: Request = {}): Promise<Answer> =>
  call(service, operation, { token: analyst, ...request });

async function ok(operation: OperationId, request: Request = {}): Promise<Item & { version: string }> {
  const { status, body, headers } = await ask(operation, request);
  if (status >= 300) throw new Error(`${operation}: ${status} ${JSON.stringify(body)}`);
  return { ...(body as { data: Item }).data, version: headers.get('etag') ?? '' };
}

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const hour = 3_600_000;
const silence = (matcher: object, ms = hour) => ({
  matcher,
  reason: 'a scanner of ours',
  expires_at: inMs(ms),
});

let told = 0;
/** Returns a current alert in Suricata's format. */
const alertLine = (signature: number, src: string, dst: string, more: object = {}) =>
  JSON.stringify({
    timestamp: `${new Date().toISOString().slice(0, -1)}000+0000`,
    flow_id: 1_000_000 + told++,
    event_type: 'alert',
    src_ip: src,
    src_port: 40_000,
    dest_ip: dst,
    dest_port: 443,
    proto: 'TCP',
    alert: {
      action: 'allowed',
      gid: 1,
      signature_id: signature,
      rev: 2,
      signature: `ET SCAN number ${signature}`,
      category: 'Attempted Information Leak',
      severity: 1 + (signature % 3),
      ...more,
    },
  });
const tell = (...lines: string[]) => send(service, admin, lines.join('\n'));
type Shown = Readonly<Record<string, unknown>> & { readonly id: string };
const alertsOf = async (query: string): Promise<Shown[]> =>
  (await listAll(service, 'listAlerts', viewer, query)).map(({ id, attributes }) => ({ id, ...attributes }));

describe('a silence', () => {
  test('is created, read, changed and deleted by users with the role', async () => {
    const matcher = {
      src_ip: ['10.1.2.3/8', '::ffff:192.0.2.1', '2001:DB8::/32'],
      domain: ['Scanner.Example.ORG.'],
      max_severity: 'medium',
    };
    const made = await ask('createSilence', { json: silence(matcher) });
    expect(made.status).toBe(201);
    const { id, attributes } = (made.body as { data: Item }).data;
    expect(made.headers.get('location')).toBe(`/api/v1/silences/${id}`);
    expect(attributes).toMatchObject({
      matcher: {
        src_ip: ['10.0.0.0/8', '192.0.2.1', '2001:db8::/32'],
        domain: ['scanner.example.org'],
        max_severity: 'medium',
      },
      state: 'active',
      version: 1,
    });
    expect((await ok('getSilence', { token: viewer, params: [id] })).attributes).toEqual(attributes);
    const change = { json: { reason: 'still ours' }, params: [id] };
    const headers = { 'if-match': '"1"' };
    expect((await ok('updateSilence', { ...change, headers })).version).toBe('"2"');
    expect(failure(await ask('updateSilence', { ...change, headers }))[1]).toBe('VERSION_MISMATCH');
    expect(failure(await ask('deleteSilence', { params: [id], headers }))[1]).toBe('VERSION_MISMATCH');
    for (const [operation, request] of [
      ['createSilence', { json: silence(matcher) }],
      ['updateSilence', change],
      ['deleteSilence', { params: [id] }],
    ] as const)
      expect(failure(await ask(operation, { token: viewer, ...request }))[0]).toBe(403);
    const page = (query: string) => ask('listSilences', { token: viewer, query });
    expect(((await page('state=active&q=still')).body as Page).data.map((item) => item.id)).toEqual([id]);
    expect(((await page('state=expired')).body as Page).data).toEqual([]);
    expect((await ask('deleteSilence', { params: [id] })).status).toBe(204);
    expect(failure(await ask('getSilence', { params: [id] }))).toEqual([404, 'NOT_FOUND', 'silence_id']);
    expect(failure(await ask('deleteSilence', { params: [id] }))[1]).toBe('NOT_FOUND');
    expect(failure(await ask('getSilence', { params: ['x'] }))).toEqual([400, 'INVALID_REQUEST', 'silence_id']);
  });

  const refused: [name: string, body: object, field: string][] = [
    ['without criteria', silence({}), 'matcher'],
    ['with a maximum severity alone', silence({ max_severity: 'high' }), 'matcher'],
    ['about an unknown field', silence({ src_port: [1] }), 'matcher.src_port'],
    ['about an empty list of rules', silence({ rule_id: [] }), 'matcher.rule_id'],
    ['about one value that is not in a list', silence({ rule_id: '1:2' }), 'matcher.rule_id'],
    ['about an invalid address', silence({ ip: ['10.0.0.0/33'] }), 'matcher.ip.0'],
    ['about an invalid name', silence({ domain: ['*.example.org'] }), 'matcher.domain.0'],
    ['about an invalid id', silence({ asset_id: ['7'] }), 'matcher.asset_id.0'],
    ['about an address twice', silence({ ip: ['10.0.0.1', '::ffff:10.0.0.1'] }), 'matcher.ip.1'],
    ['about an unknown source of rules', silence({ rule_source: ['snort'] }), 'matcher.rule_source.0'],
    ['with a blank reason', { ...silence({ rule_id: ['1:2'] }), reason: ' ' }, 'reason'],
    ['without an end', { matcher: { rule_id: ['1:2'] }, reason: 'r' }, 'expires_at'],
    ['that has ended', silence({ rule_id: ['1:2'] }, -1000), 'expires_at'],
    ['that lasts too long', silence({ rule_id: ['1:2'] }, 91 * 24 * hour), 'expires_at'],
    ['with an owner in the body', { ...silence({ rule_id: ['1:2'] }), owner: 'eve' }, 'owner'],
  ];
  test.for(refused)('%s is rejected, and the error names the field', async ([, json, field]) => {
    expect(failure(await ask('createSilence', { json }))).toEqual([400, 'INVALID_REQUEST', field]);
  });

  test('hides matching alerts, until it expires automatically', async () => {
    const matcher = { rule_id: ['1:9001'], dst_ip: ['10.7.0.0/16'] };
    const { id } = await ok('createSilence', { json: silence(matcher, 4000) });
    await tell(alertLine(9001, '203.0.113.1', '10.7.0.1'), alertLine(9001, '203.0.113.1', '10.8.0.1'));
    const [hidden, ...others] = await alertsOf(`silence_id=${id}`);
    expect(others).toEqual([]);
    expect(hidden).toMatchObject({ status: 'suppressed', dst_ip: '10.7.0.1', silence_id: id });
    expect(await alertsOf('rule_id=1:9001&status=new')).toMatchObject([{ dst_ip: '10.8.0.1' }]);
    await expect
      .poll(async () => (await ok('getSilence', { params: [id] })).attributes.state, { timeout: 60_000 })
      .toBe('expired');
    await tell(alertLine(9001, '203.0.113.1', '10.7.0.1'));
    const seen = await alertsOf('rule_id=1:9001&status=new&dst_ip=10.7.0.1');
    expect(seen).toMatchObject([{ id: hidden!.id, count: 2 }]);
    expect(seen[0]).not.toHaveProperty('silence_id');
  });

  test('has audit records of its creation, change and deletion, with the user of each', async () => {
    // A retry of this test needs another name.
    const name = `carla-${randomUUID()}`;
    const json = { name, kind: 'user', roles: ['analyst'], password: 'correct horse' };
    await ok('createPrincipal', { token: admin, json });
    const session = await ask('login', { json: { username: json.name, password: json.password } });
    const token = (session.body as { access_token: string }).access_token;
    const { id } = await ok('createSilence', { token, json: silence({ rule_id: ['1:2'] }) });
    await ok('updateSilence', { token, params: [id], json: { reason: 'another' } });
    await ask('deleteSilence', { token: admin, params: [id] });
    const operations = async () => {
      const query = `resource_id=${id}`;
      const { body } = await ask('listAuditRecords', { token: admin, query });
      return (body as Page).data.map(({ attributes }) => `${attributes.operation} ${attributes.actor_name}`).sort();
    };
    const expected = [`createSilence ${name}`, 'deleteSilence admin', `updateSilence ${name}`];
    await expect.poll(operations, { timeout: 60_000 }).toEqual(expected);
  });
});

test('during a flood of alerts of 50 rules from forged addresses, the service responds, and users see 50 alerts', async () => {
  const lines = Array.from({ length: 5000 }, (_, n) =>
    alertLine(10_000 + (n % 50), `198.18.${n >> 8}.${n & 255}`, '10.9.0.5'),
  );
  const bodies = Array.from({ length: 10 }, (_, i) => lines.slice(i * 500, (i + 1) * 500));
  let isOver = false;
  const answers: number[] = [];
  const asking = (async () => {
    while (!isOver) answers.push((await ask('listAlerts', { token: viewer, query: 'status=new' })).status);
  })();
  for (const body of bodies) expect(await tell(...body)).toMatchObject({ rejected: 0 });
  isOver = true;
  await asking;
  expect(new Set(answers)).toEqual(new Set([200]));
  const alerts = (await alertsOf('category=Attempted+Information+Leak')).filter(({ rule_id }) =>
    /^1:100\d\d$/.test(String(rule_id)),
  );
  const seen = alerts.filter(({ status }) => status === 'new');
  expect(seen).toHaveLength(50);
  expect(alerts.reduce((sum, { count }) => sum + Number(count), 0)).toBe(5000);
  for (const { dst_ip, evidence } of seen) {
    expect(dst_ip).toBe('10.9.0.5');
    expect((evidence as { sources: number }).sources).toBeGreaterThan(75);
  }
});
