/** Known-bad hosts that clients request and known-bad DNS answers, in records of Zeek, Suricata and ECS. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Alert } from '../../src/contract/resources/alert.ts';
import { adminOf, openService, type Service } from './service.ts';

let service: Service;
let token: string;
let list: string;
const start = Date.UTC(2026, 1, 2);
const iso = new Date(start).toISOString().replace('Z', '000+0000');

const zeek = (log: string, n: number, more: object) => ({
  _path: log,
  ts: start / 1000,
  uid: `C${n}`,
  'id.orig_h': `10.3.0.${n}`,
  'id.orig_p': 50_000,
  'id.resp_h': '203.0.113.80',
  'id.resp_p': log === 'ssl' ? 443 : 80,
  ...more,
});
const eve = (event_type: string, n: number, more: object) => ({
  event_type,
  timestamp: iso,
  flow_id: n,
  src_ip: `10.3.0.${n}`,
  src_port: 50_000,
  dest_ip: '203.0.113.80',
  dest_port: 443,
  proto: 'TCP',
  ...more,
});
const eveAlert = (n: number, more: object) =>
  eve('alert', n, {
    direction: 'to_server',
    alert: { signature_id: 9_000_000 + n, rev: 1, signature: 'TEST', category: '', severity: 3 },
    ...more,
  });
/** Returns the endpoints of a packet from the server to a client. */
const answer = (n: number) => ({
  src_ip: '203.0.113.80',
  src_port: 80,
  dest_ip: `10.3.0.${n}`,
  dest_port: 50_000,
});
const ecs = (n: number, more: object, dst = '203.0.113.80') => ({
  '@timestamp': new Date(start).toISOString(),
  event: { kind: 'event', category: ['network'], type: ['connection', 'protocol'] },
  source: { ip: `10.3.0.${n}`, port: 50_000 },
  destination: { ip: dst, port: 80 },
  network: { transport: 'tcp' },
  ...more,
});
const ecsZeek = (log: string, n: number, more: object, dst?: string) => ({
  ...ecs(n, more, dst),
  event: { kind: 'event', category: ['network'], dataset: `zeek.${log}` },
});
const zeekDns = (n: number, answers: string[], TTLs: number[]) =>
  zeek('dns', n, {
    'id.resp_h': '10.3.0.53',
    'id.resp_p': 53,
    proto: 'udp',
    query: `ask${n}.example`,
    qtype_name: 'A',
    rcode: 0,
    rcode_name: 'NOERROR',
    answers,
    TTLs,
  });
const eveDns = (n: number, answers: object[]) =>
  eve('dns', n, {
    dest_ip: '10.3.0.53',
    dest_port: 53,
    proto: 'UDP',
    dns: {
      version: 2,
      type: 'answer',
      id: 1,
      rrname: `ask${n}.example`,
      rrtype: 'A',
      rcode: 'NOERROR',
      answers,
    },
  });

const bad = 'www.bad.example';
const cases: readonly (readonly [what: string, line: (n: number) => object, part?: string])[] = [
  ['Zeek ssl', (n) => zeek('ssl', n, { version: 'TLSv12', established: true, server_name: bad }), 'server_name'],
  [
    'Zeek ssl that does not name its log',
    (n) => ({ ...zeek('', n, { established: true, resumed: false, server_name: bad }), _path: undefined }),
    'server_name',
  ],
  ['Zeek http host', (n) => zeek('http', n, { host: bad, method: 'GET', uri: '/', status_code: 200 }), 'http_host'],
  ['Zeek http host with a port', (n) => zeek('http', n, { host: `${bad}:8080`, uri: '/' }), 'http_host'],
  [
    'Zeek http that does not name its log',
    (n) => ({
      ...zeek('', n, { trans_depth: 1, method: 'GET', request_body_len: 0, host: bad, uri: '/' }),
      _path: undefined,
    }),
    'http_host',
  ],
  [
    'Zeek http URL to a proxy',
    (n) => zeek('http', n, { 'id.resp_h': '10.3.9.9', host: 'x', uri: `http://${bad}/a` }),
    'http_host',
  ],
  [
    'Zeek http CONNECT',
    (n) => zeek('http', n, { 'id.resp_h': '10.3.9.9', method: 'CONNECT', uri: `${bad}:443` }),
    'http_host',
  ],
  [
    'Zeek http URL with an address to a proxy',
    (n) => zeek('http', n, { 'id.resp_h': '10.3.9.9', uri: 'http://198.51.100.66/a' }),
    'http_host',
  ],
  ['Zeek quic', (n) => zeek('quic', n, { client_initial_dcid: 'c0', server_name: bad }), 'server_name'],
  [
    'Zeek quic that does not name its log',
    (n) => ({ ...zeek('', n, { client_initial_dcid: 'c0', server_name: bad }), _path: undefined }),
    'server_name',
  ],
  ['EVE tls', (n) => eve('tls', n, { tls: { sni: bad, version: 'TLS 1.3' } }), 'server_name'],
  ['EVE quic', (n) => eve('quic', n, { proto: 'UDP', quic: { sni: bad } }), 'server_name'],
  ['EVE http host', (n) => eve('http', n, { http: { hostname: bad, url: '/', status: 200 } }), 'http_host'],
  [
    'EVE http URL to a proxy',
    (n) => eve('http', n, { dest_ip: '10.3.9.9', http: { hostname: 'x', url: `http://u@${bad}:80/a` } }),
    'http_host',
  ],
  ['EVE alert with an HTTP host', (n) => eveAlert(n, { http: { hostname: bad, url: '/' } }), 'http_host'],
  [
    'EVE alert with an HTTP URL to a proxy',
    (n) => eveAlert(n, { dest_ip: '10.3.9.9', http: { url: `http://${bad}/a`, http_method: 'GET' } }),
    'http_host',
  ],
  ['EVE alert with a TLS server name', (n) => eveAlert(n, { tls: { sni: bad } }), 'server_name'],
  [
    'EVE alert on a packet of the server',
    (n) => eveAlert(n, { ...answer(n), direction: 'to_client', http: { hostname: bad, status: 200 } }),
    'http_host',
  ],
  [
    'EVE fileinfo of a download',
    (n) => eve('fileinfo', n, { ...answer(n), http: { hostname: bad, http_method: 'GET', status: 200 } }),
    'http_host',
  ],
  [
    'EVE fileinfo of an upload',
    (n) => eve('fileinfo', n, { direction: 'to_server', http: { hostname: bad, http_method: 'POST' } }),
    'http_host',
  ],
  ['ECS tls', (n) => ecs(n, { tls: { established: true, client: { server_name: bad } } }), 'server_name'],
  [
    'ECS http domain',
    (n) => ecs(n, { http: { request: { method: 'GET' } }, url: { domain: bad, path: '/' } }),
    'http_host',
  ],
  [
    'ECS http destination domain',
    (n) => ecs(n, { http: { request: { method: 'GET' } }, destination: { ip: '203.0.113.80', domain: bad } }),
    'http_host',
  ],
  [
    'ECS http URL to a proxy',
    (n) => ecs(n, { http: {}, url: { domain: 'x', original: `http://${bad}/a` } }, '10.3.9.9'),
    'http_host',
  ],
  [
    'ECS http CONNECT',
    (n) => ecs(n, { http: { request: { method: 'CONNECT' } }, url: { original: `${bad}:443` } }, '10.3.9.9'),
    'http_host',
  ],
  ['ECS Zeek ssl', (n) => ecsZeek('ssl', n, { tls: { client: { server_name: bad } } }), 'server_name'],
  ['ECS Zeek http', (n) => ecsZeek('http', n, { url: { domain: bad, original: '/' } }), 'http_host'],
  ['ECS Zeek quic', (n) => ecsZeek('quic', n, { zeek: { quic: { server_name: bad } } }), 'server_name'],
  [
    'ECS Suricata http',
    (n) => ({
      ...ecs(n, { url: { domain: bad, original: '/' } }),
      suricata: { eve: { event_type: 'http', flow_id: `${n}` } },
    }),
    'http_host',
  ],
  ['Zeek dns answer', (n) => zeekDns(n, ['198.51.100.66'], [60]), 'answer'],
  ['Zeek dns alias', (n) => zeekDns(n, [bad, '192.0.2.7'], [60, 60]), 'answer'],
  [
    'EVE dns answer',
    (n) => eveDns(n, [{ rrname: `ask${n}.example`, rrtype: 'A', ttl: 60, rdata: '198.51.100.66' }]),
    'answer',
  ],
  ['EVE dns alias', (n) => eveDns(n, [{ rrname: `ask${n}.example`, rrtype: 'CNAME', ttl: 60, rdata: bad }]), 'answer'],
  ['a good name', (n) => zeek('ssl', n, { established: true, server_name: 'good.example' })],
  [
    'a TXT answer that contains the name',
    (n) => eveDns(n, [{ rrname: `ask${n}.example`, rrtype: 'TXT', ttl: 60, rdata: bad }]),
  ],
  ['a URL query that contains the name', (n) => zeek('http', n, { host: 'good.example', uri: `/?u=http://${bad}/` })],
  ['a listed home address', (n) => zeek('http', n, { 'id.resp_h': '10.3.9.9', host: '10.3.9.66', uri: '/' })],
  [
    'a request from outside to a home host',
    (n) => zeek('http', n, { 'id.orig_h': '203.0.113.81', 'id.resp_h': `10.3.0.${n}`, host: bad, uri: '/' }),
  ],
  [
    'a TLS handshake from outside with a home host',
    (n) => eve('tls', n, { src_ip: '203.0.113.81', dest_ip: `10.3.0.${n}`, tls: { sni: bad } }),
  ],
  [
    'an EVE alert on a request from outside to a home host',
    (n) => eveAlert(n, { src_ip: '203.0.113.81', dest_ip: `10.3.0.${n}`, http: { hostname: bad } }),
  ],
  [
    'an EVE fileinfo of a download from a home host',
    (n) =>
      eve('fileinfo', n, {
        dest_ip: '203.0.113.81',
        src_port: 80,
        http: { hostname: bad, http_method: 'GET' },
      }),
  ],
  ['a record without a time', (n) => zeek('http', n, { ts: undefined, host: 'good.example', uri: '/' })],
  ['a record without a destination address', (n) => zeek('http', n, { 'id.resp_h': undefined, host: bad, uri: '/' })],
];

beforeAll(async () => {
  service = await openService();
  token = await adminOf(service);
  const json = { name: 'Bad', severity: 'high', content: 'bad.example\n198.51.100.66\n10.3.9.66' };
  const made = await service.call('createIntel', 'POST /api/v1/intel', { token, json });
  expect(made.status).toBe(201);
  list = (made.body as { data: { id: string } }).data.id;
  const text = cases.map(([, line], n) => JSON.stringify(line(n + 1))).join('\n');
  const headers = { 'content-type': 'application/x-ndjson' };
  const { body } = await service.call('ingest', 'POST /api/v1/ingest', { token, text, headers });
  expect(body).toMatchObject({ data: { rejected: 0 } });
});
afterAll(() => service.close());

async function alerts(): Promise<Alert[]> {
  const { body } = await service.call('listAlerts', `GET /api/v1/alerts?per_page=100&rule_id=intel.${list}`, {
    token,
  });
  return (body as { data: { attributes: Alert }[] }).data.map(({ attributes }) => attributes);
}

describe('alerts of an intelligence list', () => {
  let found: ReadonlyMap<string | undefined, Alert>;
  beforeAll(async () => {
    const wanted = cases.filter(([, , part]) => part !== undefined).length;
    await vi.waitFor(async () => expect((await alerts()).length).toBeGreaterThanOrEqual(wanted), 60_000);
    found = new Map((await alerts()).map((alert) => [alert.src_ip, alert]));
  });

  test.each(cases.map(([what, , part], n) => ({ what, part, src: `10.3.0.${n + 1}` })))(
    'name the matching part of $what: $part (undefined: no alert)',
    ({ part, src }) => {
      const alert = found.get(src);
      expect((alert?.evidence as { part?: string } | undefined)?.part).toBe(part);
      if (alert === undefined) return;
      expect(alert).toMatchObject({ severity: 'high', rule_source: 'intel', count: 1 });
      expect(alert.event_ids.length).toBe(part === 'answer' ? 1 : 0);
    },
  );

  test('are counted as hits of the list', async () => {
    const wanted = cases.filter(([, , part]) => part !== undefined).length;
    await vi.waitFor(async () => {
      const { body } = await service.call('getIntel', `GET /api/v1/intel/${list}`, { token });
      expect(body).toMatchObject({ data: { attributes: { hits: wanted } } });
    }, 60_000);
  });
});
