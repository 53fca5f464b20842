import { describe, expect, it } from 'vitest';
import { limits } from '../../src/limits.ts';
import { events, hasShared, one, parse, sharedFile } from './ingesting.ts';

const flow = {
  timestamp: '2026-01-01T00:00:10.000000+0000',
  flow_id: 1,
  event_type: 'flow',
  src_ip: '10.0.0.5',
  src_port: 40000,
  dest_ip: '198.51.100.7',
  dest_port: 443,
  proto: 'TCP',
  app_proto: 'tls',
  flow: {
    pkts_toserver: 5,
    pkts_toclient: 4,
    bytes_toserver: 500,
    bytes_toclient: 400,
    start: '2026-01-01T01:00:00.000100+0100',
    end: '2026-01-01T01:00:01.500350+0100',
    age: 1,
    state: 'closed',
    reason: 'timeout',
  },
};
const alert = {
  ...flow,
  event_type: 'alert',
  alert: {
    action: 'allowed',
    gid: 1,
    signature_id: 2017318,
    rev: 4,
    signature: 'TEST rule',
    category: 'Test',
    severity: 2,
  },
  flow: {
    pkts_toserver: 5,
    pkts_toclient: 4,
    bytes_toserver: 500,
    bytes_toclient: 400,
    start: flow.flow.start,
  },
};

describe.skipIf(!hasShared)('the parser of real Suricata records', () => {
  it('parses DNS of formats 1, 2 and 3 exactly', () => {
    const parsed = parse(sharedFile('suricata/dns-v1-v2-v3.eve.ndjson'));
    expect(parsed.answer).toEqual({ accepted: 5, rejected: 0, ignored: 0, duplicates: 0, errors: [] });
    const ends = (src_port: number, connection_id: string) => ({
      src_ip: '10.0.0.5',
      src_port,
      dst_ip: '10.0.0.1',
      dst_port: 53,
      transport: 'udp',
      connection_id,
      source: 'suricata',
      severity: 'informational',
    });
    const chain = [
      { type: 'CNAME', ttl: 3597, data: 'suricata.io' },
      { type: 'A', ttl: 597, data: '35.212.0.44' },
    ];
    expect(events(parsed)).toEqual([
      {
        ...ends(53001, '1'),
        timestamp: '2019-01-01T00:00:00.000Z',
        kind: 'response',
        transaction_id: 4660,
        query: 'www.suricata.io',
        qtype: 'CNAME',
        rcode: 0,
        rcode_name: 'NOERROR',
        answers: [{ type: 'CNAME', ttl: 3597, data: 'suricata.io' }],
        rejected: false,
      },
      {
        ...ends(53002, '2'),
        timestamp: '2024-01-01T00:00:00.000Z',
        kind: 'query',
        transaction_id: 0,
        query: 'www.suricata.io',
        qtype: 'A',
      },
      {
        ...ends(53002, '2'),
        timestamp: '2024-01-01T00:00:00.010Z',
        kind: 'response',
        transaction_id: 0,
        query: 'www.suricata.io',
        qtype: 'A',
        rcode: 0,
        rcode_name: 'NOERROR',
        answers: chain,
        authoritative: false,
        truncated: false,
        recursion_desired: true,
        recursion_available: true,
        rejected: false,
      },
      {
        ...ends(53003, '3'),
        timestamp: '2026-01-01T00:00:00.000Z',
        kind: 'query',
        transaction_id: 0,
        query: 'www.suricata.io',
        qtype: 'A',
        authoritative: false,
        truncated: false,
        recursion_desired: true,
        recursion_available: false,
      },
      {
        ...ends(53003, '3'),
        timestamp: '2026-01-01T00:00:00.010Z',
        kind: 'response',
        transaction_id: 0,
        query: 'www.suricata.io',
        qtype: 'A',
        rcode: 0,
        rcode_name: 'NOERROR',
        answers: chain,
        authoritative: false,
        truncated: false,
        recursion_desired: true,
        recursion_available: true,
        rejected: false,
      },
    ]);
  });

  it('parses one record of each type: alert (without the direction of its flow), dns and flow are stored, other types are ignored', () => {
    const parsed = parse(sharedFile('suricata/one-of-each.eve.ndjson'));
    expect(parsed.answer).toEqual({ accepted: 3, rejected: 0, ignored: 4, duplicates: 0, errors: [] });
    const [first, second, third] = events(parsed);
    expect(first).toEqual({
      timestamp: '2011-08-12T12:47:24.357Z',
      src_ip: '147.32.84.165',
      src_port: 1181,
      dst_ip: '78.40.125.4',
      dst_port: 6667,
      transport: 'tcp',
      direction: 'external',
      connection_id: '1031464864740687',
      source: 'suricata',
      severity: 'medium',
    });
    expect(second).toEqual({
      timestamp: '2011-08-12T12:53:47.928Z',
      duration_ms: 0.013,
      src_ip: '147.32.84.165',
      src_port: 138,
      dst_ip: '147.32.84.255',
      dst_port: 138,
      transport: 'udp',
      src_bytes: 486,
      dst_bytes: 0,
      src_packets: 2,
      dst_packets: 0,
      state: 'attempt',
      conn_state: 'new',
      direction: 'external',
      connection_id: '929669869939483',
      source: 'suricata',
      severity: 'informational',
    });
    expect(third).toMatchObject({
      kind: 'query',
      query: 'irc.freenode.net',
      qtype: 'A',
      transaction_id: 553,
    });
    expect(parsed.findings).toEqual([
      {
        rule_id: '1:2017318',
        payload: { data: expect.any(String), packet: expect.any(String) },
        rule_name: 'ET CURRENT_EVENTS SUSPICIOUS IRC - PRIVMSG *.(exe|tar|tgz|zip)  download command',
        rule_source: 'suricata',
        title: 'ET CURRENT_EVENTS SUSPICIOUS IRC - PRIVMSG *.(exe|tar|tgz|zip)  download command',
        description: 'Signature 1:2017318 revision 4.',
        category: 'Potentially Bad Traffic',
        severity: 'medium',
        timestamp: Date.UTC(2011, 7, 12, 12, 52, 57, 716),
        src_ip: '147.32.84.165',
        src_port: 1181,
        dst_ip: '78.40.125.4',
        dst_port: 6667,
        transport: 'tcp',
        event: { block: 0, row: 0 },
      },
    ]);
  });

  it('emits one finding for each of 548 alerts from four networks, each with a reference to its event', () => {
    let findings = 0;
    for (const file of ['first-org-conf-2015', 'honeypot-2018', 'wrccdc-2017', 'wrccdc-2018']) {
      const parsed = parse(sharedFile(`suricata/${file}.alerts.ndjson`));
      expect(parsed.answer).toMatchObject({ rejected: 0, ignored: 0, accepted: parsed.findings.length });
      findings += parsed.findings.length;
      const stored = events(parsed);
      for (const finding of parsed.findings) {
        const event = stored[finding.event?.row ?? -1];
        expect([event?.src_ip, event?.dst_ip, event?.severity]).toEqual([
          finding.src_ip,
          finding.dst_ip,
          finding.severity,
        ]);
      }
    }
    expect(findings).toBe(548);
  });

  it('parses duplicate-alerts: 1,162 alerts, 21 flows', () => {
    const parsed = parse(sharedFile('suricata/duplicate-alerts.eve.ndjson.gz'), { encoding: 'gzip' });
    expect(parsed.answer).toMatchObject({ accepted: 1183, rejected: 0, ignored: 0 });
    expect(parsed.findings).toHaveLength(1162);
  });
});

describe('the parser of Suricata flows', () => {
  it('maps every field', () => {
    const line = {
      ...flow,
      host: 'edge',
      community_id: '1:abc',
      vlan: [12, 13],
      ether: { src_mac: 'AA:BB:CC:00:11:22', dest_macs: ['00-11-22-33-44-55', '00:11:22:33:44:56'] },
      tcp: { tcp_flags: '1b', tcp_flags_ts: '1b', tcp_flags_tc: '1b', fin: true },
    };
    expect(one(line)).toEqual({
      timestamp: '2026-01-01T00:00:00.000Z',
      duration_ms: 1500.25,
      src_ip: '10.0.0.5',
      src_port: 40000,
      src_mac: 'aa:bb:cc:00:11:22',
      dst_ip: '198.51.100.7',
      dst_port: 443,
      dst_mac: '00:11:22:33:44:55',
      transport: 'tcp',
      app_protocol: 'tls',
      app_protocols: ['tls'],
      src_bytes: 500,
      dst_bytes: 400,
      src_packets: 5,
      dst_packets: 4,
      state: 'closed',
      conn_state: 'closed',
      history: '1b',
      direction: 'outbound',
      community_id: '1:abc',
      connection_id: '1',
      vlan: 12,
      sensor: 'edge',
      source: 'suricata',
      severity: 'informational',
    });
  });

  it.each([
    ['TCP', 'closed', 4, { tcp_flags: '1b', tcp_flags_tc: '1b' }, 'closed'],
    ['TCP', 'closed', 4, { tcp_flags: '1f', tcp_flags_tc: '1a' }, 'reset'],
    ['TCP', 'closed', 1, { tcp_flags: '16', tcp_flags_tc: '14' }, 'refused'],
    ['TCP', 'closed', 4, { rst: true }, 'reset'],
    ['TCP', 'established', 4, { tcp_flags: '1a', tcp_flags_tc: '1a' }, 'open'],
    ['TCP', 'bypassed', 4, {}, 'open'],
    ['TCP', 'new', 0, { tcp_flags: '02', tcp_flags_tc: '00' }, 'attempt'],
    ['TCP', 'new', 1, { tcp_flags: '12', tcp_flags_tc: '12' }, 'open'],
    ['TCP', 'new', 2, { tcp_flags: '00', tcp_flags_tc: '00' }, 'traffic'],
    ['UDP', 'new', 0, undefined, 'attempt'],
    ['UDP', 'established', 3, undefined, 'closed'],
    ['ICMP', 'established', 3, undefined, 'closed'],
    ['TCP', 'something', 3, undefined, undefined],
  ])('derives the state of %s %s, %i packets back, flags %j: %s', (proto, state, pkts_toclient, tcp, wanted) => {
    expect(one({ ...flow, proto, tcp, flow: { ...flow.flow, state, pkts_toclient } }).state).toBe(wanted);
  });

  it.each([
    [{ proto: 'IPv6-ICMP', src_port: undefined, dest_port: undefined, icmp_type: 128, icmp_code: 0 }, 'icmp', 128, 0],
    [{ proto: 'SCTP' }, 'sctp', 40000, 443],
  ])('reads the transport and the ports of %j', (given, transport, src_port, dst_port) => {
    expect(one({ ...flow, ...given })).toMatchObject({ transport, src_port, dst_port });
  });

  it.each(['failed', 'unknown', '', null])('omits app_proto %j', (app_proto) => {
    expect(one({ ...flow, app_proto }).app_protocol).toBeUndefined();
  });

  it.each(['9223372036854775807', '9007199254740993', '2247896271051770', '0'])('keeps flow_id %s as written', (id) => {
    const line = JSON.stringify(flow).replace('"flow_id":1', `"x":{"flow_id":"no"},"flow_id": ${id}`);
    expect(events(parse(line))[0]?.connection_id).toBe(id);
    expect(events(parse(`[${line}]`, { mediaType: 'json' }))[0]?.connection_id).toBe(id);
  });

  it.each(['1e400', '-1', '1.5', 'true', '{}', '99999999999999999999999', '1e30'])('rejects flow_id %s', (id) => {
    const line = JSON.stringify(flow).replace('"flow_id":1', `"flow_id":${id}`);
    expect(parse(line).answer).toMatchObject({ rejected: 1, errors: [{ field: 'flow_id' }] });
  });
});

describe('a Suricata alert', () => {
  it('has the transaction data of its record, long texts truncated', () => {
    const http = { hostname: 'a.example', url: '/'.repeat(600), http_user_agent: '<b>', status: 404 };
    const told = (more: object) => parse([{ ...alert, ...more }]).findings[0]?.evidence;
    expect(told({ http, fileinfo: { filename: 'a.exe', sha256: 'ab' } })).toEqual({
      http_url: '/'.repeat(500),
      http_user_agent: '<b>',
      http_status: 404,
      file_name: 'a.exe',
      file_sha256: 'ab',
    });
    const tls = { subject: 'CN=x', ja3: { hash: 'c0' } };
    expect(told({ tls, files: [{ filename: 'b' }, { filename: 'c' }] })).toEqual({
      tls_subject: 'CN=x',
      ja3: 'c0',
      file_name: 'b',
    });
    expect(told({ smtp: { mail_from: 'a@b', rcpt_to: ['c@d', 7, {}] } })).toEqual({
      mail_from: 'a@b',
      mail_to: ['c@d', 7],
    });
    // Unreadable transaction data is omitted, and does not reject the record.
    for (const garbage of [null, 7, 'x', [], [[]], { url: '' }, { url: {} }, { __proto__: { url: 'x' } }])
      expect(told({ http: garbage, tls: garbage, fileinfo: garbage, files: garbage })).toBeUndefined();
  });

  it('gives the flow its real direction after a reply packet, and gives the finding the endpoints as written', () => {
    const reply = { ...alert, src_ip: flow.dest_ip, src_port: 443, dest_ip: flow.src_ip, dest_port: 40000 };
    const told = {
      ...reply.flow,
      src_ip: '10.0.0.5',
      src_port: 40000,
      dest_ip: '198.51.100.7',
      dest_port: 443,
    };
    for (const line of [
      { ...reply, direction: 'to_client' },
      { ...reply, flow: told },
    ]) {
      const parsed = parse([line]);
      expect(events(parsed)[0]).toMatchObject({
        src_ip: '10.0.0.5',
        src_port: 40000,
        dst_ip: '198.51.100.7',
        dst_port: 443,
        src_bytes: 500,
        direction: 'outbound',
      });
      expect(parsed.findings[0]).toMatchObject({
        src_ip: '198.51.100.7',
        src_port: 443,
        dst_ip: '10.0.0.5',
        dst_port: 40000,
      });
    }
  });

  it("omits the counters of the flow's sides if its direction is unknown", () => {
    const reply = { ...alert, src_ip: flow.dest_ip, src_port: 443, dest_ip: flow.src_ip, dest_port: 40000 };
    const [event] = events(parse([{ ...reply, direction: undefined }]));
    expect(event).toMatchObject({ src_ip: '198.51.100.7', src_port: 443, dst_port: 40000 });
    for (const field of ['src_bytes', 'dst_bytes', 'src_packets', 'dst_packets', 'state', 'conn_state'] as const)
      expect(event?.[field], field).toBeUndefined();
  });

  it('is a finding without an event if there are no addresses', () => {
    const parsed = parse([{ ...alert, src_ip: undefined, dest_ip: undefined, proto: undefined }]);
    expect(parsed.answer).toMatchObject({ accepted: 1, rejected: 0 });
    expect(parsed.blocks).toHaveLength(0);
    expect(parsed.findings[0]?.event).toBeUndefined();
  });

  it('refers to its block and row after other records, even beyond the size of one block', () => {
    const dns = { ...flow, event_type: 'dns', flow: undefined, dns: { type: 'query', rrname: 'a.example' } };
    const lines = [dns, ...Array.from({ length: limits.maxBlockRows }, () => flow), alert, dns];
    const parsed = parse(lines);
    expect(parsed.blocks).toHaveLength(3);
    expect(parsed.findings[0]?.event).toEqual({ block: 2, row: 0 });
  });

  it.each([
    [{ dns: { queries: [{ rrname: 'q.example' }] } }, 'q.example'],
    [{ dns: { query: [{ rrname: 'q2.example' }] } }, 'q2.example'],
    [{ tls: { sni: 't.example' } }, 't.example'],
    [{ http: { hostname: 'h.example' } }, 'h.example'],
    [{ http: { hostname: '10.0.0.1' } }, undefined],
    [{ http: { hostname: 7 } }, undefined],
  ])('with %j has the domain %s', (transaction, domain) => {
    expect(parse([{ ...alert, ...transaction }]).findings[0]?.domain).toBe(domain);
  });

  it.each([
    ['alert', { alert: undefined }],
    ['alert', { alert: [] }],
    ['alert.signature_id', { alert: { ...alert.alert, signature_id: undefined } }],
    ['alert.signature_id', { alert: { ...alert.alert, signature_id: '1' } }],
    ['alert.signature', { alert: { ...alert.alert, signature: '' } }],
    ['alert.severity', { alert: { ...alert.alert, severity: -1 } }],
    ['alert.severity', { alert: { ...alert.alert, severity: 256 } }],
    ['alert.metadata', { alert: { ...alert.alert, metadata: [] } }],
    ['alert.metadata.tag', { alert: { ...alert.alert, metadata: { tag: 'x' } } }],
    ['alert.metadata.tag', { alert: { ...alert.alert, metadata: { tag: [1] } } }],
    ['flow', { flow: 1 }],
    ['flow.start', { flow: { start: 'x' } }],
    ['flow.src_port', { flow: { src_ip: '10.0.0.1', dest_ip: '10.0.0.2', src_port: 70000 } }],
  ])('is rejected with an invalid %s', (field, given) => {
    const parsed = parse([{ ...alert, ...given }]);
    expect(parsed.answer).toMatchObject({ accepted: 0, rejected: 1, errors: [{ line: 1, field }] });
    expect(parsed.findings).toHaveLength(0);
  });
});

describe('the parser of Suricata DNS records', () => {
  const dns = { type: 'answer', id: 1, rrname: 'a.example', rrtype: 'A' };
  const line = { ...flow, event_type: 'dns', flow: undefined, proto: 'UDP', dest_port: 53, dns };

  it.each([
    ['answer', 40000, 53, 40000],
    ['answer', 53, 40000, 40000],
    ['response', 53, 40000, 40000],
    ['response', 40000, 53, 40000],
    ['response', 5300, 40000, 40000],
    ['answer', 40000, 5300, 40000],
    ['query', 53, 40000, 53],
  ])('finds the client of a message of type %s from port %i to %i: port %i', (type, src_port, dest_port, client) => {
    expect(one({ ...line, src_port, dest_port, dns: { ...dns, type } }).src_port).toBe(client);
  });

  it.each([
    ['FORMERROR', 1, 'FORMERR'],
    ['SERVERROR', 2, 'SERVFAIL'],
    ['NXDOMAIN', 3, 'NXDOMAIN'],
    ['NOTIMP', 4, 'NOTIMP'],
    ['REFUSED', 5, 'REFUSED'],
    ['Whatever', undefined, 'WHATEVER'],
  ])('reads rcode %s as %s, %s', (code, rcode, rcode_name) => {
    const event = one({ ...line, dns: { ...dns, rcode: code } });
    expect([event.rcode, event.rcode_name, event.rejected]).toEqual([rcode, rcode_name, rcode === 5]);
  });

  it('parses grouped and structured answers', () => {
    const grouped = { A: ['192.0.2.1'], SRV: [{ priority: 1, weight: 2, port: 3, name: 's.example' }] };
    expect(one({ ...line, dns: { ...dns, version: 2, grouped } }).answers).toEqual([
      { type: 'A', data: '192.0.2.1' },
      { type: 'SRV', data: '1 2 3 s.example' },
    ]);
    const soa = { mname: 'm', rname: 'r', serial: 1, refresh: 2, retry: 3, expire: 4, minimum: 5 };
    expect(
      one({ ...line, dns: { ...dns, answers: [{ rrtype: 'SOA', ttl: 9, soa }, { rrtype: 'NULL' }] } }).answers,
    ).toEqual([
      { type: 'SOA', ttl: 9, data: 'm r 1 2 3 4 5' },
      { type: 'NULL', data: '' },
    ]);
  });

  it.each([
    ['dns', undefined],
    ['dns.type', { ...dns, type: 'constructor' }],
    ['dns.flags', { ...dns, flags: 'xyz' }],
    ['dns.id', { ...dns, id: 65536 }],
    ['dns.answers', { ...dns, answers: [1] }],
    ['dns.answers.ttl', { ...dns, answers: [{ ttl: -1 }] }],
    ['dns.grouped.A', { ...dns, grouped: { A: 1 } }],
    ['dns.queries', { ...dns, queries: [7] }],
  ])('rejects an invalid %s', (field, given) => {
    expect(parse([{ ...line, dns: given }]).answer).toMatchObject({ rejected: 1, errors: [{ field }] });
  });
});
