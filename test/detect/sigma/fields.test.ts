import { describe, expect, it } from 'vitest';
import { resolveField } from '../../../src/detect/sigma/fields/field.ts';
import { route } from '../../../src/detect/sigma/logsource.ts';

const conn = {
  'id.orig_h': '10.0.0.1',
  'id.resp_p': 443,
  service: 'ssl,http',
  conn_state: 'S0',
  duration: 2,
};
const zeekDns = {
  query: 'a.b.Example.co.uk',
  qtype_name: 'TXT',
  qtype: 16,
  answers: ['x'],
  TTLs: [5],
  rcode: 3,
  rcode_name: 'NXDOMAIN',
  AA: true,
  RD: true,
};
const http = {
  host: 'h.example:8080',
  uri: '/a/b.tar.gz?c=d',
  user_agent: 'ua',
  method: 'GET',
  status_code: 200,
};
const eveHttp = {
  src_ip: '10.0.0.1',
  http: {
    hostname: 'h.example',
    url: 'http://h.example/x.exe',
    http_user_agent: 'ua',
    http_method: 'PUT',
    status: 404,
  },
};
/** An ECS document, as parsed by ingest. */
const ecs = {
  source: { ip: '10.0.0.1', bytes: 60, geo: { country_iso_code: 'NO' } },
  destination: { ip: '192.0.2.1', port: 443 },
  network: { protocol: 'tls' },
  event: { duration: 1_500_000_000 },
  flow: { id: 'F' },
  dns: {
    question: { name: 'a.b.example.org', type: 'A' },
    answers: [{ data: '192.0.2.1' }],
    response_code: 'NXDOMAIN',
    header_flags: ['RD', 'RA'],
  },
  http: { request: { method: 'get' } },
  url: { domain: 'h.example', original: '/a/b.exe?c=d' },
  tls: { client: { server_name: 's.example' } },
};
const names = ['zeek.dns', 'suricata.dns', 'ecs.dns', 'candor.dns_event'];
const request = {
  src_ip: '10.0.0.5',
  src_port: 5000,
  dest_ip: '10.0.0.1',
  dest_port: 53,
  dns: { type: 'request', queries: [{ rrname: 'a.example', rrtype: 'A' }] },
};
const response = {
  src_ip: '10.0.0.1',
  src_port: 53,
  dest_ip: '10.0.0.5',
  dest_port: 5000,
  dns: {
    type: 'response',
    rcode: 'NOERROR',
    queries: [{ rrname: 'a.example', rrtype: 'A' }],
    answers: [
      { rdata: '192.0.2.1', ttl: 3 },
      { rdata: '192.0.2.2', ttl: 4 },
    ],
  },
};
const own = {
  src_ip: '10.0.0.1',
  duration_ms: 1500,
  app_protocol: 'ssl',
  answers: [{ data: '192.0.2.1', ttl: 3 }],
  query: 'a.example.org',
  qtype: 'A',
  rcode: 0,
  rcode_name: 'NOERROR',
  conn_state: 'SF',
  state: 'closed',
};

describe('a field is found by all its names:', () => {
  it.each<[string, string, object, unknown]>([
    ['zeek.conn', 'id.orig_h', conn, '10.0.0.1'],
    ['zeek.conn', 'id_orig_h', conn, '10.0.0.1'],
    ['zeek.conn', 'id.orig_h', { id_orig_h: '10.0.0.2' }, '10.0.0.2'],
    ['zeek.conn', 'src_ip', { id: { orig_h: '10.0.0.3' } }, '10.0.0.3'],
    ['zeek.conn', 'source.ip', conn, '10.0.0.1'],
    ['zeek.conn', 'SourceIp', conn, '10.0.0.1'],
    ['zeek.conn', 'destination.port', conn, 443],
    ['zeek.conn', 'dst_port', conn, 443],
    ['zeek.open_conn', 'network.state', conn, 'S0'],
    ['zeek.conn', 'service', conn, ['ssl,http', 'ssl', 'http']],
    ['zeek.conn', 'network.protocol', conn, ['ssl,http', 'ssl', 'http']],
    ['zeek.conn', 'event.duration', conn, 2],
    ['zeek.dns', 'dns.question.name', zeekDns, 'a.b.Example.co.uk'],
    ['zeek.dns', 'QueryName', zeekDns, 'a.b.Example.co.uk'],
    ['zeek.dns', 'record_type', zeekDns, 'TXT'],
    ['zeek.dns', 'qtype', zeekDns, 16],
    ['zeek.dns', 'answer', zeekDns, ['x']],
    ['zeek.dns', 'ttl', zeekDns, [5]],
    ['zeek.dns', 'dns.response.code', zeekDns, ['NXDOMAIN', 3]],
    ['zeek.dns', 'parent_domain', zeekDns, 'example.co.uk'],
    ['zeek.dns', 'query_etld_plus_one', zeekDns, 'example.co.uk'],
    ['zeek.dns', 'subdomain', zeekDns, 'a.b'],
    ['zeek.dns', 'query_length', zeekDns, 17],
    ['zeek.dns', 'dns.header_flags', zeekDns, ['AA', 'RD']],
    ['zeek.http', 'host', http, 'h.example:8080'],
    ['zeek.http', 'cs-host', http, 'h.example'],
    ['zeek.http', 'c-uri', http, ['/a/b.tar.gz?c=d', 'http://h.example:8080/a/b.tar.gz?c=d']],
    ['zeek.http', 'url.original', http, '/a/b.tar.gz?c=d'],
    ['zeek.http', 'c-uri-extension', http, 'gz'],
    ['zeek.http', 'cs-uri-query', http, 'c=d'],
    ['zeek.http', 'url.path', http, '/a/b.tar.gz'],
    ['zeek.http', 'c-useragent', http, 'ua'],
    ['zeek.http', 'user_agent.original', http, 'ua'],
    ['zeek.http', 'sc-status', http, 200],
    ['zeek.x509', 'certificate.serial', { certificate: { serial: '8BB00EE' } }, '8BB00EE'],
    ['zeek.ssl', 'tls.client.server_name', { server_name: 'x' }, 'x'],
    ['suricata.http', 'cs-method', eveHttp, 'PUT'],
    ['suricata.http', 'url.full', eveHttp, 'http://h.example/x.exe'],
    ['suricata.http', 'url.extension', eveHttp, 'exe'],
    ['suricata.http', 'http.http_user_agent', eveHttp, 'ua'],
    ['suricata.http', 'sc-status', eveHttp, 404],
    ['suricata.dns', 'query', request, ['a.example']],
    ['suricata.dns', 'query', { dns: { rrname: 'b.example' } }, 'b.example'],
    ['suricata.dns', 'parent_domain', request, 'a.example'],
    ['suricata.dns', 'parent_domain', { dns: { rrname: 'a.example.com' } }, 'example.com'],
    ['suricata.dns', 'src_ip', request, '10.0.0.5'],
    ['suricata.dns', 'src_ip', response, '10.0.0.5'],
    ['suricata.dns', 'dst_port', response, 53],
    ['suricata.dns', 'answers', response, ['192.0.2.1', '192.0.2.2']],
    ['suricata.dns', 'dns.answers.rdata', response, ['192.0.2.1', '192.0.2.2']],
    ['suricata.dns', 'dns.response.code', response, 'NOERROR'],
    ['suricata.alert', 'alert.signature_id', { alert: { signature_id: 7 } }, 7],
    ['suricata.alert', 'action', { alert: { action: 'blocked' } }, 'blocked'],
    ['ecs.connection', 'source.ip', ecs, '10.0.0.1'],
    ['ecs.connection', 'id.orig_h', ecs, '10.0.0.1'],
    ['ecs.connection', 'src_ip', ecs, '10.0.0.1'],
    ['ecs.connection', 'dst_port', ecs, 443],
    ['ecs.connection', 'service', ecs, 'tls'],
    ['ecs.connection', 'orig_ip_bytes', ecs, 60],
    ['ecs.connection', 'duration', ecs, 1.5],
    ['ecs.connection', 'uid', ecs, 'F'],
    ['ecs.connection', 'network.type', ecs, 'ipv4'],
    ['ecs.connection', 'source.geo.country_iso_code', ecs, 'NO'],
    ['ecs.dns', 'query', ecs, 'a.b.example.org'],
    ['ecs.dns', 'dns.question.name', ecs, 'a.b.example.org'],
    ['ecs.dns', 'parent_domain', ecs, 'example.org'],
    ['ecs.dns', 'query_length', ecs, 15],
    ['ecs.dns', 'answers', ecs, ['192.0.2.1']],
    ['ecs.dns', 'rcode_name', ecs, 'NXDOMAIN'],
    ['ecs.dns', 'record_type', ecs, 'A'],
    ['ecs.dns', 'RD', ecs, true],
    ['ecs.dns', 'AA', ecs, false],
    ['ecs.http', 'c-uri', ecs, ['/a/b.exe?c=d', 'http://h.example/a/b.exe?c=d']],
    ['ecs.http', 'url.path', ecs, '/a/b.exe'],
    ['ecs.http', 'cs-method', ecs, 'get'],
    ['ecs.http', 'host', ecs, 'h.example'],
    ['ecs.tls', 'server_name', ecs, 's.example'],
    ['candor.network_event', 'id.orig_h', own, '10.0.0.1'],
    ['candor.network_event', 'event.duration', own, 1.5],
    ['candor.network_event', 'state', own, 'closed'],
    ['candor.network_event', 'conn_state', own, 'SF'],
    ['candor.dns_event', 'answers', own, ['192.0.2.1']],
    ['candor.dns_event', 'dns.answers.ttl', own, [3]],
    ['candor.dns_event', 'parent_domain', own, 'example.org'],
    ['candor.dns_event', 'record_type', own, 'A'],
  ])('in records of %s: %s', (kind, name, record, expected) => {
    const { read, known } = resolveField(kind, name);
    expect(read(record as Record<string, unknown>)).toEqual(expected);
    expect(known).toBe(true);
  });
});

it.each([
  ['zeek.dns', 'Image'],
  ['zeek.conn', 'query'],
  ['zeek.x509', 'src_ip'],
  ['suricata.flow', 'query'],
  ['suricata.dns', 'user_agent'],
  ['suricata.tls', 'http.url'],
  ['candor.dns_event', 'Z'],
  ['ecs.connection', 'orig_bytes'],
  ['ecs.tls', 'validation_status'],
  ['ecs.dns', 'certificate.key_type'],
  ['candor.network_event', 'query'],
])('records of %s do not have the field %s', (kind, name) => {
  expect(resolveField(kind, name).known).toBe(false);
});

it('a log of a custom script may have any field', () => {
  const { read, known } = resolveField('zeek.my_log', 'my.field');
  expect([read({ my: { field: 1 } }), read({ my_field: 2 }), known]).toEqual([1, 2, true]);
});

describe('log sources', () => {
  it.each([
    [{ category: 'dns' }, names, []],
    [{ category: 'network', service: 'dns' }, names, []],
    [
      { category: 'network', service: 'connection' },
      ['zeek.conn', 'zeek.open_conn', 'zeek.conn_long', 'suricata.flow', 'ecs.connection', 'candor.network_event'],
      [],
    ],
    [{ category: 'proxy' }, ['zeek.http', 'suricata.http', 'ecs.http'], []],
    [{ category: 'webserver' }, ['zeek.http', 'suricata.http', 'ecs.http'], []],
    [{ product: 'zeek', service: 'dns' }, ['zeek.dns'], ['candor.dns_event', 'ecs.dns']],
    [{ product: 'zeek', service: 'smb_files' }, ['zeek.smb_files'], []],
    [{ product: 'zeek', category: 'dns' }, ['zeek.dns'], ['candor.dns_event', 'ecs.dns']],
    [{ product: 'suricata', service: 'tls' }, ['suricata.tls'], []],
    [{ product: 'windows', category: 'dns_query' }, [], names],
    [{ product: 'candor', service: 'network_event' }, ['candor.network_event'], []],
    [{ product: 'ecs', service: 'tls' }, ['ecs.tls'], []],
    [{ product: 'ecs' }, ['ecs.connection', 'ecs.dns', 'ecs.http', 'ecs.tls', 'ecs.other'], []],
  ])('select their kinds of record: %j', (logsource, kinds, standIns) => {
    expect(route(logsource)).toEqual({ kinds, standIns });
  });

  it.each([
    [{}, /has no category, product or service/],
    [{ product: 'windows', category: 'process_creation' }, /'windows'/],
    [{ product: 'cisco', service: 'aaa' }, /'cisco'/],
    [{ category: 'antivirus' }, /category 'antivirus'/],
    [{ category: 'network', service: 'carrier-pigeon' }, /service 'carrier-pigeon'/],
    [{ product: 'zeek', service: 'http', category: 'dns' }, /of 'zeek'/],
  ])('that are empty or that the service does not support are rejected: %j', (logsource, reason) => {
    expect(route(logsource)).toEqual({ reason: expect.stringMatching(reason) });
  });
});
