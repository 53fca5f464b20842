/** The log entry of an alert commits to the alert's events: readers can recompute the digest. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AuditFault } from '../../src/client/fault.ts';
import { type AlertDigest, verifyAlertEvents } from '../../src/client/verifier.ts';
import type { ServedEvent } from '../../src/contract/event-digest.ts';
import { adminOf, openService, type Service } from './service.ts';

let service: Service;
let admin: string;

beforeAll(async () => {
  service = await openService({ CANDOR_NETWORK_HOME: '192.168.0.0/16' });
  admin = await adminOf(service);
  for (const [n, level] of ['high', 'medium'].entries()) {
    const source = `title: A query for ${level}
id: 0190a1b2-0000-7000-8000-00000000ec6${n}
logsource: {category: dns}
detection: {selection: {query|endswith: '.${level}.example'}, condition: selection}
level: ${level}
`;
    const json = { source };
    const { status } = await service.call('createRule', 'POST /api/v1/rules', { token: admin, json });
    expect(status).toBe(201);
  }
});
afterAll(() => service.close());

const query = (n: number, name: string, more = {}) => ({
  timestamp: '2026-11-20T10:00:00.000Z',
  src_ip: '192.168.0.10',
  src_port: 40_000 + n,
  dst_ip: '192.168.0.1',
  dst_port: 53,
  transport: 'udp',
  kind: 'query',
  query: name,
  ...more,
});

const send = (json: unknown) => service.call('ingestDnsEvents', 'POST /api/v1/events/dns', { token: admin, json });

interface Resources {
  readonly data: readonly { readonly id: string; readonly attributes: Readonly<Record<string, unknown>> }[];
}

/** Returns the data of the entry for the one alert with this title. */
async function logged(title: string): Promise<AlertDigest & { event_ids: string[]; count: number }> {
  await service.pump.idle();
  const { body } = await service.call('listEntries', 'GET /api/transparency/entries?kind=alert.raised', {
    token: admin,
  });
  const entries = (body as Resources).data.map(({ attributes }) => attributes.entry as { data: never });
  return entries.find(({ data }) => (data as { title: string }).title === title)!.data;
}

async function served(ids: readonly string[]): Promise<ServedEvent[]> {
  const events: ServedEvent[] = [];
  for (const id of ids) {
    const { body } = await service.call('getDnsEvent', `GET /api/v1/events/dns/${id}`, { token: admin });
    events.push((body as { data: ServedEvent }).data);
  }
  return events;
}

test('the entry of an alert commits to the events that were stored together with the alert', async () => {
  await send(Array.from({ length: 25 }, (_, n) => query(n, 'a.high.example')));
  const data = await logged('A query for high');
  expect(data).toMatchObject({ count: 25, events_count: 20 });
  const ids = data.events!.map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining(data.event_ids));
  const events = await served(ids);
  expect(verifyAlertEvents(data, events)).toEqual({ verified: ids, missing: [] });

  const [first, ...others] = events;
  const altered = { ...first!, attributes: { ...first!.attributes, query: 'b.high.example' } };
  expect(verifyAlertEvents(data, [altered, ...others])).toMatchObject({ code: 'WRONG_EVENT' });
  const [hashed, ...rest] = data.events!;
  const forged = { ...data, events: [{ ...hashed!, sha256: '0'.repeat(64) }, ...rest] };
  expect(verifyAlertEvents(forged, events)).toMatchObject({ code: 'WRONG_EVENT' });
  expect(verifyAlertEvents(data, others)).toEqual({
    verified: others.map(({ id }) => id).sort(),
    missing: [first!.id],
  });

  // An entry from an earlier version has only the hashes of its five event_ids.
  const five = data.events!.filter(({ id }) => data.event_ids.includes(id));
  const hashes = Buffer.from(five.map(({ sha256 }) => sha256).join(''), 'hex');
  const events_digest = createHash('sha256').update(hashes).digest('hex');
  const earlier = { ...data, events: five, events_digest, events_count: 5 };
  expect(verifyAlertEvents(earlier, events)).toEqual({ verified: five.map(({ id }) => id), missing: [] });
  expect(verifyAlertEvents({ ...earlier, events_digest: data.events_digest! }, events)).toMatchObject({
    code: 'WRONG_EVENT',
  });
});

test('the hash of an event stays valid when assets become known and when the sender chose its id', async () => {
  const id = '01930000-0000-7000-8000-0000000000a1';
  await send(query(1, 'a.medium.example', { id }));
  const { body } = await service.call('listAlerts', 'GET /api/v1/alerts?severity=medium', { token: admin });
  const alert = (body as Resources).data[0]!;
  const json = { ip_addresses: ['192.168.0.10'], name: 'desk', criticality: 'low' };
  await service.call('createAsset', 'POST /api/v1/assets', { token: admin, json });
  const raised = await service.call('updateAlert', `PUT /api/v1/alerts/${alert.id}`, {
    token: admin,
    json: { severity: 'high' },
  });
  expect(raised.status).toBe(200);
  const data = await logged('A query for medium');
  const events = await served(data.event_ids);
  expect(events[0]!.attributes).toHaveProperty('src_asset_id');
  expect(verifyAlertEvents(data, events)).toEqual({ verified: [id], missing: [] });
});

test('verification fails for an entry from an earlier version, because the entry has no digest', () => {
  expect(verifyAlertEvents({}, [])).toBeInstanceOf(AuditFault);
});
