/** Lists of known-bad addresses and domains in the running service, from a feed to an entry of the log. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { login, type Service, startService, tokenFor } from '../../scripts/service.ts';
import type { OperationId } from '../../src/contract/routes.ts';
import { limits } from '../../src/limits.ts';
import { type Answer, call, failure, type Item, listAll, type Page, type Request, send } from './call.ts';

let dataDir: string;
let service: Service;
let admin: string;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'candor-intel-'));
  await begin();
});
afterAll(async () => {
  await service.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

async function begin(): Promise<void> {
  service = await startService({ dataDir });
  admin = await login(service);
}

const ask = (operation: OperationId, request: Request = {}): Promise<Answer> =>
  call(service, operation, { token: admin, ...request });

async function ok<T>(operation: OperationId, request: Request = {}): Promise<T> {
  const { status, body } = await ask(operation, request);
  if (status >= 300) throw new Error(`${operation}: ${status} ${JSON.stringify(body)}`);
  return body as T;
}

const create = async (json: object) => (await ok<{ data: Item }>('createIntel', { json })).data;
const valuesOf = async (id: string, query = '') =>
  (await ok<Page>('listIndicators', { params: [id], query: `sort=value&per_page=1000&${query}` })).data.map(
    (item) => item.id,
  );

test('a list is created, read, changed by version and deleted; readers can read, and only administrators can change', async () => {
  const viewer = await tokenFor(service, 'viewer');
  const made = await ask('createIntel', {
    json: {
      name: 'Known C2',
      source: 'https://feeds.example/c2.txt',
      description: 'Servers that implants report to.',
      confidence: 0.8,
      default_valid_days: 30,
      content: '# a feed\n198.51.100.7\n203.0.113.0/24\nbad[.]example\nhxxp://host.example/payload\n10.0.0.1\n',
    },
  });
  const { id, attributes } = (made.body as { data: Item }).data;
  expect([made.status, made.headers.get('location')]).toEqual([201, `/api/v1/intel/${id}`]);
  expect(attributes).toMatchObject({
    name: 'Known C2',
    severity: 'high',
    enabled: true,
    format: 'lines',
    indicators: 4,
    expired: 0,
    rejected: [{ line: 6, value: '10.0.0.1', reason: 'overlaps the home networks' }],
    rejected_total: 1,
    hits: 0,
    version: 1,
  });
  const params = [id];
  const read = { token: viewer, params };
  expect((await ok<{ data: Item }>('getIntel', read)).data.attributes).toEqual(attributes);
  expect(
    (await ok<Page>('listIntel', { token: viewer, query: 'q=c2&enabled=true' })).data.map((one) => one.id),
  ).toEqual([id]);
  const { data } = await ok<Page>('listIndicators', { ...read, query: 'kind=domain&sort=value' });
  expect(data.map((one) => [one.id, one.type, one.attributes.page])).toEqual([
    ['bad.example', 'intel_indicator', false],
    ['host.example', 'intel_indicator', true],
  ]);
  const page = await ok<Page>('listIndicators', { ...read, query: 'per_page=3&sort=value' });
  const cursor = page.pagination.next_cursor!;
  const rest = await ok<Page>('listIndicators', { ...read, query: `per_page=3&sort=value&cursor=${cursor}` });
  expect([...page.data, ...rest.data].map((one) => one.id)).toEqual(await valuesOf(id));

  for (const operation of ['createIntel', 'updateIntel', 'deleteIntel'] as const)
    expect(failure(await ask(operation, { ...read, json: { name: 'x', content: '' } }))[1]).toBe('FORBIDDEN');

  const headers = { 'if-match': '"1"' };
  const changed = await ok<{ data: Item }>('updateIntel', {
    params,
    headers,
    json: { enabled: false, severity: 'low' },
  });
  expect(changed.data.attributes).toMatchObject({
    enabled: false,
    severity: 'low',
    indicators: 4,
    version: 2,
  });
  expect(failure(await ask('updateIntel', { params, headers, json: { enabled: true } }))[1]).toBe('VERSION_MISMATCH');
  const same = await ok<{ data: Item }>('updateIntel', { params, json: { enabled: false } });
  expect(same.data).toEqual(changed.data);
  const replaced = await ok<{ data: Item }>('updateIntel', {
    params,
    json: {
      content: {
        type: 'bundle',
        objects: [{ type: 'indicator', pattern: "[ipv6-addr:value = '2001:db8::1']" }],
      },
    },
  });
  expect(replaced.data.attributes).toMatchObject({ format: 'stix', indicators: 1, rejected: [], version: 3 });
  expect(await valuesOf(id)).toEqual(['2001:db8::1']);
  const removed = { confidence: null, default_valid_days: null, expires_at: null, source: '' };
  const { data: plain } = await ok<{ data: Item }>('updateIntel', { params, json: removed });
  expect(Object.keys(plain.attributes)).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/confidence|_days|source/)]),
  );
  expect(plain.attributes).toMatchObject({ description: 'Servers that implants report to.', version: 4 });

  expect((await ask('deleteIntel', { params, headers })).status).toBe(412);
  expect((await ask('deleteIntel', { params })).status).toBe(204);
  for (const operation of ['getIntel', 'deleteIntel', 'listIndicators', 'updateIntel'] as const) {
    const json = operation === 'updateIntel' ? { json: { enabled: true } } : {};
    expect(failure(await ask(operation, { params, ...json }))[1]).toBe('NOT_FOUND');
  }
});

describe('a body', () => {
  test.each([
    [{ name: 'x' }, 'content'],
    [{ content: '' }, 'name'],
    [{ name: 'x', content: '', colour: 1 }, 'colour'],
    [{ name: 'x', content: '', hits: 1 }, 'hits'],
    [{ name: 'x', content: 3 }, 'content'],
    [{ name: 'x', content: [] }, 'content'],
    [{ name: 'x', content: 'com\nlocalhost' }, 'content'],
    [{ name: 'x', content: { objects: 1 } }, 'content'],
    [{ name: 'x', content: 'bad.example', format: 'stix' }, 'content'],
    [{ name: 'x', content: 'bad.example', format: 'csv' }, 'format'],
    [{ name: 'x', content: 'bad.example', expires_at: 'soon' }, 'expires_at'],
    [{ name: 'x', content: 'bad.example', confidence: 2 }, 'confidence'],
    [{ name: 'x', content: 'bad.example', confidence: null }, 'confidence'],
    [{ name: 'x\ny', content: 'bad.example' }, 'name'],
  ])('%j is rejected, and the error names %s', async (json, field) => {
    expect(failure(await ask('createIntel', { json }))).toEqual([400, 'INVALID_REQUEST', field]);
  });

  test('that is not JSON is rejected', async () => {
    const headers = { 'content-type': 'application/json' };
    for (const body of ['', '{', 'name: x', '[]'])
      expect(failure(await ask('createIntel', { body, headers }))).toEqual([400, 'INVALID_REQUEST', 'body']);
    const text = { 'content-type': 'text/plain' };
    expect(failure(await ask('createIntel', { body: 'x', headers: text }))[1]).toBe('UNSUPPORTED_MEDIA_TYPE');
  });

  test('from a feed may be larger than other bodies, compressed or not', async () => {
    const names = Array.from({ length: 20_000 }, (_, n) => `host-${n}.malware.example`).join('\n');
    const body = JSON.stringify({ name: 'long', content: names });
    expect(body.length).toBeGreaterThan(limits.maxJsonBodyBytes);
    const headers = { 'content-type': 'application/json' };
    const plain = await ok<{ data: Item }>('createIntel', { body, headers });
    const gzip = { ...headers, 'content-encoding': 'gzip' };
    const packed = await ok<{ data: Item }>('createIntel', { body: gzipSync(body), headers: gzip });
    for (const { data } of [plain, packed]) {
      expect(data.attributes).toMatchObject({ indicators: 20_000, rejected_total: 0 });
      await ok('deleteIntel', { params: [data.id] });
    }
    const bomb = gzipSync(Buffer.alloc(limits.maxIntelBodyBytes + 1, 32));
    expect(failure(await ask('createIntel', { body: bomb, headers: gzip }))[1]).toBe('PAYLOAD_TOO_LARGE');
  });
});

test('each change is one entry of the log, under the id intel, with one audit record', async () => {
  const { id } = await create({ name: 'logged', content: 'logged.example' });
  await ok('updateIntel', { params: [id], json: { severity: 'critical' } });
  await ok('updateIntel', { params: [id], json: { severity: 'critical' } });
  await ok('deleteIntel', { params: [id] });
  let mine: Item[] = [];
  for (let tries = 0; mine.length < 3 && tries < 200; tries++) {
    const { data } = await ok<Page>('listEntries', { query: 'per_page=1000&kind=detection.reloaded' });
    mine = data.filter((entry) => JSON.stringify(entry).includes(id));
    if (mine.length < 3) await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(mine.length).toBe(3);
  expect(JSON.stringify(mine)).toContain('"id":"intel"');
  const audit = await ok<Page>('listAuditRecords', { query: 'operation=createIntel&per_page=1' });
  expect(audit.data[0]?.attributes).toMatchObject({
    outcome: 'success',
    resource: { type: 'intel_list', id },
  });
});

describe('events', () => {
  const at = 1_763_700_000;
  const conn = (n: number, from: string, to: string, state: string) => ({
    _path: 'conn',
    ts: at + n,
    uid: `C${n}`,
    'id.orig_h': from,
    'id.orig_p': 40_000 + n,
    'id.resp_h': to,
    'id.resp_p': 443,
    proto: 'tcp',
    duration: 1,
    orig_bytes: state === 'SF' ? 100 : 0,
    resp_bytes: state === 'SF' ? 200 : 0,
    orig_pkts: 5,
    resp_pkts: state === 'SF' ? 4 : 0,
    conn_state: state,
    history: state === 'SF' ? 'ShADadFf' : 'S',
  });
  const dns = (n: number, query: string) => ({
    _path: 'dns',
    ts: at + n,
    uid: `D${n}`,
    'id.orig_h': '10.0.0.7',
    'id.orig_p': 5353,
    'id.resp_h': '10.0.0.53',
    'id.resp_p': 53,
    proto: 'udp',
    query,
    qtype_name: 'A',
    rcode: 0,
    rcode_name: 'NOERROR',
  });
  const alertsOf = async (id: string, count: number) => {
    let found: Item[] = [];
    for (let tries = 0; found.length < count && tries < 200; tries++) {
      found = await listAll(service, 'listAlerts', admin, `rule_id=intel.${id}`);
      if (found.length < count) await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return found.map(({ attributes }) => attributes);
  };
  const ingest = (...records: object[]) =>
    send(service, admin, records.map((record) => JSON.stringify(record)).join('\n'));

  test('that match a list become alerts and count as hits; disabled and expired entries do not match', async () => {
    const content = '203.0.113.0/24\n198.51.100.66\nbad.example\nhttps://files.example/x.exe\ngone.example,2020-01-01';
    const { id } = await create({ name: 'Live', confidence: 0.9, content });
    const off = await create({ name: 'Off', enabled: false, content });
    const over = await create({
      name: 'Over',
      severity: 'critical',
      expires_at: '2020-01-01T00:00:00Z',
      content,
    });
    await ingest(
      conn(1, '10.0.0.7', '203.0.113.9', 'SF'),
      conn(2, '10.0.0.8', '203.0.113.10', 'S0'),
      conn(3, '198.51.100.66', '10.0.0.9', 'S0'),
      conn(4, '198.51.100.66', '10.0.0.10', 'SF'),
      conn(5, '10.0.0.7', '198.51.100.67', 'SF'),
      dns(6, 'WWW.Bad.Example'),
      dns(7, 'gone.example'),
      dns(8, 'good.example'),
    );
    const alerts = await alertsOf(id, 5);
    const shown = alerts
      .map(({ title, severity, src_ip, dst_ip, domain, evidence }) => {
        const { part, answered, direction } = evidence as Record<string, unknown>;
        return [title, severity, src_ip, dst_ip, domain, part, answered, direction];
      })
      .sort();
    expect(shown).toEqual([
      [
        'Answered a known-bad address: 198.51.100.66 (Live)',
        'high',
        '198.51.100.66',
        '10.0.0.10',
        undefined,
        'src',
        true,
        'inbound',
      ],
      [
        'Attempt to reach a known-bad address: 203.0.113.0/24 (Live)',
        'high',
        '10.0.0.8',
        '203.0.113.10',
        undefined,
        'dst',
        false,
        'outbound',
      ],
      [
        'Contact with a known-bad address: 203.0.113.0/24 (Live)',
        'high',
        '10.0.0.7',
        '203.0.113.9',
        undefined,
        'dst',
        true,
        'outbound',
      ],
      [
        'Lookup of a known-bad domain: bad.example (Live)',
        'high',
        '10.0.0.7',
        '10.0.0.53',
        'www.bad.example',
        'domain',
        true,
        undefined,
      ],
      [
        'Probed by a known-bad address: 198.51.100.66 (Live)',
        'low',
        '198.51.100.66',
        '10.0.0.9',
        undefined,
        'src',
        false,
        'inbound',
      ],
    ]);
    expect(
      alerts.every(
        ({ rule_source, confidence, event_ids }) =>
          rule_source === 'intel' && confidence === 0.9 && (event_ids as string[]).length === 1,
      ),
    ).toBe(true);
    const hitsOf = async (list: string) => (await ok<{ data: Item }>('getIntel', { params: [list] })).data.attributes;
    expect(await hitsOf(id)).toMatchObject({
      hits: 5,
      last_hit_at: new Date((at + 6) * 1000).toISOString(),
      version: 1,
    });
    for (const other of [off, over]) expect(await hitsOf(other.id)).toMatchObject({ hits: 0 });

    await ok('updateIntel', { params: [id], json: { content: 'later.example' } });
    await ok('updateIntel', { params: [off.id], json: { enabled: true, content: 'good.example' } });
    await ingest(dns(9, 'bad.example'), dns(10, 'good.example'), dns(11, 'x.later.example'));
    expect(await alertsOf(off.id, 1)).toMatchObject([{ domain: 'good.example', count: 1 }]);
    expect(await hitsOf(id)).toMatchObject({ hits: 6 });
    for (const list of [id, off.id, over.id]) await ok('deleteIntel', { params: [list] });
  });
});

test('lists persist across a restart', async () => {
  const { id, attributes } = await create({
    name: 'stays',
    content: '198.51.100.7,2020-01-01\nstays.example',
  });
  expect(attributes).toMatchObject({ expired: 1 });
  await service.stop();
  await begin();
  expect((await ok<{ data: Item }>('getIntel', { params: [id] })).data.attributes).toEqual(attributes);
  expect(await valuesOf(id)).toEqual(['198.51.100.7', 'stays.example']);
});
