/**
 * Search, exports, topology, digests and proofs of events whose protocols an earlier version stored in the
 * sensor's words.
 */
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventHash, verifyAlertEvents } from '../../src/client/verifier.ts';
import type { ServedEvent } from '../../src/contract/event-digest.ts';
import type { Topology } from '../../src/contract/resources/topology.ts';
import { sha256 } from '../../src/crypto/sha256.ts';
import type { SealScheduler } from '../../src/events/store/seal-scheduler.ts';
import { bytesToHex } from '../../src/tlog/hex.ts';
import { blockOf, openSealer } from '../events/store/sealing.ts';
import { readArrow } from './read-arrow.ts';
import { adminOf, openService, type Service } from './service.ts';
import { verifyProof } from './verify-proof.ts';

const network = '/api/v1/events/network';
const zeek = (n: number, service: string) => ({
  _path: 'conn',
  ts: 1_795_255_200 + n,
  uid: `Zeek${n}`,
  'id.orig_h': '192.168.0.10',
  'id.orig_p': 40_000 + n,
  'id.resp_h': '192.168.0.20',
  'id.resp_p': 443,
  proto: 'tcp',
  service,
  conn_state: 'SF',
  orig_bytes: 10,
  resp_bytes: 20,
});
const eve = (app_proto: string, dest_port = 443) => ({
  event_type: 'flow',
  timestamp: '2026-11-21T10:00:00.000000+0000',
  flow_id: 77,
  src_ip: '192.168.0.10',
  src_port: 5000,
  dest_ip: '192.168.0.30',
  dest_port,
  proto: 'TCP',
  app_proto,
  flow: { pkts_toserver: 5, pkts_toclient: 5, bytes_toserver: 500, bytes_toclient: 500, state: 'closed' },
});
const native = (more: object) => ({
  type: 'network_event',
  timestamp: '2026-11-21T10:00:00.000Z',
  src_ip: '192.168.0.10',
  dst_ip: '192.168.0.40',
  transport: 'tcp',
  ...more,
});
const ecs = {
  event: { kind: 'event', category: ['network'], type: ['connection', 'end'] },
  '@timestamp': '2026-11-21T10:00:00.000Z',
  source: { ip: '192.168.0.10', port: 6000 },
  destination: { ip: '192.168.0.50', port: 443 },
  network: { transport: 'tcp', protocol: 'tls' },
};

let service: Service;
let token: string;
let sealer: SealScheduler;

beforeAll(async () => {
  service = await openService({ CANDOR_NETWORK_HOME: '192.168.0.0/16' });
  token = await adminOf(service);
  sealer = await openSealer(service.store, service.reader);
  // Versions before the protocol vocabulary stored Zeek's own words.
  const records = ['ssl,http', 'ssl', 'dce_rpc,smb'].map((app_protocol) => ({ app_protocol }));
  const sensorId = '01930000-0000-7000-8000-0000000000a1';
  const answer = { accepted: 3, rejected: 0, ignored: 0, duplicates: 0, errors: [] };
  await service.store.commit({
    blocks: [blockOf('network', 3, { records, sensorId })],
    answer,
  });
  const lines = [
    zeek(1, 'ssl,http'),
    zeek(2, 'http'),
    zeek(3, 'dce_rpc,-ssl'),
    eve('tls'),
    eve('dcerpc', 135),
    ecs,
    native({ app_protocol: 'SSL' }),
    native({ app_protocol: 'tls', app_protocols: ['tls', 'smtp'] }),
    native({}),
  ];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const headers = { 'content-type': 'application/x-ndjson' };
  const { body } = await service.call('ingest', 'POST /api/v1/ingest', { token, text, headers });
  expect((body as { data: object }).data).toMatchObject({ accepted: lines.length, errors: [] });
});
afterAll(async () => {
  await sealer.close();
  await service.close();
});

async function listed(query = ''): Promise<ServedEvent[]> {
  const target = `GET ${network}?sort=timestamp&per_page=50&${query}`;
  const { body } = await service.call('listNetworkEvents', target, { token });
  return (body as { data: ServedEvent[] }).data;
}
const protocols = async (query = '') =>
  (await listed(query))
    .map(({ attributes }) => String((attributes as { app_protocols?: string[] }).app_protocols ?? 'none'))
    .sort();

const withTls = ['tls', 'tls', 'tls', 'tls', 'tls,http', 'tls,http', 'tls,smtp'];

test.each(['tls', 'ssl', 'TLS', 'TL'])('free text %s finds protocols by their names', async (q) => {
  expect(await protocols(`q=${q}`)).toEqual(withTls);
});

test('exports contain the same protocols as the list: NDJSON as an array, Arrow as a list column', async () => {
  const ask = async (accept: string) =>
    fetch(`${service.url}${network}?sort=timestamp`, {
      headers: { accept, authorization: `Bearer ${token}` },
    });
  const lines = (await (await ask('application/x-ndjson')).text()).trimEnd().split('\n');
  const events = lines.map((line) => JSON.parse(line) as ServedEvent);
  const arrow = await ask('application/vnd.apache.arrow.stream');
  const { batches } = readArrow('listNetworkEvents', new Uint8Array(await arrow.arrayBuffer()));
  const shown = ({ attributes }: { attributes: object }) => {
    const { app_protocol, app_protocols } = attributes as Record<string, unknown>;
    return { app_protocol, app_protocols };
  };
  expect(events.map(shown)).toEqual((await listed()).map(shown));
  expect((batches.flat() as ServedEvent[]).map(shown)).toEqual(events.map(shown));
});

test('topology edges have the same protocol names as events', async () => {
  const { body } = await service.call('getTopology', 'GET /api/v1/topology', { token });
  const { edges } = (body as { data: { attributes: Topology } }).data.attributes;
  expect(edges.find(({ target }) => target === '192.168.0.20')?.protocols).toEqual(['dcerpc', 'http', 'tls']);
});

/** Returns the event as versions before the protocol vocabulary served it. */
function asServedBefore(event: ServedEvent, app_protocol: string): ServedEvent {
  const { app_protocols: _, app_protocol_stored: __, ...attributes } = event.attributes as Record<string, unknown>;
  return { ...event, attributes: { ...attributes, app_protocol } };
}
const digestOf = (event: ServedEvent) => {
  const hash = eventHash(event);
  const events_digest = bytesToHex(sha256(Buffer.from(hash, 'hex')));
  return { events: [{ id: event.id, sha256: hash }], events_digest, events_count: 1 };
};

test('log entries about alerts from earlier versions verify against the events as they are served now', async () => {
  const [event] = await listed('app_protocol=http&dst_port=22');
  const logged = digestOf(asServedBefore(event!, 'ssl,http'));
  expect(verifyAlertEvents(logged, [event!])).toEqual({ verified: [event!.id], missing: [] });
  expect(verifyAlertEvents(digestOf(event!), [event!])).toEqual({ verified: [event!.id], missing: [] });
  const other = {
    ...event!,
    attributes: { ...event!.attributes, app_protocols: ['ssh', 'http'], app_protocol_stored: 'ssh,http' },
  };
  expect(verifyAlertEvents(logged, [other])).toMatchObject({ code: 'WRONG_EVENT' });
});

test('proofs of events match the served events, even for blocks from earlier versions', async () => {
  await sealer.seal();
  for (const event of await listed()) {
    const text = await proofText(event.id);
    expect(verifyProof(text)).toMatchObject({ id: event.id });
    const { app_protocol, app_protocols } = event.attributes as Record<string, unknown>;
    for (const wrong of [
      { app_protocol, app_protocols: ['ssh'] },
      { app_protocol: 'ssh', app_protocols },
      { app_protocol, app_protocols: [] },
      { app_protocol: 'ssh' },
    ])
      expect(verifyProof(withProtocols(text, wrong))).toMatchObject({ code: 'WRONG_EVENT' });
  }
  const [event] = await listed('app_protocol=http&dst_port=22');
  const savedBefore = withProtocols(await proofText(event!.id), { app_protocol: 'ssl,http' });
  expect(verifyProof(savedBefore)).toMatchObject({ id: event!.id });
});

/**
 * Returns the text with other protocols, without JSON.parse: the text has integers beyond the precision of a
 * double.
 */
function withProtocols(text: string, protocols: object): string {
  const written = JSON.stringify(protocols).slice(1, -1);
  const shown =
    /("transport":"tcp")(,"app_protocol":"[^"]*","app_protocols":\[[^\]]*\](,"app_protocol_stored":"[^"]*")?)?/;
  return text.replace(shown, `$1,${written}`);
}

async function proofText(id: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}` };
  for (;;) {
    service.pump.wake();
    const answer = await fetch(`${service.url}${network}/${id}/proof`, { headers });
    if (answer.status === 200) return answer.text();
    await setTimeout(5);
  }
}
