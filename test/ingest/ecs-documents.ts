/*
 * Documents as the field references of ECS and of the Beats describe them (elastic.co/guide/en/ecs,
 * elastic.co/guide/en/beats), and as the modules and pipelines for Zeek and Suricata produce them.
 */

type Tree = { readonly [name: string]: unknown };

export const at = '2026-01-02T03:04:05.678Z';

/** Fields that an agent adds to each document. */
const agent = {
  agent: { id: 'a1', name: 'shipper', type: 'filebeat', version: '8.15.0' },
  ecs: { version: '8.11.0' },
  host: { name: 'tap-1', ip: ['192.0.2.99'] },
  tags: ['forwarded'],
};

const client = { ip: '10.0.0.5', address: '10.0.0.5', port: 50001 };

/** A flow report from Packetbeat, at the end of the flow. */
export const flow = {
  ...agent,
  '@timestamp': '2026-01-02T03:04:20.000Z',
  type: 'flow',
  event: {
    action: 'network_flow',
    category: ['network'],
    dataset: 'flow',
    duration: 1_500_250_400,
    end: '2026-01-02T03:04:07.178Z',
    kind: 'event',
    start: at,
    type: ['connection', 'end'],
  },
  flow: { final: true, id: 'EQQA' },
  network: { bytes: 1500, packets: 12, transport: 'tcp', type: 'ipv4', community_id: '1:x' },
  source: { ...client, bytes: 500, packets: 5, mac: '02-42-AC-13-00-07' },
  destination: { ip: '203.0.113.7', port: 443, bytes: 1000, packets: 7 },
};

/** A DNS transaction reported by Packetbeat. */
export const dns = {
  ...agent,
  '@timestamp': at,
  type: 'dns',
  method: 'QUERY',
  query: 'class IN, type A, www.example.org',
  status: 'OK',
  client: { ip: '10.0.0.5', port: 50001, bytes: 33 },
  server: { ip: '10.0.0.1', port: 53, bytes: 99 },
  source: { ip: '10.0.0.5', port: 50001, bytes: 33 },
  destination: { ip: '10.0.0.1', port: 53, bytes: 99 },
  event: {
    category: ['network'],
    dataset: 'dns',
    duration: 12_345_678,
    kind: 'event',
    start: at,
    end: at,
    type: ['connection', 'protocol'],
  },
  network: { bytes: 132, direction: 'egress', protocol: 'dns', transport: 'udp', type: 'ipv4' },
  dns: {
    id: 4711,
    type: 'answer',
    op_code: 'QUERY',
    question: { name: 'www.example.org', type: 'A', class: 'IN', registered_domain: 'example.org' },
    response_code: 'NOERROR',
    header_flags: ['RD', 'RA'],
    answers_count: 2,
    answers: [
      { name: 'www.example.org', type: 'CNAME', class: 'IN', data: 'web.example.org', ttl: '300' },
      { name: 'web.example.org', type: 'A', class: 'IN', data: '192.0.2.80', ttl: 60 },
    ],
    resolved_ip: ['192.0.2.80'],
  },
};

/** An HTTP transaction in a connection, reported by Packetbeat. */
export const http = {
  ...agent,
  '@timestamp': at,
  type: 'http',
  event: { category: ['network'], dataset: 'http', kind: 'event', type: ['connection', 'protocol'] },
  network: { protocol: 'http', transport: 'tcp', bytes: 10 },
  source: client,
  destination: { ip: '203.0.113.7', port: 80, domain: 'files.example' },
  http: { request: { method: 'get' }, response: { status_code: 200 }, version: '1.1' },
  url: { domain: 'files.example', original: '/a.exe', path: '/a.exe', full: 'http://files.example/a.exe' },
  user_agent: { original: 'curl/8' },
};

export const tls = {
  ...http,
  type: 'tls',
  http: undefined,
  url: undefined,
  tls: { client: { server_name: 's.example' }, established: true },
};

/** A line of conn.log; `ecsConn` is the same line as converted by Elastic's integration. */
export const zeekConn = {
  ts: 1767323045.678,
  uid: 'CAbc',
  'id.orig_h': '10.0.0.5',
  'id.orig_p': 50001,
  'id.resp_h': '203.0.113.7',
  'id.resp_p': 443,
  proto: 'tcp',
  service: 'ssl,-http',
  duration: 1.250001,
  conn_state: 'RSTO',
  local_orig: true,
  local_resp: false,
  missed_bytes: 3,
  history: 'ShADadR',
  orig_pkts: 5,
  orig_ip_bytes: 500,
  resp_pkts: 7,
  resp_ip_bytes: 1000,
  community_id: '1:abc',
  orig_l2_addr: '02:42:ac:13:00:07',
  vlan: 12,
};

const connection = {
  ...agent,
  event: {
    category: ['network'],
    dataset: 'zeek.connection',
    duration: 1_250_001_000,
    id: 'CAbc',
    kind: 'event',
    module: 'zeek',
    type: ['connection', 'info'],
  },
  network: {
    bytes: 1500,
    packets: 12,
    community_id: '1:abc',
    direction: 'outbound',
    protocol: 'ssl,-http',
    transport: 'tcp',
    vlan: { id: '12' },
  },
  source: { ...client, bytes: 500, packets: 5, mac: '02-42-AC-13-00-07' },
  destination: { address: '203.0.113.7', ip: '203.0.113.7', port: 443, bytes: 1000, packets: 7 },
  zeek: {
    session_id: 'CAbc',
    connection: {
      history: 'ShADadR',
      local_orig: true,
      local_resp: false,
      missed_bytes: 3,
      state: 'RSTO',
      state_message: 'Connection established, originator aborted (sent a RST).',
    },
  },
};

export const ecsConn = { '@timestamp': at, ...connection };

const { duration: _, ...eventOfModule } = connection.event;
/**
 * The line of `zeekConn` as converted by Filebeat's module, which leaves the time and the duration to a pipeline:
 * `@timestamp` is the time of reading the line.
 */
export const moduleConn = {
  ...connection,
  '@timestamp': '2026-01-02T09:09:09.999Z',
  event: eventOfModule,
  temp: { duration: 1.250001 },
  zeek: { ...connection.zeek, connection: { ...connection.zeek.connection, ts: 1767323045.678 } },
};

export const zeekDns = {
  ts: 1767323045.678,
  uid: 'CDns',
  'id.orig_h': '10.0.0.5',
  'id.orig_p': 50001,
  'id.resp_h': '10.0.0.1',
  'id.resp_p': 53,
  proto: 'udp',
  trans_id: 77,
  rtt: 0.012345,
  query: 'www.example.org',
  qclass: 1,
  qclass_name: 'C_INTERNET',
  qtype: 1,
  qtype_name: 'A',
  rcode: 0,
  rcode_name: 'NOERROR',
  AA: false,
  TC: false,
  RD: true,
  RA: true,
  answers: ['web.example.org', '192.0.2.80'],
  TTLs: [300, 60],
  rejected: false,
};

const { ts: _1, uid: _2, 'id.orig_h': _3, 'id.orig_p': _4, 'id.resp_h': _5, 'id.resp_p': _6, ...left } = zeekDns;
const { proto: _7, ...dnsLeft } = left;

export const ecsZeekDns = {
  ...agent,
  '@timestamp': at,
  event: { ...connection.event, dataset: 'zeek.dns', duration: 12_345_000, id: 'CDns' },
  network: { protocol: 'dns', transport: 'udp' },
  source: client,
  destination: { address: '10.0.0.1', ip: '10.0.0.1', port: 53 },
  dns: {
    type: 'answer',
    id: '77',
    header_flags: ['RD', 'RA'],
    question: { name: 'www.example.org', type: 'A', class: 'IN' },
    response_code: 'NOERROR',
    answers: [
      { data: 'web.example.org', ttl: 300 },
      { data: '192.0.2.80', ttl: 60 },
    ],
    resolved_ip: ['192.0.2.80'],
  },
  zeek: { session_id: 'CDns', dns: { ...dnsLeft, trans_id: '77' } },
};

export const zeekNotice = {
  ts: 1767323045.678,
  note: 'Scan::Port_Scan',
  msg: '10.0.0.5 scanned 20 ports of 203.0.113.7',
  sub: 'remote',
  src: '10.0.0.5',
  dst: '203.0.113.7',
  p: 22,
};

export const ecsNotice = {
  ...agent,
  '@timestamp': at,
  event: { category: ['intrusion_detection'], dataset: 'zeek.notice', kind: 'alert', type: ['info'] },
  source: { address: '10.0.0.5', ip: '10.0.0.5' },
  destination: { address: '203.0.113.7', ip: '203.0.113.7', port: 22 },
  rule: { name: 'Scan::Port_Scan', description: '10.0.0.5 scanned 20 ports of 203.0.113.7' },
  zeek: {
    notice: { note: 'Scan::Port_Scan', msg: '10.0.0.5 scanned 20 ports of 203.0.113.7', sub: 'remote' },
  },
};

const eve = {
  timestamp: '2026-01-02T03:04:09.000Z',
  flow_id: 904992230150281,
  src_ip: '10.0.0.5',
  src_port: 50001,
  dest_ip: '203.0.113.7',
  dest_port: 443,
  proto: 'TCP',
};

export const eveFlow = {
  ...eve,
  event_type: 'flow',
  app_proto: 'tls',
  flow: {
    pkts_toserver: 5,
    pkts_toclient: 7,
    bytes_toserver: 500,
    bytes_toclient: 1000,
    start: at,
    end: '2026-01-02T03:04:08.000Z',
    age: 3,
    state: 'closed',
    reason: 'timeout',
  },
  tcp: { tcp_flags: '1f', tcp_flags_ts: '1b', tcp_flags_tc: '1e', state: 'closed' },
};

const suricata = {
  ...agent,
  '@timestamp': '2026-01-02T03:04:09.000Z',
  source: client,
  destination: { address: '203.0.113.7', ip: '203.0.113.7', port: 443 },
};

export const ecsEveFlow = {
  ...suricata,
  event: {
    category: ['network'],
    dataset: 'suricata.eve',
    duration: 2_322_000_000,
    start: at,
    end: '2026-01-02T03:04:08.000Z',
    kind: 'event',
    type: ['connection', 'end'],
  },
  network: { bytes: 1500, packets: 12, protocol: 'tls', transport: 'tcp' },
  source: { ...client, bytes: 500, packets: 5 },
  destination: { ...suricata.destination, bytes: 1000, packets: 7 },
  suricata: {
    eve: {
      event_type: 'flow',
      flow_id: '904992230150281',
      flow: { age: 3, state: 'closed', reason: 'timeout' },
      tcp: eveFlow.tcp,
    },
  },
};

export const eveAlert = {
  ...eve,
  event_type: 'alert',
  direction: 'to_server',
  alert: {
    action: 'blocked',
    gid: 1,
    signature_id: 2024833,
    rev: 3,
    signature: 'ET POLICY Lookup',
    category: 'Potential Corporate Privacy Violation',
    severity: 1,
    metadata: { mitre_technique_id: ['T1071'], signature_severity: ['Critical'] },
  },
  tls: { sni: 'l2.example' },
  app_proto: 'tls',
  flow: { pkts_toserver: 4, pkts_toclient: 3, bytes_toserver: 793, bytes_toclient: 343, start: at },
};

export const ecsAlert = {
  ...suricata,
  event: {
    category: ['network', 'intrusion_detection'],
    dataset: 'suricata.eve',
    kind: 'alert',
    severity: 1,
    start: at,
    type: ['denied'],
  },
  message: 'Potential Corporate Privacy Violation',
  network: { bytes: 1136, packets: 7, protocol: 'tls', transport: 'tcp' },
  rule: { category: 'Potential Corporate Privacy Violation', id: '2024833', name: 'ET POLICY Lookup' },
  source: { ...client, bytes: 793, packets: 4 },
  destination: { ...suricata.destination, bytes: 343, packets: 3, domain: 'l2.example' },
  threat: { technique: { id: 'T1071' } },
  tls: { client: { server_name: 'l2.example' } },
  suricata: {
    eve: {
      event_type: 'alert',
      flow_id: '904992230150281',
      direction: 'to_server',
      alert: { gid: 1, rev: 3, signature_severity: 'Critical' },
      flow: {},
      tls: { sni: 'l2.example' },
    },
  },
};

export const eveAnswer = {
  ...eve,
  event_type: 'dns',
  src_ip: '10.0.0.1',
  src_port: 53,
  dest_ip: '10.0.0.5',
  dest_port: 50001,
  proto: 'UDP',
  dns: {
    version: 2,
    type: 'answer',
    id: 77,
    flags: '8180',
    rcode: 'NXDOMAIN',
    rrname: 'www.example.org',
    rrtype: 'A',
    answers: [{ rrname: 'www.example.org', rrtype: 'A', ttl: 60, rdata: '192.0.2.80' }],
  },
};

export const ecsEveAnswer = {
  ...suricata,
  event: { category: ['network'], dataset: 'suricata.eve', kind: 'event', type: ['protocol'] },
  network: { protocol: 'dns', transport: 'udp' },
  source: { address: '10.0.0.1', ip: '10.0.0.1', port: 53 },
  destination: client,
  dns: {
    type: 'answer',
    id: '77',
    header_flags: ['RD', 'RA'],
    question: { name: 'www.example.org', type: 'A' },
    response_code: 'NXDOMAIN',
    answers: [{ name: 'www.example.org', type: 'A', ttl: 60, data: '192.0.2.80' }],
    resolved_ip: ['192.0.2.80'],
  },
  suricata: {
    eve: {
      event_type: 'dns',
      flow_id: '904992230150281',
      dns: { type: 'answer', id: 77, rcode: 'NXDOMAIN', rrname: 'www.example.org', rrtype: 'A' },
    },
  },
};

/** Returns an EVE record as sent by Filebeat's module, which moves the endpoints and keeps the line. */
export const moduleEve = (record: Tree): Tree => {
  const { timestamp, src_ip, src_port, dest_ip, dest_port, proto, flow_id, ...rest } = record;
  return {
    ...agent,
    '@timestamp': timestamp,
    event: { dataset: 'suricata.eve', module: 'suricata', original: JSON.stringify(record) },
    source: { address: src_ip, ip: src_ip, port: src_port },
    destination: { address: dest_ip, ip: dest_ip, port: dest_port },
    network: { transport: proto },
    suricata: { eve: { ...rest, flow_id: String(flow_id) } },
  };
};

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the document with dotted names instead of objects from this depth on. */
export function dotted(document: Tree, depth = 0): Tree {
  return Object.fromEntries(
    Object.entries(document).flatMap(([name, value]): [string, unknown][] => {
      if (!isTree(value)) return [[name, value]];
      if (depth > 0) return [[name, dotted(value, depth - 1)]];
      return Object.entries(dotted(value)).map(([inner, one]) => [`${name}.${inner}`, one]);
    }),
  );
}
