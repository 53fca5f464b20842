/**
 * Every operation of the contract against the running service: its success with realistic data, and the
 * errors implied by its route, generated from the table of routes so that no operation is forgotten.
 */

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { assertServerMessage } from '../../scripts/contract-assertions.ts';
import { adminPassword, login, type Service, startService, tokenFor } from '../../scripts/service.ts';
import { connLines } from '../../scripts/traffic/index.ts';
import type { Topology } from '../../src/contract/resources/topology.ts';
import { errorsOf, type OperationId, operationIds, routeOf } from '../../src/contract/routes.ts';
import type { Role } from '../../src/contract/vocabulary.ts';
import { errorCodes } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import { type Answer, failure, type Item, ndjson, type Page, call as plainCall, type Request } from './call.ts';
import { checkMetrics, hasPromtool } from './promtool.ts';

let service: Service;
let admin: string;
const tokens = {} as Record<Role, string>;
/** Status codes that each operation has returned. */
const seen = new Map<OperationId, Set<number>>(operationIds.map((operation) => [operation, new Set()]));

async function call(operation: OperationId, options: Request = {}): Promise<Answer> {
  const answer = await plainCall(service, operation, options);
  seen.get(operation)!.add(answer.status);
  expect(answer.headers.get('x-request-id')).toMatch(/^[\x21-\x7e]+$/);
  return answer;
}

async function ok<T>(operation: OperationId, options: Request = {}): Promise<T> {
  const { status, body } = await call(operation, { token: admin, ...options });
  if (status >= 300) throw new Error(`${operation}: ${status} ${JSON.stringify(body)}`);
  return body as T;
}

const eve = (sid: number, n = 0) =>
  JSON.stringify({
    timestamp: `2025-11-21T00:00:0${n}.000000+0000`,
    event_type: 'alert',
    src_ip: '10.0.0.1',
    src_port: 1,
    dest_ip: '203.0.113.9',
    dest_port: 80,
    proto: 'TCP',
    alert: {
      action: 'allowed',
      gid: 1,
      signature_id: sid,
      rev: 1,
      signature: `Rule ${sid}`,
      category: 'Test',
      severity: 1,
    },
  });
const networkEvent = {
  type: 'network_event',
  timestamp: '2026-01-01T00:00:00.000Z',
  src_ip: '10.0.0.1',
  dst_ip: '2001:db8::1',
  transport: 'tcp',
};
const dnsEvent = {
  ...networkEvent,
  type: 'dns_event',
  transport: 'udp',
  kind: 'query',
  query: 'www.example.org',
};
/** The metrics before the first event. */
let idleMetrics: string;
/** A receipt that was issued before the tests. */
let receipt: { readonly id: string };
const absent = '018f0000-0000-7000-8000-000000000001';

interface One {
  readonly data: { readonly id: string; readonly attributes: Readonly<Record<string, unknown>> };
}

/** Ingests a body, and returns the decoded header with its receipt. */
async function receiptOfBody() {
  const headers = { 'candor-receipt': 'sha256' };
  const answer = await call('ingestDnsEvents', { token: admin, json: [dnsEvent], headers });
  return JSON.parse(Buffer.from(answer.headers.get('candor-receipt')!, 'base64url').toString()) as {
    receipt: { id: string };
  };
}

beforeAll(async () => {
  // With an overlap longer than any period, successors are published from the start, so that one can be
  // retired.
  service = await startService({
    env: {
      CANDOR_KEYS_OVERLAP_MS: String(30 * 24 * 3600 * 1000),
      CANDOR_THREADS_INGEST: '2',
      CANDOR_THREADS_ANALYTICS: '2',
      CANDOR_TRANSPARENCY_SEAL_EVENTS: 'true',
      CANDOR_TRANSPARENCY_SEAL_INTERVAL_MS: '1000',
    },
  });
  admin = await login(service);
  for (const role of ['sensor', 'viewer', 'analyst', 'auditor'] as const) tokens[role] = await tokenFor(service, role);
  tokens.admin = admin;
  idleMetrics = await ok<string>('getMetrics');
  const lines = [...connLines(3, 2000), eve(1), eve(1, 1), eve(2)];
  await ok('ingest', { body: lines.join('\n'), headers: ndjson });
  ({ receipt } = await receiptOfBody());
});
afterAll(async () => {
  expect(await service.stop()).toBe(0);
});

describe('success', () => {
  test('events are ingested, of all three kinds', async () => {
    const counts = { accepted: 1, rejected: 0, ignored: 0, duplicates: 0, errors: [] };
    const { data } = await ok<{ data: unknown }>('ingestNetworkEvents', { json: networkEvent });
    expect(data).toEqual(counts);
    expect(await ok('ingestDnsEvents', { json: [dnsEvent] })).toMatchObject({ data: counts });
    expect(await ok('ingest', { json: [dnsEvent, networkEvent], query: 'source=native&sensor=s1' })).toMatchObject({
      data: { accepted: 2 },
    });
  });

  test('events are ingested over the protocols of other shippers', async () => {
    const [line = ''] = connLines(11, 1);
    const token = tokens.sensor;
    await ok('elasticsearchInfo', { token });
    await ok('elasticsearchProbe', { token });
    await ok('elasticsearchSetup', { token, params: ['candor'], json: {} });
    const body = `{"create":{}}\n${line}\n`;
    expect(await ok('elasticsearchBulk', { token, body, headers: ndjson })).toMatchObject({ errors: false });
    expect(await ok('elasticsearchBulkOfIndex', { token, params: ['zeek'], body, headers: ndjson })).toMatchObject({
      errors: false,
      items: [{ create: { _index: 'zeek', status: 201 } }],
    });

    const headers = { 'x-splunk-request-channel': absent };
    expect(await ok('splunkEvent', { token, headers, body: `{"event":${line}}` })).toMatchObject({ code: 0 });
    expect(await ok('splunkRaw', { token, headers, body: line })).toMatchObject({ code: 0, ackId: 1 });
    expect(await ok('splunkAck', { token, headers, json: { acks: [0, 1, 2] } })).toEqual({
      acks: { 0: true, 1: true, 2: false },
    });
    expect(await ok('splunkHealth')).toMatchObject({ code: 17 });

    const logRecords = [{ body: { stringValue: line } }];
    const json = { resourceLogs: [{ scopeLogs: [{ logRecords }] }] };
    expect(await ok('otlpLogs', { token, json })).toEqual({});
  });

  test('a repeated event with an explicit id is counted as a duplicate', async () => {
    const json = { ...networkEvent, id: '018f0000-0000-7000-8000-0000000000aa' };
    expect(await ok('ingest', { json: [json, json] })).toMatchObject({
      data: { accepted: 1, duplicates: 1 },
    });
    expect(await ok('ingestNetworkEvents', { json })).toMatchObject({ data: { accepted: 0, duplicates: 1 } });
    const found = await ok<One>('getNetworkEvent', { params: [json.id] });
    expect(found.data.attributes).toMatchObject({ dst_ip: '2001:db8::1' });
  });

  test('events are listed and read', async () => {
    for (const [list, get, histogram, values] of [
      ['listNetworkEvents', 'getNetworkEvent', 'getNetworkEventHistogram', 'getNetworkEventValues'],
      ['listDnsEvents', 'getDnsEvent', 'getDnsEventHistogram', 'getDnsEventValues'],
    ] as const) {
      const { data, pagination } = await ok<Page>(list, { query: 'per_page=3' });
      expect(pagination.total).toBeGreaterThan(0);
      const often = await ok<One>(values, { query: 'by=ip&limit=1' });
      expect(often.data.attributes).toMatchObject({ total: pagination.total, values: [{}] });
      const counted = await ok<One>(histogram, { query: 'buckets=7' });
      expect(counted.data.attributes.total).toBe(pagination.total);
      const one = await ok<One>(get, { params: [data[0]!.id.toUpperCase()] });
      expect(one.data).toEqual(data[0]);
    }
  });

  test('the graph of connections is read, complete and around an asset', async () => {
    const { data } = await ok<One>('getTopology', { query: 'limit=2000' });
    const { nodes, edges } = data.attributes as unknown as Topology;
    expect(edges.length).toBeGreaterThan(0);
    const asset = nodes.find(({ asset_id }) => asset_id !== undefined);
    const around = await ok<One>('getTopology', { query: `focus=${asset!.asset_id}&depth=2&group_by=host` });
    expect((around.data.attributes as unknown as Topology).nodes.map(({ id }) => id)).toContain(asset!.id);
  });

  test('alerts are listed, read, changed under their version, and noted', async () => {
    const { data } = await ok<Page>('listAlerts', { query: 'rule_id=1:1' });
    expect(data[0]?.attributes).toMatchObject({ count: 2, severity: 'high', status: 'new' });
    const params = [data[0]!.id];
    const got = await call('getAlert', { token: tokens.viewer, params });
    const etag = got.headers.get('etag') as string;
    expect(etag).toMatch(/^"\d+"$/);
    const put = (json: unknown, headers: Record<string, string> = {}) =>
      call('updateAlert', { token: tokens.analyst, params, json, headers });
    const changed = await put({ status: 'in_progress', tags: ['a'] }, { 'if-match': etag });
    expect((changed.body as One).data.attributes).toMatchObject({ status: 'in_progress', tags: ['a'] });
    expect(changed.headers.get('etag')).not.toBe(etag);
    expect(failure(await put({ status: 'new' }, { 'if-match': etag }))[1]).toBe('VERSION_MISMATCH');
    expect(failure(await put({ status: 'archived' }))[1]).toBe('INVALID_TRANSITION');
    expect(failure(await put({ first_seen: 'now' }))).toEqual([400, 'INVALID_REQUEST', 'first_seen']);
    expect(failure(await put({ colour: 'red' }))).toEqual([400, 'INVALID_REQUEST', 'colour']);
    expect(failure(await put({ status: 'done' }))).toEqual([400, 'INVALID_REQUEST', 'status']);

    const noted = await call('addAlertNote', {
      token: tokens.analyst,
      params,
      json: { text: 'seen \ud83d\ude00' },
    });
    expect([noted.status, noted.headers.get('location')]).toEqual([201, `/api/v1/alerts/${params[0]}/notes`]);
    await put({ note: 'with a change' });
    const notes = await ok<Page>('listAlertNotes', { params });
    expect(notes.data.map(({ attributes }) => attributes.text).sort()).toEqual(['seen \ud83d\ude00', 'with a change']);
    expect((await ok<One>('getAlert', { params })).data.attributes.note_count).toBe(2);

    const bulk = await call('bulkUpdateAlerts', {
      token: tokens.analyst,
      json: { ids: params, change: { priority: 'critical' } },
    });
    const groups = await ok<unknown>('groupAlerts', { query: 'by=rule_id' });
    expect(JSON.stringify(groups)).toContain('1:1');
    const { pagination } = await ok<Page>('listAlerts', { query: 'not_severity=low' });
    const counted = await ok<One>('getAlertHistogram', { query: 'not_severity=low' });
    expect(counted.data.attributes.total).toBe(pagination.total);
    const history = await ok<Page>('listAlertHistory', { params });
    expect(history.data.map(({ attributes }) => attributes.action)).toContain('status_changed');
    expect([bulk.status, bulk.body]).toMatchObject([200, { data: { matched: 1, changed: 1, failed: [] } }]);
  });

  test('silences are created, listed, read, changed under their version, and deleted', async () => {
    const token = tokens.analyst;
    const made = await call('createSilence', {
      token,
      json: {
        matcher: { rule_id: ['none'] },
        reason: 'a test',
        expires_at: new Date(Date.now() + 60_000).toISOString(),
      },
    });
    expect(made.status).toBe(201);
    const { id } = (made.body as One).data;
    expect((await ok<Page>('listSilences', { query: 'state=active' })).data.map((one) => one.id)).toContain(id);
    const params = [id];
    expect((await ok<One>('getSilence', { params })).data.attributes.reason).toBe('a test');
    const headers = { 'if-match': '"1"' };
    const changed = await call('updateSilence', { token, params, json: { reason: 'another' }, headers });
    expect((changed.body as One).data.attributes).toMatchObject({ reason: 'another', version: 2 });
    expect((await call('deleteSilence', { token, params })).status).toBe(204);
  });

  test('assets and services are found, changed, created manually, merged, split and deleted', async () => {
    const found = await ok<Page>('listAssets', { query: 'source=passive&sort=-service_count' });
    const { id, attributes } = found.data[0]!;
    expect((await ok<One>('getAsset', { params: [id.toUpperCase()] })).data).toEqual(found.data[0]);
    expect(attributes).toMatchObject({ state: 'staged', source: 'passive' });
    const offers = await ok<Page>('listAssetServices', { params: [id] });
    expect(offers.pagination.total).toBe(attributes.service_count);
    expect((await ok<Page>('listServices', { query: `asset_id=${id}` })).data).toEqual(offers.data);
    const [offer] = offers.data;
    expect((await ok<One>('getService', { params: [offer!.id] })).data).toEqual(offer);
    const events = await ok<Page>('listNetworkEvents', { query: `dst_asset_id=${id}` });
    expect(events.data[0]?.attributes).toMatchObject({ dst_asset_id: id });

    const json = { name: 'by hand', ip_addresses: ['10.250.0.1', '10.250.0.2'] };
    const made = await call('createAsset', { token: tokens.analyst, json });
    const byHand = (made.body as One).data;
    expect([made.status, made.headers.get('location')]).toEqual([201, `/api/v1/assets/${byHand.id}`]);
    const again = await call('createAsset', { token: tokens.analyst, json });
    expect(failure(again)).toEqual([409, 'CONFLICT', 'ip_addresses.0']);
    const params = [byHand.id];
    const put = (change: unknown, headers: Record<string, string> = {}) =>
      call('updateAsset', { token: tokens.analyst, params, json: change, headers });
    expect((await put({ owner: 'ann' }, { 'if-match': '"1"' })).status).toBe(200);
    expect(failure(await put({ owner: 'bob' }, { 'if-match': '"1"' }))[1]).toBe('VERSION_MISMATCH');
    expect(failure(await put({ risk_score: 7 }))).toEqual([400, 'INVALID_REQUEST', 'risk_score']);

    const split = await call('splitAsset', { token: admin, params, json: { identifiers: ['10.250.0.2'] } });
    const other = (split.body as One).data;
    expect([split.status, other.attributes.ip_addresses]).toEqual([201, ['10.250.0.2']]);
    const merged = await ok<One>('mergeAsset', { params: [other.id], json: { into: byHand.id } });
    expect(merged.data.attributes).toMatchObject({ name: 'by hand', owner: 'ann' });
    const risk = await ok<One>('getAssetRiskHistory', { params, query: 'window=1h' });
    expect(risk.data.attributes).toMatchObject({ score: 0, points: [{ score: 0 }] });
    const history = await ok<Page>('listAssetHistory', { params });
    const actions = history.data.map(({ attributes: { action } }) => action);
    expect(actions).toEqual(expect.arrayContaining(['created', 'edited', 'split', 'merged']));
    expect((await call('deleteAsset', { token: tokens.analyst, params })).status).toBe(204);
    expect(failure(await call('getAsset', { token: admin, params }))[1]).toBe('NOT_FOUND');
  });

  test('scans are started, followed, listed and cancelled', async () => {
    const json = { targets: ['127.0.0.1'], ports: '9' };
    const begun = await call('startScan', { token: tokens.analyst, json });
    const { id } = (begun.body as One).data;
    expect([begun.status, begun.headers.get('location')]).toEqual([202, `/api/v1/discovery/scan/${id}`]);
    const long = { targets: ['127.9.0.0/24'], ports: '1-500', rate: 1 };
    const other = (await ok<One>('startScan', { json: long })).data.id;
    const cancelled = await ok<One>('cancelScan', { token: tokens.analyst, params: [other] });
    expect(cancelled.data.attributes).toMatchObject({ status: 'cancelled', requested_by: 'admin' });
    expect(failure(await call('cancelScan', { token: admin, params: [other] }))[1]).toBe('INVALID_TRANSITION');
    const outside = await call('startScan', { token: admin, json: { targets: ['10.0.0.1'] } });
    expect(failure(outside)).toEqual([400, 'INVALID_REQUEST', 'targets.0']);
    const status = async () => (await ok<One>('getScan', { params: [id] })).data.attributes.status;
    while ((await status()) !== 'completed') await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await ok<One>('getScanStatus')).data.id).toBe(other);
    const { data } = await ok<Page>('listScans', { query: 'target=127.0.0.1' });
    expect(data.map((one) => one.id)).toEqual([id]);
    expect((await ok<One>('getScan', { params: [id.toUpperCase()] })).data).toEqual(data[0]);
  });

  test('detection rules are created, tested, changed and deleted', async () => {
    const source = [
      'title: Port 4444',
      'logsource: {category: firewall}',
      'detection: {selection: {dst_port: 4444}, condition: selection}',
      'level: low',
    ].join('\n');
    expect(await ok('validateRule', { token: tokens.analyst, json: { source } })).toMatchObject({
      data: { valid: true, documents: 1, problems: [] },
    });
    expect(await ok('testRule', { token: tokens.analyst, json: { source } })).toMatchObject({
      data: { answerable: true },
    });
    const made = await ok<One>('createRule', { json: { source } });
    const { data } = await ok<Page>('listRules', { token: tokens.viewer, query: 'origin=api&q=4444' });
    expect(data).toEqual([made.data]);
    const params = [made.data.id];
    const headers = { 'if-match': '"1"' };
    const changed = await ok<One>('updateRule', { params, headers, json: { enabled: false } });
    expect(changed.data.attributes).toMatchObject({ enabled: false, version: 2, title: 'Port 4444' });
    expect(failure(await call('deleteRule', { token: admin, params, headers }))[1]).toBe('VERSION_MISMATCH');
    expect((await ok<One>('getRule', { params })).data).toEqual(changed.data);
    expect(await ok('reloadRules')).toMatchObject({ data: { added: 0, removed: 0, broken: [] } });
    await ok('deleteRule', { params });
    expect(failure(await call('getRule', { token: admin, params }))[1]).toBe('NOT_FOUND');
  });

  test('lists of known-bad addresses are created, read, changed and deleted', async () => {
    const content = '198.51.100.7\nbad.example';
    const made = await ok<One>('createIntel', { json: { name: 'feed', content } });
    const { data } = await ok<Page>('listIntel', { token: tokens.viewer, query: 'q=feed' });
    expect(data).toEqual([made.data]);
    const params = [made.data.id];
    const named = await ok<Page>('listIndicators', { token: tokens.viewer, params, query: 'sort=value' });
    expect(named.data.map(({ id }) => id)).toEqual(['198.51.100.7', 'bad.example']);
    const changed = await ok<One>('updateIntel', { params, json: { enabled: false } });
    expect((await ok<One>('getIntel', { params })).data).toEqual(changed.data);
    await ok('deleteIntel', { params });
    expect(failure(await call('getIntel', { token: admin, params }))[1]).toBe('NOT_FOUND');
  });

  test('sessions and tokens are issued, listed and revoked', async () => {
    const session = await ok<{ access_token: string; refresh_token: string }>('login', {
      json: { username: 'admin', password: adminPassword },
    });
    expect((await ok<One>('whoAmI', { token: session.access_token })).data.attributes).toMatchObject({
      name: 'admin',
    });
    const json = { refresh_token: session.refresh_token };
    const renewed = await ok<{ access_token: string }>('refresh', { json });
    expect((await call('logout', { token: renewed.access_token })).status).toBe(204);
    expect((await call('whoAmI', { token: renewed.access_token })).status).toBe(401);
    expect((await call('refresh', { json })).status).toBe(401);

    const issued = await call('issueToken', { token: admin, json: { name: 'short', scopes: ['viewer'] } });
    const { id, attributes } = (issued.body as One).data;
    expect([issued.status, issued.headers.get('location')]).toEqual([201, `/api/v1/tokens/${id}`]);
    const token = attributes.token as string;
    expect((await call('whoAmI', { token })).status).toBe(200);
    const listed = await call('listTokens', { token: admin, query: 'per_page=1000' });
    expect(JSON.stringify(listed.body)).toContain(id);
    expect(JSON.stringify(listed.body)).not.toContain(token);
    const shown = await ok<One>('getToken', { token: admin, params: [id] });
    expect(shown.data).toMatchObject({ id, type: 'token', attributes: { name: 'short' } });
    expect(JSON.stringify(shown)).not.toContain(token);
    expect((await call('revokeToken', { token: admin, params: [id] })).status).toBe(204);
    expect((await call('whoAmI', { token })).status).toBe(401);
    expect(failure(await call('revokeToken', { token: admin, params: [id] }))[1]).toBe('NOT_FOUND');
  });

  test('the log returns head, inclusion, consistency, leaf and keys', async () => {
    let size = 0;
    for (let tries = 0; size < 5 && tries < 100; tries++) {
      size = (await ok<{ tree_size: number }>('getTreeHead')).tree_size;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(await ok('getTreeHead', { query: `tree_size=${size}` })).toMatchObject({ tree_size: size });
    expect(await ok('getInclusionProof', { query: `leaf_index=2&tree_size=${size}` })).toMatchObject({
      leaf_index: 2,
    });
    expect(await ok('getConsistencyProof', { query: `first=2&second=${size}` })).toMatchObject({
      second_size: size,
    });
    const leaf = await ok<{ leaf_hash: string; entry: { id: string } }>('getLeaf', {
      token: tokens.auditor,
      query: 'leaf_index=2',
    });
    for (const query of [`leaf_hash=${leaf.leaf_hash.toUpperCase()}`, `entry_id=${leaf.entry.id}`]) {
      expect(await ok('getInclusionProof', { query })).toMatchObject({ leaf_index: 2 });
      expect(await ok('getLeaf', { query })).toEqual(leaf);
    }
    expect((await ok<{ keys: unknown[] }>('getKeySet')).keys.length).toBeGreaterThanOrEqual(2);
    for (const [operation, query, field] of [
      ['getInclusionProof', 'leaf_index=-1', 'leaf_index'],
      ['getInclusionProof', 'leaf_index=0&tree_size=0', 'tree_size'],
      ['getInclusionProof', '', 'leaf_index'],
      ['getInclusionProof', 'leaf_index=1e3', 'leaf_index'],
      ['getConsistencyProof', `first=${size}&second=1`, 'second'],
      ['getConsistencyProof', `first=1&second=${10 * size}`, 'second'],
      ['getConsistencyProof', 'first=0&second=1', 'first'],
      ['getConsistencyProof', '', 'first'],
      ['getLeaf', 'leaf_index=1&entry_id=x', 'entry_id'],
      ['getTreeHead', 'tree_size=x', 'tree_size'],
    ] as const) {
      const answer = await call(operation, { token: admin, query });
      expect([operation, query, ...failure(answer)]).toEqual([operation, query, 400, 'INVALID_REQUEST', field]);
    }
    for (const [operation, query] of [
      ['getLeaf', `leaf_index=${10 * size}`],
      ['getLeaf', `entry_id=${absent}`],
      ['getTreeHead', `tree_size=${10 * size}`],
    ] as const) {
      expect([query, failure(await call(operation, { token: admin, query }))[1]]).toEqual([query, 'NOT_FOUND']);
    }
  });

  test('a receipt of a body is read', async () => {
    const shown = await receiptOfBody();
    const { data } = await ok<One>('getReceipt', { params: [shown.receipt.id] });
    expect(data.attributes).toMatchObject(shown);
  });

  test('proofs of events are read, once the events are sealed', async () => {
    for (const [list, operation] of [
      ['listNetworkEvents', 'getNetworkEventProof'],
      ['listDnsEvents', 'getDnsEventProof'],
    ] as const) {
      const { data } = await ok<Page>(list, { query: 'per_page=1' });
      const params = [data[0]!.id];
      await vi.waitFor(async () => expect((await call(operation, { token: admin, params })).status).toBe(200), {
        timeout: 60_000,
        interval: 200,
      });
    }
  });

  test('the log returns lists, bundle, checkpoint and tiles', async () => {
    const { tree_size: size } = await ok<{ tree_size: number }>('getTreeHead');
    const heads = await ok<Page>('listTreeHeads', { query: `from_size=${size}` });
    expect(heads.data.map(({ type }) => type)).toContain('tree_head');
    const entries = await ok<Page>('listEntries', { token: tokens.auditor, query: 'kind=token.issued' });
    expect(entries.pagination.total).toBeGreaterThanOrEqual(5);
    expect((await ok<Page>('listKeyHistory')).data).toEqual([]);
    const publicKeys = await ok<Page>('listPublicKeys');
    expect(publicKeys.data.map(({ type }) => type)).toContain('public_key');
    const { id } = entries.data[0]!;
    expect(await ok('getProofBundle', { query: `entry_id=${id}` })).toMatchObject({ leaf_index: 0 });
    expect(await ok<string>('getCheckpoint')).toMatch(/^candor\.log\/[0-9a-f-]{36}\n\d+\n[\w+/]{43}=\n\n— candor/);
    expect(await ok('getTile', { params: ['0/000.p/5'] })).toHaveLength(5 * 32);
    expect((await ok<Uint8Array>('getEntryBundle', { params: ['000.p/5'] })).length).toBeGreaterThan(5 * 300);
  });

  test('keys are listed, rotated, retired and revoked', async () => {
    const keys = async (purpose: string) =>
      (await ok<Page>('listKeys', { query: 'sort=created_at' })).data.filter(
        ({ attributes }) => attributes.purpose === purpose,
      );
    const states = async (purpose: string) => (await keys(purpose)).map(({ attributes }) => attributes.state as string);
    expect(await states('transparency-sth')).toEqual(['active', 'pending']);
    const [, pending] = await keys('transparency-sth');
    const given = await ok<One>('retireKey', { params: [pending!.id] });
    expect(given.data.attributes).toMatchObject({ state: 'retired' });
    for (const purpose of ['transparency-sth', 'event-signing', 'access-token']) {
      const { data } = await ok<One>('rotateKey', { json: { purpose } });
      expect(data.attributes).toMatchObject({ purpose, state: 'active' });
    }
    const active = (await keys('transparency-sth')).find(({ attributes }) => attributes.state === 'active')!;
    expect(await ok('getTreeHead')).toMatchObject({ signer_key_id: active.id });
    const json = { reason: 'the disk was stolen' };
    await ok<One>('revokeKey', { params: [active.id], json });
    expect((await states('transparency-sth')).toSorted()).toEqual(['active', 'retired', 'retired', 'revoked']);
    expect(await ok<{ signer_key_id: string }>('getTreeHead')).not.toMatchObject({
      signer_key_id: active.id,
    });
    const again = await call('revokeKey', { token: admin, params: [active.id], json });
    expect(failure(again)[1]).toBe('INVALID_TRANSITION');
    expect(failure(await call('rotateKey', { token: admin, json: { purpose: 'checkpoint' } }))).toEqual([
      400,
      'INVALID_REQUEST',
      'purpose',
    ]);
  });

  test('backups are made and listed', async () => {
    const { data } = await ok<One>('createBackup');
    let backup = data;
    while (backup.attributes.state === 'running') {
      await new Promise((resolve) => setTimeout(resolve, 50));
      backup = (await ok<One>('getBackup', { params: [data.id] })).data;
    }
    expect(backup.attributes).toMatchObject({ state: 'completed' });
    const listed = await ok<Page>('listBackups');
    expect(listed.data).toContainEqual(backup);
  });

  test('the system reports its state', async () => {
    expect(await ok('getHealth')).toMatchObject({ status: 'ok', ledger: 'ok' });
    expect((await ok<One>('confirmClock')).data.attributes).toMatchObject({ ledger: { state: 'ok' } });
    expect((await ok<One>('getStatus', { token: tokens.viewer })).data.attributes).toMatchObject({
      ready: true,
    });
    const { paths } = await ok<{ paths: Record<string, Record<string, { operationId: string }>> }>('getOpenApi');
    const described = Object.values(paths).flatMap((path) => Object.values(path).map(({ operationId }) => operationId));
    expect(described.filter(Boolean).sort()).toEqual([...operationIds].sort());
    expect(await ok<string>('getMetrics')).toContain('candor_store_events{table="network"}');
  });

  test.each(operationIds.filter((operation) => routeOf(operation).websocket))(
    '%s opens a WebSocket, and rejects requests without an upgrade',
    async (operation) => {
      const { path, websocket } = routeOf(operation);
      const socket = new WebSocket(service.url.replace('http', 'ws') + path, {
        headers: { authorization: `Bearer ${tokens.viewer}` },
      });
      const message = new Promise<Record<string, unknown>>((resolve, reject) => {
        socket.once('message', (bytes) => resolve(JSON.parse(String(bytes)) as Record<string, unknown>));
        socket.once('error', reject);
        socket.once('close', (code) => reject(new Error(`closed with ${code}`)));
      });
      socket.once('upgrade', ({ statusCode }) => seen.get(operation)!.add(statusCode as number));
      if (websocket?.channel === undefined) socket.once('open', () => socket.send('{"type":"ping"}'));
      const first = await message;
      assertServerMessage(first);
      expect(first).toMatchObject(
        websocket?.channel === undefined ? { type: 'pong' } : { type: 'subscribed', channel: websocket.channel },
      );
      socket.terminate();
      expect(failure(await call(operation, { token: admin }))).toEqual([400, 'INVALID_REQUEST', 'upgrade']);
    },
  );
});

const absentTiles: Readonly<Record<string, string>> = {
  '/tile/:tile*': '0/x999/000',
  '/tile/entries/:bundle*': 'x999/000',
};

/** Returns a request that passes the checks implied by the route table. The operation itself may still reject it. */
function plausible(operation: OperationId): Request {
  const { params, path, body } = routeOf(operation);
  const value = path.endsWith('*') ? (absentTiles[path] ?? '') : absent;
  return {
    ...(params === undefined ? {} : { params: [value] }),
    ...(body === undefined ? {} : { json: {} }),
  };
}

const answered = operationIds.filter((operation) => routeOf(operation).websocket === undefined);

describe.each(answered)('%s', (operation) => {
  const route = routeOf(operation);
  const url = () => service.url + route.path.replace(/:\w+\*?/g, absent);

  test('rejects callers without access', async () => {
    const strangers = [undefined, 'nonsense', `${tokens.viewer}x`, `${admin.slice(0, -4)}AAAA`];
    for (const token of strangers) {
      const answer = await call(operation, {
        ...plausible(operation),
        ...(token === undefined ? {} : { token }),
      });
      // A login rejects an empty body before it would report an unknown user.
      expect(answer.status === 401).toBe(route.access !== 'public');
      if (answer.status === 401) expect(answer.headers.get('www-authenticate')).toContain('Bearer');
    }
    if (operation === 'logout') return;
    for (const [role, token] of Object.entries(tokens)) {
      const may = route.access === 'public' || route.access.includes(role as Role);
      const answer = await call(operation, { ...plausible(operation), token });
      expect([role, answer.status === 403]).toEqual([role, !may]);
      expect(answer.status).not.toBe(401);
    }
  });

  test('responds to other methods with Allow, and supports HEAD and OPTIONS', async () => {
    const wrong = await fetch(url(), { method: 'PATCH', headers: { authorization: `Bearer ${admin}` } });
    const allow = wrong.headers.get('allow') ?? '';
    expect([wrong.status, allow.split(', ').includes(route.method)]).toEqual([405, true]);
    expect(await wrong.json()).toMatchObject({ error: { code: 'METHOD_NOT_ALLOWED' } });
    const options = await fetch(url(), { method: 'OPTIONS' });
    expect([options.status, options.headers.get('allow')]).toEqual([204, allow]);
    expect(options.headers.get('access-control-allow-origin')).toBeNull();
    if (route.method !== 'GET') return;
    const headers = { authorization: `Bearer ${admin}`, 'x-request-id': 'head-and-get' };
    const [head, get] = [await fetch(url(), { method: 'HEAD', headers }), await fetch(url(), { headers })];
    expect(await head.text()).toBe('');
    await get.text();
    expect(head.status).toBe(get.status);
    for (const name of ['content-type', 'x-request-id', 'etag', 'cache-control'])
      expect(head.headers.get(name)).toBe(get.headers.get(name));
    expect(head.headers.get('x-request-id')).toBe('head-and-get');
    // A body generated while it is sent has no length.
    if (get.headers.get('content-length') === null) expect(head.headers.get('content-length')).toBeNull();
    else expect(Number(head.headers.get('content-length'))).toBeGreaterThan(0);
  });

  test('rejects unknown and invalid parameters', async () => {
    const { params, query, access } = route;
    const token = admin;
    if (query !== undefined || access !== 'public') {
      if (operation === 'logout') return;
      const answer = await call(operation, { ...plausible(operation), token, query: 'no_such=1' });
      if (route.protocol !== undefined) expect([operation, answer.status]).toEqual([operation, 400]);
      else expect(failure(answer)).toEqual([400, 'INVALID_REQUEST', 'no_such']);
    }
    // The protocols of shippers have their own format of errors.
    if (route.protocol !== undefined) return;
    if (params !== undefined) {
      const [[name, { format }] = ['', { format: '' }]] = Object.entries(
        params.properties as Record<string, { format?: string }>,
      );
      const wrong = await call(operation, { ...plausible(operation), token, params: ['17'] });
      expect((wrong.body as { error: unknown }).error).toMatchObject({
        code: 'INVALID_REQUEST',
        details: { field: name, ...(format === 'uuid' ? { reason: 'must be a valid UUID' } : {}) },
      });
      if (errorsOf(route).includes('NOT_FOUND')) {
        const json = {
          addAlertNote: { text: 'x' },
          revokeKey: { reason: 'x' },
          mergeAsset: { into: absent },
          splitAsset: { identifiers: ['10.0.0.1'] },
        }[operation as string];
        const valid = json === undefined ? {} : { json };
        const missing = await call(operation, { ...plausible(operation), ...valid, token });
        expect(failure(missing).slice(0, 2)).toEqual([404, 'NOT_FOUND']);
      }
    }
    for (const [name, bad] of Object.entries({
      page: '0',
      per_page: '1001',
      sort: 'colour',
      cursor: 'x',
      from: 'soon',
      ip: '1.2.3',
    })) {
      if (query === undefined || !Object.hasOwn(query.properties, name)) continue;
      const answer = await call(operation, { ...plausible(operation), token, query: `${name}=${bad}` });
      expect([name, ...failure(answer)]).toEqual([name, 400, 'INVALID_REQUEST', name]);
    }
  });

  if (route.body === undefined) return;
  test('rejects bodies of invalid type, size and form', async () => {
    const request = { ...plausible(operation), token: admin };
    const typed = (type: string, body: string | Uint8Array) =>
      call(operation, { ...request, json: undefined, body, headers: { 'content-type': type } });
    if (route.protocol !== undefined) {
      const any = route.body?.kind === 'ingest' && route.body.mediaTypes.includes('*/*');
      expect((await typed('application/xml', '<a/>')).status === 415).toBe(!any);
      const large = Buffer.alloc(limits.maxBodyBytes + 1, 32);
      expect((await typed(any ? 'text/plain' : 'application/json', large)).status).toBe(413);
      return;
    }
    expect(failure(await typed('application/xml', '<a/>'))).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE', 'content-type']);
    const maxOfJson =
      route.body?.kind === 'json' && route.body.large ? limits.maxIntelBodyBytes : limits.maxJsonBodyBytes;
    const most = route.body?.kind === 'ingest' ? limits.maxBodyBytes : maxOfJson;
    expect(failure(await typed('application/json', Buffer.alloc(most + 1, 32))).slice(0, 2)).toEqual([
      413,
      'PAYLOAD_TOO_LARGE',
    ]);
    if (route.body?.kind !== 'json') return;
    for (const body of ['', '{', '[]', 'null', '"text"', '\xff']) {
      expect(failure(await typed('application/json', Buffer.from(body, 'latin1')))).toEqual([
        400,
        'INVALID_REQUEST',
        'body',
      ]);
    }
    expect(failure(await typed('application/json; charset=utf-8', '{"no_such":1}'))[1]).toBe('INVALID_REQUEST');
  });
});

describe('an Idempotency-Key', () => {
  const send = (body: string, key: string) =>
    call('ingest', { token: tokens.sensor, body, headers: { ...ndjson, 'idempotency-key': key } });
  const count = async (rule: string) =>
    ((await ok<Page>('listAlerts', { query: `rule_id=1:${rule}` })).data[0]?.attributes.count as number) ?? 0;

  test('repeats the first response, and the data is stored once', async () => {
    const first = await send(eve(77), 'retry-1');
    const again = await send(eve(77), 'retry-1');
    expect((again.body as One).data).toEqual((first.body as One).data);
    expect(await count('77')).toBe(1);
    expect(failure(await send(eve(78), 'retry-1')).slice(0, 2)).toEqual([409, 'CONFLICT']);
    expect(await count('78')).toBe(0);
  });

  test('applies to concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => send(eve(79), 'retry-2')));
    expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, (body as One).data]))).size).toBe(1);
    expect(await count('79')).toBe(1);
  });

  test('must be valid', async () => {
    for (const key of ['', 'a b', 'k'.repeat(256)]) {
      expect(failure(await send(eve(81), key))).toEqual([400, 'INVALID_REQUEST', 'idempotency-key']);
    }
  });
});

test('ack=memory gets its response first, and the data is stored shortly afterwards', async () => {
  const query = 'ack=memory';
  expect(await ok('ingest', { body: eve(90), headers: ndjson, query })).toMatchObject({
    data: { accepted: 1 },
  });
  await expect
    .poll(async () => (await ok<Page>('listAlerts', { query: 'rule_id=1:90' })).pagination.total, {
      timeout: 60_000,
    })
    .toBe(1);
});

test('an unknown path is not found, with any credentials', async () => {
  for (const path of [
    '/nothing',
    '/api/v1',
    '/api/v1/alerts/',
    '/api/v1//alerts',
    '/%2e%2e/etc/passwd',
    '/api/v2/alerts',
  ]) {
    const answer = await fetch(service.url + path);
    expect([path, answer.status]).toEqual([path, 404]);
    expect(await answer.json()).toMatchObject({ error: { code: 'NOT_FOUND' } });
  }
});

describe('administration', () => {
  test('a principal is created, read, changed; it signs in and changes its password', async () => {
    const json = { name: 'carla', kind: 'user', roles: ['viewer'], password: 'correct horse' };
    const { data } = await ok<{ data: Item }>('createPrincipal', { json });
    const params = [data.id];
    expect((await ok<{ data: Item }>('getPrincipal', { params })).data).toEqual(data);
    expect((await ok<Page>('listPrincipals', { query: 'per_page=1000' })).data).toContainEqual(data);
    const changed = await ok<{ data: Item }>('updatePrincipal', { params, json: { roles: ['analyst'] } });
    expect(changed.data.attributes).toMatchObject({ name: 'carla', roles: ['analyst'], version: 2 });

    const signIn = async (password: string) =>
      (await ok<{ access_token: string }>('login', { json: { username: json.name, password } })).access_token;
    const token = await signIn(json.password);
    const passwords = { current_password: json.password, new_password: 'battery staple' };
    expect((await call('changePassword', { token, json: passwords })).status).toBe(204);
    await signIn(passwords.new_password);
  });

  test('the policy is read, edited and reloaded', async () => {
    const { data } = await ok<{ data: Item }>('getPolicy');
    const { rules } = data.attributes as { rules: { operation: string }[] };
    const edited = rules.map((rule) => (rule.operation === 'getStatus' ? { ...rule, roles: ['admin'] } : rule));
    const put = await ok<{ data: Item }>('updatePolicy', { json: { rules: edited } });
    expect(put.data.attributes.version).toBe(Number(data.attributes.version) + 1);
    expect((await call('getStatus', { token: tokens.viewer })).status).toBe(403);
    await ok('updatePolicy', { json: { rules } });
    expect((await ok<{ data: Item }>('reloadPolicy')).data.attributes.rules).toEqual(rules);
  });

  test('settings are read and stored for the next start', async () => {
    const setting = 'alerts.window_ms';
    const stored = await ok<{ data: Item }>('updateConfig', { json: { settings: { [setting]: 60_000 } } });
    expect(stored.data.attributes).toMatchObject({
      pending: { [setting]: 60_000 },
      restart_required: true,
    });
    expect((await ok<{ data: Item }>('getConfig')).data.attributes).toEqual(stored.data.attributes);
    const back = await ok<{ data: Item }>('updateConfig', { json: { settings: { [setting]: null } } });
    expect(back.data.attributes).toMatchObject({ pending: {}, restart_required: false });
  });

  test('the audit log has the changes of settings, with their caller', async () => {
    const { data: caller } = await ok<One>('whoAmI');
    const { data } = await ok<Page>('listAuditRecords', { query: 'operation=updateConfig&outcome=success' });
    const record = { operation: 'updateConfig', actor: caller.id, actor_name: 'admin' };
    expect(data.map(({ attributes }) => attributes)).toMatchObject([record, record]);
  });
});

test('failed logins are rate limited, and the response has a Retry-After header', async () => {
  const json = { username: 'nobody', password: 'wrong password' };
  let last = await call('login', { json });
  for (let n = 0; n < 2 * limits.maxLoginFailuresPerMinute && last.status === 401; n++)
    last = await call('login', { json });
  expect(failure(last).slice(0, 2)).toEqual([429, 'RATE_LIMITED']);
  expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0);
});

test('a receipt has a proof, once the log covers it', async () => {
  const attributes = async () => (await ok<One>('getReceipt', { params: [receipt.id] })).data.attributes;
  // The log covers receipts every ten seconds, which passed during the tests above.
  await expect.poll(attributes, { interval: 500 }).toHaveProperty('proof');
  const { batch, ...others } = await attributes();
  expect(others).toMatchObject({ receipt, proof: {} });
  const { leaf_index, tree_size } = batch as { leaf_index: number; tree_size: number };
  expect(leaf_index).toBeLessThan(tree_size);
});

test.skipIf(!hasPromtool)(
  'metrics pass promtool without warnings, of an idle service and after all operations',
  async () => {
    const metrics = await ok<string>('getMetrics');
    expect(metrics).toMatch(/^candor_ingest_records_total\{outcome="accepted"\} [1-9]\d{3}$/m);
    for (const text of [idleMetrics, metrics]) expect(checkMetrics(text)).toEqual([0, '']);
  },
);

test('every operation responds in these tests with each of its success statuses, and only with possible statuses', () => {
  for (const operation of operationIds) {
    const { responses } = routeOf(operation);
    const successes = Object.keys(responses)
      .map(Number)
      .filter((status) => status < 400);
    expect([operation, ...successes.filter((status) => !seen.get(operation)!.has(status))]).toEqual([operation]);
    const possible = new Set([...errorsOf(routeOf(operation)).map((code) => errorCodes[code].status), ...successes]);
    expect([...seen.get(operation)!].filter((status) => !possible.has(status as never))).toEqual([]);
  }
});
