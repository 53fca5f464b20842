/**
 * Application protocols are a set of names in one vocabulary, independent of the sensor and of the version that
 * stored the event.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { NetworkEvent } from '../../src/contract/resources/network-event.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import { networkRecord } from '../store/records.ts';
import { adminOf, openService, type Service } from './service.ts';

let service: Service;
let token: string;
const start = Date.UTC(2026, 1, 2);
const iso = new Date(start).toISOString().replace('Z', '000+0000');

const zeek = (n: number, name: string) => ({
  _path: 'conn',
  ts: start / 1000,
  uid: `C${n}`,
  'id.orig_h': '10.1.0.1',
  'id.orig_p': n,
  'id.resp_h': `10.1.1.${n}`,
  'id.resp_p': 443,
  proto: 'tcp',
  conn_state: 'SF',
  service: name,
});
const eve = (n: number, app_proto: string) => ({
  event_type: 'flow',
  timestamp: iso,
  flow_id: n,
  src_ip: '10.1.0.1',
  src_port: n,
  dest_ip: `10.1.1.${n}`,
  dest_port: 443,
  proto: 'TCP',
  app_proto,
  flow: {
    pkts_toserver: 9,
    pkts_toclient: 9,
    bytes_toserver: 900,
    bytes_toclient: 900,
    start: iso,
    state: 'closed',
  },
});
const own = (n: number, more: object) => ({
  type: 'network_event',
  timestamp: new Date(start).toISOString(),
  src_ip: '10.1.0.1',
  src_port: n,
  dst_ip: `10.1.1.${n}`,
  dst_port: 443,
  transport: 'tcp',
  state: 'closed',
  ...more,
});
const ecs = (n: number, protocol: unknown) => ({
  '@timestamp': new Date(start).toISOString(),
  event: { category: ['network'], type: ['connection', 'end'] },
  network: { transport: 'tcp', protocol },
  source: { ip: '10.1.0.1', port: n, packets: 4 },
  destination: { ip: `10.1.1.${n}`, port: 443, packets: 4 },
});

async function all<A = NetworkEvent>(
  path: string,
  operation: 'listNetworkEvents' | 'listServices' = 'listNetworkEvents',
) {
  const { status, body } = await service.call(operation, `GET /api/v1/${path}`, { token });
  expect(status).toBe(200);
  return (body as { data: { attributes: A }[] }).data.map(({ attributes }) => attributes);
}
const portsOf = async (query: string) =>
  (await all(`events/network?per_page=100&${query}`)).map(({ src_port }) => src_port).sort((a = 0, b = 0) => a - b);

beforeAll(async () => {
  service = await openService();
  token = await adminOf(service);
  // Blocks from earlier versions have the sensor's words as a single text.
  const builder = new BlockBuilder('network', start);
  const before = {
    timestamp: start,
    src_ip: '10.1.0.1',
    dst_port: 443,
    state: 'closed',
    direction: 'internal',
  } as const;
  builder.add(networkRecord({ ...before, src_port: 20, dst_ip: '10.1.1.20', app_protocol: 'ssl,http' }));
  builder.add(networkRecord({ ...before, src_port: 21, dst_ip: '10.1.1.21', app_protocol: 'http' }));
  const answer = { accepted: 2, rejected: 0, ignored: 0, duplicates: 0, errors: [] };
  await service.store.commit({ blocks: [builder.finish()], answer });
  const lines = [
    zeek(1, 'ssl,http'),
    zeek(2, 'ssl'),
    zeek(3, 'gssapi,smb,-krb,krb'),
    eve(4, 'tls'),
    eve(5, 'dcerpc'),
    own(6, { app_protocol: 'SSL' }),
    own(7, { app_protocols: ['http', 'ssl'] }),
    own(8, { app_protocol: 'ssl', app_protocols: ['tls', 'http'] }),
    ecs(9, ['ssl', 'http']),
    ecs(10, 'http'),
    zeek(11, 'ldap_tcp'),
    eve(12, 'pgsql'),
    zeek(13, 'postgresql'),
  ];
  const { body } = await service.call('ingest', 'POST /api/v1/ingest', {
    token,
    text: lines.map((line) => JSON.stringify(line)).join('\n'),
    headers: { 'content-type': 'application/x-ndjson' },
  });
  expect(body).toMatchObject({ data: { accepted: lines.length, errors: [] } });
});
afterAll(() => service.close());

describe('application protocols', () => {
  test('are a set of normalised names, and `app_protocol` is the first of them', async () => {
    const events = await all('events/network?per_page=100');
    const shown = new Map(
      events.map(({ src_port, app_protocol, app_protocols }) => [src_port, [app_protocol, app_protocols]]),
    );
    expect(shown).toEqual(
      new Map<number, unknown>([
        [1, ['tls', ['tls', 'http']]],
        [2, ['tls', ['tls']]],
        [3, ['gssapi', ['gssapi', 'smb', 'krb5']]],
        [4, ['tls', ['tls']]],
        [5, ['dcerpc', ['dcerpc']]],
        [6, ['tls', ['tls']]],
        [7, ['http', ['http', 'tls']]],
        [8, ['tls', ['tls', 'http']]],
        [9, ['tls', ['tls', 'http']]],
        [10, ['http', ['http']]],
        [11, ['ldap', ['ldap']]],
        [12, ['pgsql', ['pgsql']]],
        [13, ['pgsql', ['pgsql']]],
        [20, ['tls', ['tls', 'http']]],
        [21, ['http', ['http']]],
      ]),
    );
    const stored = events.filter((event) => event.app_protocol_stored !== undefined);
    expect(stored.map((event) => [event.src_port, event.app_protocol_stored])).toEqual([[20, 'ssl,http']]);
  });

  test.each([
    ['app_protocol=tls', [1, 2, 4, 6, 7, 8, 9, 20]],
    ['app_protocol=ssl', [1, 2, 4, 6, 7, 8, 9, 20]],
    ['app_protocol=ldap_udp', [11]],
    ['app_protocol=postgresql', [12, 13]],
    ['app_protocol=http', [1, 7, 8, 9, 10, 20, 21]],
    ['app_protocol=dce_rpc', [5]],
    ['app_protocol=kerberos', [3]],
    ['app_protocol=HTTPS', [1, 2, 4, 6, 7, 8, 9, 20]],
    ['app_protocol=smb&app_protocol=krb', [3]],
    ['not_app_protocol=ssl', [3, 5, 10, 11, 12, 13, 21]],
    ['app_protocol=ssl,http', []],
  ])('are filtered by member: %s', async (query, ports) => {
    expect(await portsOf(query)).toEqual(ports);
  });

  test('are counted by member', async () => {
    const { body } = await service.call('getNetworkEventValues', 'GET /api/v1/events/network/values?by=app_protocol', {
      token,
    });
    const { values } = (body as { data: { attributes: { values: { value: string; count: number }[] } } }).data
      .attributes;
    expect(Object.fromEntries(values.map(({ value, count }) => [value, count]))).toEqual({
      tls: 8,
      http: 7,
      pgsql: 2,
      ldap: 1,
      dcerpc: 1,
      gssapi: 1,
      smb: 1,
      krb5: 1,
    });
  });

  test('are the names of services, and the protocols of topology edges', async () => {
    await vi.waitFor(async () => expect((await all('services?per_page=100', 'listServices')).length).toBe(15), 60_000);
    const { body } = await service.call('getTopology', 'GET /api/v1/topology', { token });
    const { edges } = (body as { data: { attributes: { edges: { protocols: string[] }[] } } }).data.attributes;
    expect([...new Set(edges.flatMap(({ protocols }) => protocols))].sort()).toEqual([
      'dcerpc',
      'gssapi',
      'http',
      'krb5',
      'ldap',
      'pgsql',
      'smb',
      'tls',
    ]);
    const offers = await all<{ ip: string; name?: string }>('services?name=https', 'listServices');
    expect(offers.length).toBe(5);
  });

  test('keep the original names of the sensor for rules that run on stored events', async () => {
    const source = `title: Zeek TLS
id: 6f9619ff-8b86-4011-b42d-00c04fc964fd
logsource: {product: zeek, service: conn}
detection:
  selection: {service: ssl}
  condition: selection
`;
    const json = {
      source,
      from: new Date(start - 1000).toISOString(),
      to: new Date(start + 1000).toISOString(),
    };
    const { body } = await service.call('testRule', 'POST /api/v1/rules/test', { token, json });
    expect(body).toMatchObject({ data: { matched: 8 } });
  });
});
