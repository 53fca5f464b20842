import { describe, expect, it } from 'vitest';
import { events, hasShared, one, parse, sharedFile } from './ingesting.ts';

const conn = {
  ts: 1763683200.123456,
  uid: 'Cuid',
  'id.orig_h': '10.1.0.5',
  'id.orig_p': 51000,
  'id.resp_h': '203.0.113.7',
  'id.resp_p': 443,
  proto: 'tcp',
  conn_state: 'SF',
};
const dns = {
  ts: 1763683200.5,
  uid: 'Cdns',
  'id.orig_h': '10.1.0.5',
  'id.orig_p': 53001,
  'id.resp_h': '10.1.0.1',
  'id.resp_p': 53,
  proto: 'udp',
  trans_id: 1,
  query: 'a.example',
  qtype: 1,
  qtype_name: 'A',
};

describe.skipIf(!hasShared)('the parser of Zeek JSON, with the dialects of real sensors,', () => {
  it('parses each line of four-dialects exactly', () => {
    const parsed = parse(sharedFile('zeek-variants/four-dialects.ndjson'));
    expect(parsed.answer).toEqual({ accepted: 6, rejected: 0, ignored: 0, duplicates: 0, errors: [] });
    expect(events(parsed)).toEqual([
      {
        timestamp: '2025-11-21T00:00:00.123Z',
        duration_ms: 1500,
        src_ip: '10.1.0.5',
        src_port: 51000,
        dst_ip: '203.0.113.7',
        dst_port: 443,
        transport: 'tcp',
        app_protocol: 'tls',
        app_protocols: ['tls'],
        src_bytes: 980,
        dst_bytes: 4668,
        src_payload_bytes: 512,
        dst_payload_bytes: 4096,
        src_packets: 9,
        dst_packets: 11,
        state: 'closed',
        conn_state: 'SF',
        history: 'ShADadFf',
        direction: 'outbound',
        connection_id: 'CAAAA1aaaa',
        source: 'zeek',
        severity: 'informational',
      },
      {
        timestamp: '2025-11-21T00:00:00.123Z',
        src_ip: '10.1.0.6',
        src_port: 51001,
        dst_ip: '2001:db8::7',
        dst_port: 22,
        transport: 'tcp',
        app_protocol: 'ssh',
        app_protocols: ['ssh'],
        src_bytes: 180,
        dst_bytes: 120,
        src_packets: 3,
        dst_packets: 2,
        state: 'open',
        conn_state: 'S1',
        direction: 'outbound',
        connection_id: 'CBBBB2bbbb',
        sensor: 'sensor-1',
        source: 'zeek',
        severity: 'informational',
      },
      {
        timestamp: '2025-11-21T00:00:01.500Z',
        duration_ms: 2,
        src_ip: '10.1.0.7',
        src_port: 53000,
        src_mac: '02:00:00:00:00:07',
        dst_ip: '10.1.0.1',
        dst_port: 53,
        dst_mac: '02:00:00:00:00:01',
        transport: 'udp',
        app_protocol: 'dns',
        app_protocols: ['dns'],
        src_bytes: 67,
        dst_bytes: 83,
        src_payload_bytes: 39,
        dst_payload_bytes: 55,
        src_packets: 1,
        dst_packets: 1,
        state: 'closed',
        conn_state: 'SF',
        direction: 'internal',
        connection_id: 'CCCCC3cccc',
        sensor: 'sensor-2',
        source: 'zeek',
        severity: 'informational',
      },
      {
        timestamp: '2025-11-21T00:00:02.000Z',
        src_ip: '10.1.0.8',
        src_port: 8,
        dst_ip: '10.1.0.9',
        dst_port: 0,
        transport: 'icmp',
        src_bytes: 84,
        dst_bytes: 0,
        src_packets: 1,
        dst_packets: 0,
        state: 'traffic',
        conn_state: 'OTH',
        direction: 'internal',
        connection_id: 'CDDDD4dddd',
        source: 'zeek',
        severity: 'informational',
      },
      {
        timestamp: '2025-11-21T00:00:03.250Z',
        src_ip: '10.1.0.7',
        src_port: 53001,
        dst_ip: '10.1.0.1',
        dst_port: 53,
        transport: 'udp',
        kind: 'transaction',
        transaction_id: 4711,
        query: 'updates.example.com',
        qtype: 'A',
        qclass: 'IN',
        rcode: 0,
        rcode_name: 'NOERROR',
        answers: [
          { type: 'CNAME', ttl: 300, data: 'cdn.example.net' },
          { type: 'A', ttl: 60, data: '203.0.113.20' },
        ],
        authoritative: false,
        truncated: false,
        recursion_desired: true,
        recursion_available: true,
        rejected: false,
        rtt_ms: 2.1,
        connection_id: 'CEEEE5eeee',
        source: 'zeek',
        severity: 'informational',
      },
      {
        timestamp: '2025-11-21T00:00:03.750Z',
        src_ip: '10.1.0.7',
        src_port: 53002,
        dst_ip: '10.1.0.1',
        dst_port: 53,
        transport: 'udp',
        kind: 'transaction',
        transaction_id: 4712,
        query: 'missing.example.com',
        qtype: 'AAAA',
        rcode: 3,
        rcode_name: 'NXDOMAIN',
        authoritative: false,
        truncated: false,
        recursion_desired: true,
        recursion_available: true,
        rejected: false,
        connection_id: 'CFFFF6ffff',
        source: 'zeek',
        severity: 'informational',
      },
    ]);
  });

  it('parses the first line of all-fields exactly, and accepts all lines', () => {
    const network = parse(sharedFile('zeek-variants/all-fields.conn.ndjson'));
    expect(network.answer).toMatchObject({ accepted: 29, rejected: 0 });
    expect(events(network)[0]).toEqual({
      timestamp: '2018-01-31T18:12:06.539Z',
      duration_ms: 108985.496,
      src_ip: '10.55.100.100',
      src_port: 61843,
      dst_ip: '205.204.101.182',
      dst_port: 80,
      transport: 'tcp',
      app_protocol: 'http',
      app_protocols: ['http'],
      src_bytes: 1131,
      dst_bytes: 508,
      src_payload_bytes: 719,
      dst_payload_bytes: 336,
      src_packets: 10,
      dst_packets: 4,
      missed_bytes: 20,
      state: 'closed',
      conn_state: 'SF',
      history: 'ShADadfF',
      direction: 'outbound',
      connection_id: 'CxHo3m4N8uGxrMlcl2',
      source: 'zeek',
      severity: 'informational',
    });
    const names = parse(sharedFile('zeek-variants/all-fields.dns.ndjson'));
    expect(names.answer).toMatchObject({ accepted: 34, rejected: 0 });
    const read = events(names);
    expect(read[0]).toMatchObject({
      timestamp: '2018-01-30T18:14:02.279Z',
      query: '6dde0175375169c68f.dnsc.r-1x.com',
      qtype: 'TXT',
      answers: [{ type: 'TXT', ttl: 60, data: '302f017537c68f5169' }],
      rejected: true,
      rtt_ms: 69.982,
    });
    expect(read.filter(({ kind }) => kind === 'query')).toHaveLength(2);
  });

  it.each([
    ['conn', 105_990, 13],
    ['dns', 5_432, 1],
  ])('accepts all lines of zeek-internet-host %s', (log, lines, blocks) => {
    const parsed = parse(sharedFile(`zeek-internet-host/missing_host.${log}.ndjson.gz`), {
      encoding: 'gzip',
    });
    expect(parsed.answer).toEqual({ accepted: lines, rejected: 0, ignored: 0, duplicates: 0, errors: [] });
    expect(parsed.blocks).toHaveLength(blocks);
    expect(parsed.blocks.reduce((sum, buffer) => sum + new DataView(buffer).getUint32(8, true), 0)).toBe(lines);
  });
});

describe('the parser of Zeek JSON', () => {
  it.each([
    ['epoch seconds', 1763683200.123456],
    ['epoch seconds that doubles round down', 1763683200.123],
    ['epoch milliseconds', 1763683200123],
    ['epoch milliseconds with a fraction', 1763683200123.456],
    ['ISO 8601', '2025-11-21T00:00:00.123456Z'],
    ['ISO 8601 with an offset', '2025-11-21T01:30:00.123+01:30'],
  ])('parses ts as %s', (_, ts) => {
    expect(one({ ...conn, ts }).timestamp).toBe('2025-11-21T00:00:00.123Z');
  });

  it('treats null as absent', () => {
    const event = one({
      ...conn,
      duration: null,
      service: null,
      orig_bytes: null,
      uid: null,
      community_id: null,
    });
    expect(event).toEqual(one({ ...conn, uid: undefined }));
  });

  it.each([
    ['S0', 'attempt'],
    ['S1', 'open'],
    ['SF', 'closed'],
    ['REJ', 'refused'],
    ['S2', 'failed'],
    ['S3', 'failed'],
    ['SH', 'failed'],
    ['SHR', 'failed'],
    ['RSTO', 'reset'],
    ['RSTR', 'reset'],
    ['RSTOS0', 'reset'],
    ['RSTRH', 'reset'],
    ['OTH', 'traffic'],
    ['constructor', undefined],
  ])('maps conn_state %s to the state %s', (conn_state, state) => {
    const event = one({ ...conn, conn_state });
    expect(event.conn_state).toBe(conn_state);
    expect(event.state).toBe(state);
  });

  it.each([
    ['10.0.0.1', '10.0.0.2', 'internal'],
    ['10.0.0.1', '8.8.8.8', 'outbound'],
    ['8.8.8.8', 'fe80::1', 'inbound'],
    ['8.8.8.8', '2001:db8::1', 'external'],
    ['::ffff:10.0.0.1', 'fd00::1', 'internal'],
  ])('treats %s to %s as %s, even if local_orig and local_resp are false', (src, dst, direction) => {
    const line = { ...conn, 'id.orig_h': src, 'id.resp_h': dst, local_orig: false, local_resp: false };
    expect(one(line).direction).toBe(direction);
  });

  it.each([
    ['ssl', 'tls'],
    ['SSL,http', 'tls'],
    ['ssl,-http', 'tls'],
    ['-ssl', undefined],
    ['ftp-data', 'ftp-data'],
    ['', undefined],
  ])('maps service %j to app_protocol %j', (service, app) => {
    expect(one({ ...conn, service }).app_protocol).toBe(app);
  });

  it('keeps durations to the microsecond without noise, and counters up to a petabyte', () => {
    const event = one({ ...conn, duration: 0.000001, orig_bytes: 1e15 });
    expect(event.duration_ms).toBe(0.001);
    expect(event.src_payload_bytes).toBe(1e15);
    expect(one({ ...conn, duration: 1.1 }).duration_ms).toBe(1100);
    expect(one({ ...conn, duration: 64380.00001 }).duration_ms).toBe(64380000.01);
  });

  it("takes the sensor's name from ?sensor=, else from the line", () => {
    expect(one({ ...conn, _node_name: 'worker-1' }).sensor).toBe('worker-1');
    expect(one({ ...conn, _node_name: 'worker-1' }, { sensor: 'edge' }).sensor).toBe('edge');
  });

  it('parses open_conn and conn_long as conn', () => {
    for (const _path of ['open_conn', 'conn_long']) expect(parse([{ ...conn, _path }]).answer.accepted).toBe(1);
  });

  it.each([
    ['http', { ts: 1, uid: 'C', 'id.orig_h': '10.0.0.1', 'id.resp_h': '10.0.0.2', method: 'GET', host: 'a' }],
    ['http by path', { _path: 'http', ts: 1 }],
    ['an unknown log, by stream', { '@stream': 'my_log', ts: 1 }],
    ['files', { ts: 1, fuid: 'F', mime_type: 'text/plain' }],
    ['software', { ts: 1, host: '10.0.0.1', software_type: 'HTTP::BROWSER', name: 'curl' }],
    ['stats', { ts: 1, peer: 'zeek', mem: 1 }],
    ['weird without a connection', { ts: 1, name: 'truncated_ip', notice: false, peer: 'zeek' }],
  ])('ignores %s', (_, line) => {
    expect(parse([line]).answer).toEqual({ accepted: 0, rejected: 0, ignored: 1, duplicates: 0, errors: [] });
  });
});

describe('the parser of Zeek DNS records', () => {
  it.each([
    ['A', '192.0.2.1', { type: 'A', data: '192.0.2.1' }],
    ['A', 'cdn.example', { type: 'CNAME', data: 'cdn.example' }],
    ['AAAA', '2001:db8::1', { type: 'AAAA', data: '2001:db8::1' }],
    ['*', '2001:db8::1', { type: 'AAAA', data: '2001:db8::1' }],
    ['*', 'host.local', { data: 'host.local' }],
    ['PTR', 'host.example', { type: 'PTR', data: 'host.example' }],
    ['NS', 'ns.example', { type: 'NS', data: 'ns.example' }],
    ['MX', 'mail.example', { type: 'MX', data: 'mail.example' }],
    ['TXT', 'TXT 18 302f017537c68f5169', { type: 'TXT', data: '302f017537c68f5169' }],
    ['TXT', 'TXT 3 abc TXT 2 de', { type: 'TXT', data: 'abcde' }],
    ['TXT', 'TXT 9 abc', { type: 'TXT', data: 'abc' }],
    ['TXT', 'AVG=9 TIME=1', { type: 'TXT', data: 'AVG=9 TIME=1' }],
    ['TXT', '', { type: 'TXT', data: '' }],
  ])('parses the answer to %s, %j', (qtype_name, answer, wanted) => {
    const event = one({ ...dns, qtype: undefined, qtype_name, answers: [answer], TTLs: [60] });
    expect(event.answers).toEqual([{ ...wanted, ttl: 60 }]);
  });

  it('keeps answers without a time to live', () => {
    expect(one({ ...dns, answers: ['192.0.2.1', '192.0.2.2'], TTLs: [1] }).answers).toEqual([
      { type: 'A', ttl: 1, data: '192.0.2.1' },
      { type: 'A', data: '192.0.2.2' },
    ]);
  });

  it.each([
    [{}, 'query', undefined, undefined],
    [{ rcode: 3 }, 'transaction', 3, 'NXDOMAIN'],
    [{ rcode_name: 'servfail' }, 'transaction', 2, 'SERVFAIL'],
    [{ rcode: 5, rcode_name: 'REFUSED' }, 'transaction', 5, 'REFUSED'],
    [{ rcode: 3841 }, 'transaction', 3841, 'RCODE3841'],
  ])('reads a record with %j as a %s', (given, kind, rcode, rcode_name) => {
    const event = one({ ...dns, ...given });
    expect([event.kind, event.rcode, event.rcode_name]).toEqual([kind, rcode, rcode_name]);
  });

  it.each([
    [{ qtype: 255, qtype_name: '*' }, 'ANY'],
    [{ qtype: 28, qtype_name: undefined }, 'AAAA'],
    [{ qtype: 65280, qtype_name: undefined }, 'TYPE65280'],
    [{ qtype: undefined, qtype_name: 'NBSTAT' }, 'NBSTAT'],
  ])('reads the type of %j as %s', (given, qtype) => {
    expect(one({ ...dns, ...given }).qtype).toBe(qtype);
  });

  it.each([
    [{ qclass: 1, qclass_name: 'C_INTERNET' }, 'IN'],
    [{ qclass_name: 'C_CHAOS' }, 'CH'],
    [{ qclass: 255 }, 'ANY'],
    [{ qclass: 32769 }, 'CLASS32769'],
  ])('reads the class of %j as %s', (given, qclass) => {
    expect(one({ ...dns, ...given }).qclass).toBe(qclass);
  });
});
