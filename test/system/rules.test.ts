/** Detection rules in the running service: from a text to an alert. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mulberry32 } from '../../bench/conn-records.ts';
import { login, type Service, startService, tokenFor } from '../../scripts/service.ts';
import type { OperationId } from '../../src/contract/routes.ts';
import { type Answer, call, failure, type Item, listAll, ndjson, type Page, type Request, send } from './call.ts';
import { ruleSearches } from './rule-searches.ts';

let dataDir: string;
let service: Service;
let admin: string;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'candor-rules-'));
  await begin();
});
afterAll(async () => {
  await service.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

async function begin(): Promise<void> {
  const env = {
    CANDOR_THREADS_INGEST: '2',
    CANDOR_THREADS_ANALYTICS: '2',
    CANDOR_NETWORK_HOME: '10.0.0.0/8,203.0.113.128/25',
    CANDOR_DETECTION_PLACEHOLDERS: '{"kiosks": ["10.0.0.66", "10.0.66.*"]}',
  };
  service = await startService({ dataDir, env });
  admin = await login(service);
}

const ask = (operation: OperationId, request: Request = {}): Promise<Answer> =>
  call(service, operation, { token: admin, ...request });

async function ok<T>(operation: OperationId, request: Request = {}): Promise<T> {
  const { status, body } = await ask(operation, request);
  if (status >= 300) throw new Error(`${operation}: ${status} ${JSON.stringify(body)}`);
  return body as T;
}

const one = (answer: { data: Item }) => answer.data;
const ruleOf = async (id: string) =>
  one(await ok<{ data: Item }>('getRule', { params: [id] })).attributes as Record<string, unknown>;
const alertsOf = async (rule: string) => listAll(service, 'listAlerts', admin, `rule_id=${rule}`);
const lines = (...records: object[]) => records.map((record) => JSON.stringify(record)).join('\n');
const at = 1_763_700_000;

const dns = (query: string, more: object = {}) => ({
  _path: 'dns',
  ts: at,
  uid: 'C1',
  'id.orig_h': '10.0.0.7',
  'id.orig_p': 5353,
  'id.resp_h': '192.0.2.53',
  'id.resp_p': 53,
  proto: 'udp',
  trans_id: 7,
  query,
  ...more,
});
const http = (more: object = {}) => ({
  ts: at,
  uid: 'C2',
  'id.orig_h': '10.0.0.8',
  'id.orig_p': 40_000,
  'id.resp_h': '198.51.100.9',
  'id.resp_p': 80,
  trans_depth: 1,
  method: 'GET',
  host: 'files.example.org',
  uri: '/',
  request_body_len: 0,
  response_body_len: 0,
  ...more,
});
const ssh = (n: number, target = '10.0.0.22', ok = false) => ({
  _path: 'ssh',
  ts: at + n,
  uid: `S${n}`,
  'id.orig_h': '203.0.113.5',
  'id.orig_p': 50_000 + n,
  'id.resp_h': target,
  'id.resp_p': 22,
  version: 2,
  auth_success: ok,
  auth_attempts: 1,
});
const guessing = '4b7c9e2d-5f1a-4c3b-8e6d-1a2b3c4d5e55';

const source = (id: string, more = '') => `title: A name that we look for
id: ${id}
status: test
tags:
  - attack.t1071.004
  - attack.command-and-control
logsource:
  category: dns
detection:
  selection:
    query|endswith: '.evil-${id.slice(0, 4)}.example'
  condition: selection
level: high
${more}`;
const ids = {
  posted: 'aaaa0000-0000-4000-8000-000000000001',
  disabled: 'bbbb0000-0000-4000-8000-000000000002',
  filed: 'cccc0000-0000-4000-8000-000000000003',
};

describe('a rule', () => {
  test('that is built-in matches a record that is not stored', async () => {
    const { data } = await ok<Page>('listRules', { query: 'origin=shipped&sort=title&per_page=100' });
    expect(data.length).toBeGreaterThanOrEqual(5);
    expect(data.filter(({ attributes }) => (attributes.errors as string[]).length > 0)).toEqual([]);
    expect(await send(service, admin, lines(http({ username: 'anna' }), http()))).toMatchObject({
      ignored: 2,
    });
    const [alert, ...others] = await alertsOf('6f0b1d0a-3b0e-4d0c-9a53-4f2f0c6c7a11');
    expect(others).toEqual([]);
    expect(alert!.attributes).toMatchObject({
      rule_source: 'sigma',
      severity: 'medium',
      src_ip: '10.0.0.8',
      dst_ip: '198.51.100.9',
      dst_port: 80,
      domain: 'files.example.org',
      count: 1,
      event_ids: [],
      mitre: { tactics: ['TA0006'], techniques: ['T1040'] },
      first_seen: new Date(at * 1000).toISOString(),
    });
  });

  test('that was created raises an alert that names its event, and counts its hits', async () => {
    const posted = await ask('createRule', { json: { source: source(ids.posted) } });
    expect(posted.status).toBe(201);
    expect(posted.headers.get('location')).toBe(`/api/v1/rules/${ids.posted}`);
    await send(service, admin, lines(dns('www.example.org'), dns('c2.evil-aaaa.example')));
    const [alert] = await alertsOf(ids.posted);
    expect(alert!.attributes).toMatchObject({
      title: 'A name that we look for',
      severity: 'high',
      domain: 'c2.evil-aaaa.example',
      transport: 'udp',
      mitre: { tactics: ['TA0011'], techniques: ['T1071.004'] },
    });
    const [event] = alert!.attributes.event_ids as string[];
    const found = await ok<{ data: Item }>('getDnsEvent', { params: [event!] });
    expect(found.data.attributes).toMatchObject({ query: 'c2.evil-aaaa.example' });
    expect(await ruleOf(ids.posted)).toMatchObject({ hits: 1, errors: [], origin: 'api', enabled: true });
  });

  test('without an id is identified by the id of the API, including in alerts and after a change of its title', async () => {
    const text = source(ids.posted)
      .replace(/^id: .*\n/m, '')
      .replace("'.evil-aaaa.example'", "'.unnamed.example'");
    const made = await ok<{ data: Item }>('createRule', { json: { source: text } });
    const { id } = one(made);
    await send(service, admin, lines(dns('a.unnamed.example')));
    const renamed = text.replace('A name that we look for', 'Another title');
    await ok('updateRule', { params: [id], json: { source: renamed } });
    await send(service, admin, lines(dns('b.unnamed.example')));
    const alerts = await alertsOf(id);
    expect(alerts.map(({ attributes }) => attributes.count)).toEqual([2]);
    expect(alerts[0]!.attributes).toMatchObject({ evidence: { query: 'b.unnamed.example' } });
    expect(await ruleOf(id)).toMatchObject({ hits: 2, title: 'Another title' });
  });

  test('that is disabled does not match, and matches again once enabled', async () => {
    await ok('createRule', { json: { source: source(ids.disabled) } });
    const change = (enabled: boolean) => ok('updateRule', { params: [ids.disabled], json: { enabled } });
    await change(false);
    await send(service, admin, lines(dns('a.evil-bbbb.example')));
    expect(await alertsOf(ids.disabled)).toEqual([]);
    await change(true);
    await send(service, admin, lines(dns('a.evil-bbbb.example')));
    expect(await alertsOf(ids.disabled)).toHaveLength(1);
    expect(await ruleOf(ids.disabled)).toMatchObject({ version: 3 });
    const shipped = await ask('deleteRule', { params: ['6f0b1d0a-3b0e-4d0c-9a53-4f2f0c6c7a11'] });
    expect(failure(shipped)[1]).toBe('CONFLICT');
  });

  test('that is invalid is rejected with its line and field', async () => {
    const text = source('dddd0000-0000-4000-8000-000000000004').replace('condition: selection', 'condition: missing');
    const refused = await ask('createRule', { json: { source: text } });
    expect(failure(refused)).toEqual([400, 'INVALID_REQUEST', 'source']);
    const { details } = (refused.body as { error: { details: Record<string, unknown> } }).error;
    expect(details).toMatchObject({ rule_field: 'detection.condition', line: 12 });
    expect(failure(await ask('createRule', { json: { source: source(ids.posted) } }))[1]).toBe('CONFLICT');
  });

  test('is tested on history before it is stored', async () => {
    const text = source('eeee0000-0000-4000-8000-000000000005').replace('evil-eeee.example', 'example.org');
    const { data } = await ok<{ data: Record<string, unknown> }>('testRule', { json: { source: text } });
    expect(data).toMatchObject({ matched: 1, cut_short: false, answerable: true });
    const [match] = data.matches as { event_ids: string[]; domain: string }[];
    expect(match).toMatchObject({ domain: 'www.example.org' });
    await ok('getDnsEvent', { params: [match!.event_ids[0]!] });
    const unanswerable = {
      source: text.replace('category: dns', 'product: zeek\n  service: http').replace('query|', 'host|'),
    };
    expect(await ok('testRule', { json: unanswerable })).toMatchObject({
      data: { answerable: false, matched: 0 },
    });
    const valid = await ok<{ data: unknown }>('validateRule', { json: { source: `${text}---\ntitle: 3\n` } });
    expect(valid.data).toMatchObject({ valid: false, documents: 1 });
  });
});

test.each(ruleSearches)('a search for %s finds the built-in rule', async (term, title) => {
  const query = new URLSearchParams({ origin: 'shipped', per_page: '200', q: term });
  const { data } = await ok<Page>('listRules', { query });
  expect(data.map(({ attributes }) => attributes.title)).toContainEqual(expect.stringMatching(title));
});

describe('the folder of rules', () => {
  test('is read at SIGHUP and by an API call; errors name file, line and reason', async () => {
    mkdirSync(join(dataDir, 'rules/deeper'), { recursive: true });
    writeFileSync(join(dataDir, 'rules/deeper/good.yml'), source(ids.filed));
    const broken = `
title: Broken
logsource:
  category: dns
---
title: Of another sensor
logsource:
  product: cisco
detection: {s: {a: b}, condition: s}
---
title: No YAML
  logsource:
`;
    writeFileSync(join(dataDir, 'rules/bad.yaml'), broken);
    process.kill(service.pid, 'SIGHUP');
    await expect.poll(() => ask('getRule', { params: [ids.filed] }).then(({ status }) => status)).toBe(200);
    await send(service, admin, lines(dns('a.evil-cccc.example')));
    expect(await alertsOf(ids.filed)).toHaveLength(1);
    const { data } = await ok<Page>('listRules', { query: 'broken=true' });
    expect(data.map(({ attributes }) => attributes.errors).toSorted()).toEqual([
      [expect.stringMatching(/^bad\.yaml:12: is indented /)],
      [expect.stringMatching(/^bad\.yaml:2: must have exactly one of detection/)],
      [expect.stringMatching(/^bad\.yaml:7: logsource /)],
    ]);
    const before = await entries();
    const again = await ok<{ data: Record<string, unknown> }>('reloadRules');
    expect(again.data).toMatchObject({
      added: 0,
      removed: 0,
      changed: 0,
      broken: Array(3).fill(expect.stringContaining('bad.yaml')),
    });
    expect(await entries()).toEqual(before);
    rmSync(join(dataDir, 'rules/bad.yaml'));
    expect((await ok<{ data: object }>('reloadRules')).data).toMatchObject({ removed: 3, broken: [] });
    // Each call that changed a rule has an entry, which its audit record names. One call changed nothing.
    await expect
      .poll(async () => {
        const audit = await ok<Page>('listAuditRecords', {
          query: 'operation=reloadRules&operation=createRule',
        });
        return audit.data.flatMap(({ attributes: { outcome, entry_ids = [] } }) =>
          outcome === 'success' ? [(entry_ids as string[]).length] : [],
        );
      })
      .toEqual([1, 0, 1, 1, 1]);
    await expect
      .poll(async () => (await entries()).map((entry) => [entry.added_count, entry.removed_count]))
      .toContainEqual([0, 3]);
  });

  async function entries(): Promise<Record<string, unknown>[]> {
    let found: Item[] = [];
    await expect
      .poll(async () => {
        const { data } = await ok<Page>('listEntries', { query: 'kind=detection.reloaded&per_page=100' });
        found = [...data];
        return found.length > 0;
      })
      .toBe(true);
    return found.map(({ attributes }) => (attributes.entry as { data: Record<string, unknown> }).data);
  }
});

describe('a correlation', () => {
  test('counts across bodies, a restart and a kill, and rules persist', async () => {
    const failed = (from: number, count: number) =>
      send(service, admin, lines(...Array.from({ length: count }, (_, n) => ssh(from + n))));
    await failed(0, 9);
    await ok('updateRule', { params: [ids.filed], json: { enabled: false } });
    const version = async () => (await ok<{ data: { version: number } }>('reloadRules')).data.version;
    const before = await version();
    expect(await service.stop()).toBe(0);
    await begin();
    expect(await version()).toBe(before);
    expect(await ruleOf(ids.posted)).toMatchObject({ origin: 'api', hits: 0 });
    expect(await ruleOf(ids.filed)).toMatchObject({ origin: 'folder', file: 'deeper/good.yml', enabled: false });
    await failed(9, 5);
    await service.kill();
    await begin();
    await failed(14, 5);
    expect(await alertsOf(guessing)).toEqual([]);
    await failed(19, 1);
    const [alert] = await alertsOf(guessing);
    expect(alert!.attributes).toMatchObject({
      count: 1,
      severity: 'medium',
      src_ip: '203.0.113.5',
      dst_ip: '10.0.0.22',
      dst_port: 22,
      title: 'SSH brute force',
    });
    expect(alert!.attributes.description).toContain('20 events');
    expect(await ruleOf(guessing)).toMatchObject({ hits: 1, kind: 'correlation' });
    await service.kill();
    await begin();
    expect(await alertsOf(guessing)).toHaveLength(1);
    expect(await ruleOf(ids.filed)).toMatchObject({ enabled: false });
  });
});

describe('stored rules', () => {
  test('stay if the folder is missing, and are removed with their files or by an API call', async () => {
    // The folder is missing, as after a restore on another host: the rules that were read last stay.
    rmSync(join(dataDir, 'rules'), { recursive: true });
    expect((await ok<{ data: object }>('reloadRules')).data).toMatchObject({
      removed: 0,
      broken: [expect.stringContaining('is missing')],
    });
    expect(await ruleOf(ids.filed)).toMatchObject({ enabled: false });
    mkdirSync(join(dataDir, 'rules'));
    expect((await ok<{ data: object }>('reloadRules')).data).toMatchObject({ removed: 1, broken: [] });
    await ok('deleteRule', { params: [ids.posted] });
    expect((await ask('getRule', { params: [ids.posted] })).status).toBe(404);
  });
});

describe('placeholders', () => {
  const socks = (from: string) => ({
    _path: 'socks',
    ts: at,
    uid: 'C3',
    'id.orig_h': from,
    'id.orig_p': 40_001,
    'id.resp_h': '198.51.100.9',
    'id.resp_p': 1080,
    version: 5,
    status: 'succeeded',
  });
  const ofKiosks = (list: string) =>
    source('ffff0000-0000-4000-8000-000000000006').replace(
      '  condition',
      `    src_ip|expand: '%${list}%'\n  condition`,
    );
  const sources = async (rule: string) => (await alertsOf(rule)).map(({ attributes }) => attributes.src_ip);

  test('for home networks have the networks of the site, in built-in rules', async () => {
    const { data } = await ok<Page>('listRules', { query: 'origin=shipped&sort=title&per_page=100&q=SOCKS' });
    const rule = data.find(({ attributes }) => attributes.title === 'Outbound SOCKS proxy')!.id;
    await send(service, admin, lines(socks('203.0.113.200'), socks('203.0.113.5'), socks('192.168.0.5')));
    expect(await sources(rule)).toEqual(['203.0.113.200']);
  });

  test('have the lists of the operator, live and on history; an unknown placeholder is rejected by name', async () => {
    const text = ofKiosks('kiosks');
    const id = 'ffff0000-0000-4000-8000-000000000006';
    expect((await ask('createRule', { json: { source: text } })).status).toBe(201);
    const from = (ip: string) => dns('a.evil-ffff.example', { 'id.orig_h': ip });
    await send(service, admin, lines(from('10.0.0.66'), from('10.0.66.9'), from('10.0.0.67')));
    expect((await sources(id)).toSorted()).toEqual(['10.0.0.66', '10.0.66.9']);
    expect(await ok('testRule', { json: { source: text } })).toMatchObject({ data: { matched: 2 } });
    const unknown = await ask('testRule', { json: { source: ofKiosks('printers') } });
    expect(failure(unknown)).toEqual([400, 'INVALID_REQUEST', 'source']);
    expect(unknown.body).toMatchObject({
      error: { details: { reason: expect.stringContaining("'%printers%', which is not defined") } },
    });
    await ok('deleteRule', { params: [id] });
  });
});

test('each role has only its permitted operations on rules', async () => {
  const viewer = await tokenFor(service, 'viewer');
  const analyst = await tokenFor(service, 'analyst');
  expect((await ask('listRules', { token: viewer })).status).toBe(200);
  expect((await ask('testRule', { token: viewer, json: { source: source(ids.posted) } })).status).toBe(403);
  expect((await ask('validateRule', { token: analyst, json: { source: source(ids.posted) } })).status).toBe(200);
  expect((await ask('createRule', { token: analyst, json: { source: source(ids.posted) } })).status).toBe(403);
  expect((await ask('ingest', { body: '', headers: ndjson })).status).toBe(200);
});

describe('slow rules', () => {
  /** Takes a second to parse and compile. */
  const fields = Array.from({ length: 6000 }, (_, n) => `    f${n}: 1`).join('\n');
  const long = `title: x\nlogsource: {category: dns}\ndetection:\n  s:\n${fields}\n  condition: s\n`;

  test.each(['validateRule', 'testRule'] as const)(
    'of %s delay neither queries nor ingest, and one principal has at most three in progress',
    async (operation) => {
      const ended: string[] = [];
      const testing = Array.from({ length: 5 }, async () => {
        const { status, body } = await ask(operation, { json: { source: long } });
        if (status !== 429) ended.push('test');
        return { status, code: (body as { error?: { code: string } }).error?.code };
      });
      await expect
        .poll(async () => {
          const { data } = await ok<{ data: Item }>('getStatus');
          const threads = data.attributes.threads as { name: string; pending: number }[];
          return threads.find(({ name }) => name === 'rules')?.pending;
        })
        .toBe(3);
      await send(service, admin, lines(http(), http({ uid: 'C3' })));
      ended.push('ingest');
      await ok('listNetworkEvents', { query: 'dst_port=22' });
      ended.push('query');
      const refused = (await Promise.all(testing)).filter(({ status }) => status === 429);
      expect(refused).toEqual(Array(2).fill({ status: 429, code: 'RATE_LIMITED' }));
      expect(ended).toEqual(['ingest', 'query', 'test', 'test', 'test']);
      const { data } = await ok<{ data: Item }>('getStatus');
      expect(data.attributes.limits_reached).toContainEqual(
        expect.objectContaining({ limit: 'maxRuleTasksPerPrincipal' }),
      );
    },
  );

  test('that take long on a record cause a warning in the status', async () => {
    const id = 'ffff0000-0000-4000-8000-000000000006';
    const slow = source(id)
      .replace('category: dns', 'category: proxy')
      .replace(/query\|endswith: .*/, "cs-uri|re: '([a-z]|[a-m0-9])*[a-m][a-z0-9]{60}[!_]'");
    await ok('createRule', { json: { source: slow } });
    const random = mulberry32(1);
    const letters = Array.from({ length: 4000 }, () => String.fromCharCode(97 + Math.floor(random() * 26)));
    const uri = letters.join('');
    await send(service, admin, lines(...Array.from({ length: 70 }, () => http({ uri }))));
    const { data } = await ok<{ data: Item }>('getStatus');
    expect(data.attributes.warnings).toEqual([
      expect.stringMatching(new RegExp(`^The detection rule ${id} took [\\d.]+ ms for one record`)),
    ]);
    await ok('deleteRule', { params: [id] });
  });
});
