import { expect, test } from 'vitest';
import { limits } from '../../src/limits.ts';
import { type Body, parse } from './ingesting.ts';

const ts = 1_700_000_000.5;
const at = 1_700_000_000_500;

/** Returns the sightings of one record and its counts. */
function told(record: object, options: Parameters<typeof parse>[1] = {}) {
  const { sightings, answer } = parse([record], options);
  const { accepted, ignored, rejected, errors } = answer;
  return { sightings, counts: [accepted, ignored, rejected], errors };
}

const accepted = [1, 0, 0];
const ignored = [0, 1, 0];

test.each([
  ['known_hosts', { host: '192.168.1.5' }, [{ kind: 'host', ip: '192.168.1.5', at }]],
  [
    'known_services',
    { host: '10.0.0.1', port_num: 22, port_proto: 'tcp', service: ['SSH'] },
    [{ kind: 'service', ip: '10.0.0.1', port: 22, transport: 'tcp', name: 'ssh', at }],
  ],
  [
    'software',
    {
      host: '10.0.0.1',
      host_p: 80,
      software_type: 'HTTP::SERVER',
      name: 'nginx',
      'version.major': 1,
      'version.minor': 24,
      'version.minor2': 0,
      'version.addl': 'Ubuntu',
    },
    [
      {
        kind: 'service',
        ip: '10.0.0.1',
        port: 80,
        transport: 'tcp',
        product: 'nginx',
        version: '1.24.0-Ubuntu',
        at,
      },
    ],
  ],
  [
    'software',
    { host: '10.0.0.1', software_type: 'OS::WINDOWS', name: 'Windows', version: { major: 10 } },
    [{ kind: 'system', ip: '10.0.0.1', os: 'Windows 10', at }],
  ],
  [
    'known_devices',
    { mac: 'AA-BB-CC-00-11-22', dhcp_host_name: 'Printer.' },
    [
      { kind: 'host', mac: 'aa:bb:cc:00:11:22', at },
      { kind: 'name', mac: 'aa:bb:cc:00:11:22', name: 'printer', from: 'dhcp', at },
    ],
  ],
  [
    'dhcp',
    {
      uids: ['C1'],
      mac: 'aa:bb:cc:00:11:22',
      assigned_addr: '192.168.1.77',
      host_name: 'lap',
      client_fqdn: 'Lap.Example.ORG',
      msg_types: ['DISCOVER', 'OFFER', 'REQUEST', 'ACK'],
    },
    [
      { kind: 'host', ip: '192.168.1.77', mac: 'aa:bb:cc:00:11:22', at },
      {
        kind: 'name',
        ip: '192.168.1.77',
        mac: 'aa:bb:cc:00:11:22',
        name: 'lap.example.org',
        from: 'dhcp',
        at,
      },
    ],
  ],
])('a record of %s, recognised by its path or by its fields, describes a host', (path, fields, sightings) => {
  const record = { ts, ...fields };
  expect(told({ _path: path, ...record })).toEqual({ sightings, counts: accepted, errors: [] });
  expect(told(record)).toEqual({ sightings, counts: accepted, errors: [] });
});

test('a device of the local segment is a host, even without a name', () => {
  expect(told({ ts, _path: 'known_devices', mac: 'AA-BB-CC-00-11-22' })).toEqual({
    sightings: [{ kind: 'host', mac: 'aa:bb:cc:00:11:22', at }],
    counts: accepted,
    errors: [],
  });
});

test('addresses are normalised', () => {
  const { sightings } = told({ ts, _path: 'known_hosts', host: 'FD00:0:0:0::0001' });
  expect(sightings).toEqual([{ kind: 'host', ip: 'fd00::1', at }]);
});

test.each([
  { _path: 'known_hosts', host: '203.0.113.9' },
  { _path: 'known_services', host: '203.0.113.9', port_num: 80, port_proto: 'tcp' },
  { _path: 'software', host: '10.0.0.1', software_type: 'HTTP::BROWSER', name: 'Firefox' },
  { _path: 'software', host: '10.0.0.1', host_p: 80, software_type: 'HTTP::SERVER' },
  { _path: 'dhcp', mac: 'aa:bb:cc:00:11:22', msg_types: ['DISCOVER'] },
  { _path: 'known_devices', dhcp_host_name: 'printer' },
])('a record without a fact about a home host is ignored: %j', (record) => {
  expect(told({ ts, ...record })).toEqual({ sightings: [], counts: ignored, errors: [] });
});

test.each([
  ['host', { _path: 'known_hosts', host: 'nobody' }],
  ['port_num', { _path: 'known_services', host: '10.0.0.1', port_num: 70000, port_proto: 'tcp' }],
  ['port_proto', { _path: 'known_services', host: '10.0.0.1', port_num: 70 }],
  ['mac', { _path: 'dhcp', assigned_addr: '10.0.0.1', mac: 'nonsense' }],
  ['assigned_addr', { _path: 'dhcp', assigned_addr: 'here' }],
])('a record with an invalid or missing %s is rejected, and the error names the field', (field, record) => {
  const { sightings, counts, errors } = told({ ts, ...record });
  expect({ sightings, counts }).toEqual({ sightings: [], counts: [0, 0, 1] });
  expect(errors[0]).toMatchObject({ code: 'INVALID_REQUEST', field });
});

const tls = {
  ts,
  uid: 'C1',
  'id.orig_h': '10.0.0.9',
  'id.orig_p': 50000,
  'id.resp_h': '10.0.0.1',
  'id.resp_p': 443,
  subject: 'CN=*.corp.example,O=Corp',
  resumed: false,
  established: true,
};

test('a home server gets the name that clients request, once it has answered with a certificate for that name', () => {
  const named = {
    kind: 'name',
    ip: '10.0.0.1',
    name: 'wiki.corp.example',
    from: 'tls',
    clients: ['10.0.0.9'],
    at,
  };
  expect(told({ ...tls, server_name: 'Wiki.corp.example' })).toEqual({
    sightings: [named],
    counts: ignored,
    errors: [],
  });
  expect(told({ ...tls, _path: 'ssl', established: false, server_name: 'x.corp.example' }).sightings).toEqual([]);
  expect(told({ ...tls, 'id.orig_h': '203.0.113.9', server_name: 'x.corp.example' }).sightings).toEqual([]);
  expect(told({ ...tls, server_name: 'x.example' }).sightings).toEqual([]);
  expect(told({ ...tls, server_name: 'x.y.corp.example' }).sightings).toEqual([]);
  expect(told({ ...tls, server_name: 'a b' }).sightings).toEqual([]);
  expect(told({ ...tls, server_name: '192.0.2.1' }).sightings).toEqual([]);
});

test('Suricata records also describe leases and servers', () => {
  const timestamp = '2023-11-14T22:13:20.500000+0000';
  const lease = {
    timestamp,
    event_type: 'dhcp',
    src_ip: '10.0.0.1',
    dest_ip: '10.0.0.50',
    proto: 'UDP',
    dhcp: {
      type: 'reply',
      dhcp_type: 'ack',
      assigned_ip: '10.0.0.50',
      client_mac: 'aa:bb:cc:00:11:22',
      hostname: 'LAPTOP',
    },
  };
  const host = { ip: '10.0.0.50', mac: 'aa:bb:cc:00:11:22' };
  expect(told(lease)).toEqual({
    sightings: [
      { kind: 'host', ...host, at },
      { kind: 'name', ...host, name: 'laptop', from: 'dhcp', at },
    ],
    counts: accepted,
    errors: [],
  });
  expect(told({ ...lease, dhcp: { ...lease.dhcp, dhcp_type: 'offer' } }).counts).toEqual(ignored);
  const hello = { timestamp, event_type: 'tls', src_ip: '10.0.0.9', dest_ip: '10.0.0.1', proto: 'TCP' };
  expect(told({ ...hello, tls: { sni: 'git.corp', subject: 'C=DE, CN=git.corp', version: 'TLS 1.2' } })).toEqual({
    sightings: [{ kind: 'name', ip: '10.0.0.1', name: 'git.corp', from: 'tls', clients: ['10.0.0.9'], at }],
    counts: ignored,
    errors: [],
  });
  expect(
    told({ ...hello, tls: { sni: 'git.corp', subject: 'CN=git.corp', version: 'UNDETERMINED' } }).sightings,
  ).toEqual([]);
  const abroad = {
    ...hello,
    src_ip: '203.0.113.9',
    tls: { sni: 'git.corp', subject: 'CN=git.corp', version: 'TLS 1.2' },
  };
  expect(told(abroad).sightings).toEqual([]);
});

test('Zeek TSV gives the same sightings as Zeek JSON', () => {
  const body = [
    '#separator \\x09',
    '#set_separator\t,',
    '#empty_field\t(empty)',
    '#unset_field\t-',
    '#path\tknown_services',
    '#fields\tts\thost\tport_num\tport_proto\tservice',
    '#types\ttime\taddr\tport\tenum\tset[string]',
    `${ts}\t10.0.0.1\t22\ttcp\tSSH`,
    `${ts}\t10.0.0.1\t25\ttcp\t(empty)`,
  ].join('\n');
  const { sightings, answer } = parse(body);
  expect(answer).toMatchObject({ accepted: 2, rejected: 0 });
  expect(sightings).toEqual([
    { kind: 'service', ip: '10.0.0.1', port: 22, transport: 'tcp', name: 'ssh', at },
    { kind: 'service', ip: '10.0.0.1', port: 25, transport: 'tcp', at },
  ]);
});

test('repeated records are one sighting, with the last time', () => {
  const lines = [3, 9, 5].map((second) => ({ ts: second, _path: 'known_hosts', host: '10.0.0.1' }));
  const { sightings, answer } = parse(lines);
  expect(answer.accepted).toBe(3);
  expect(sightings).toEqual([{ kind: 'host', ip: '10.0.0.1', at: 9000 }]);
});

test('one body describes a limited number of hosts; further hosts are rejected, not dropped silently', () => {
  const excess = 3;
  const count = limits.maxBodySightings + excess;
  const lines = Array.from(
    { length: count },
    (_, i) => `{"ts":1,"_path":"known_hosts","host":"10.${i >> 16}.${(i >> 8) & 255}.${i & 255}"}`,
  );
  const { sightings, answer, reached } = parse(lines.join('\n') satisfies Body);
  expect(reached).toEqual(['maxBodySightings']);
  expect(sightings).toHaveLength(limits.maxBodySightings);
  expect(answer).toMatchObject({ accepted: limits.maxBodySightings, rejected: excess });
  expect(answer.errors).toHaveLength(excess);
});
