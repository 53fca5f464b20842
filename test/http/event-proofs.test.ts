/** Proofs of stored events: from ingest to a file that verifies offline. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type SealedEvent, verifySealedEvent } from '../../src/client/event-proof.ts';
import type { EventProof } from '../../src/contract/resources/event-proof.ts';
import { sha256 } from '../../src/crypto/sha256.ts';
import { openDatabase } from '../../src/database/lmdb.ts';
import { BlockStore } from '../../src/events/store/block-store.ts';
import type { SealScheduler } from '../../src/events/store/seal-scheduler.ts';
import type { SealedRows } from '../../src/store/store.ts';
import { databaseFile, openTables } from '../../src/store/tables.ts';
import { bytesToHex } from '../../src/tlog/hex.ts';
import { leafHash } from '../../src/tlog/tree.ts';
import { candor } from '../cli/candor.ts';
import { blockOf, openSealer } from '../events/store/sealing.ts';
import { adminOf, issue, openService, type Service } from './service.ts';
import { verifyProof } from './verify-proof.ts';

let service: Service;
let admin: string;
let sealer: SealScheduler;

beforeAll(async () => {
  service = await openService();
  admin = await adminOf(service);
  sealer = await openSealer(service.store, service.reader);
});
afterAll(async () => {
  await sealer.close();
  await service.close();
});

const u32 = (value: number) => new Uint8Array(Uint32Array.of(value).buffer);
const f64 = (value: number) => new Uint8Array(Float64Array.of(value).buffer);
const text = (value: string) => Buffer.concat([u32(value.length), Buffer.from(value)]);
const column = (name: string, kind: string, form: number, ...values: (string | ArrayLike<number>)[]) =>
  Buffer.concat([
    text(name),
    Buffer.from(kind),
    Buffer.from([form]),
    ...values.map((value) => Buffer.from(value as string)),
  ]);
const id = column('id', 'u', 2, u32(1), u32(1), 'zy');

const explicit = '0190a7b0-0000-4000-8000-000000000001';
const flow = (n: number) => ({
  timestamp: `2026-11-20T10:00:${String(n % 60).padStart(2, '0')}.000Z`,
  src_ip: '192.168.0.10',
  src_port: 40_000 + n,
  dst_ip: '2001:db8::5',
  dst_port: 443,
  transport: 'tcp',
  duration_ms: 12.5,
  src_bytes: 1e15,
});
const query = {
  ...{ timestamp: '2026-11-20T10:00:00.000Z', src_ip: '10.0.0.1', src_port: 1, dst_ip: '10.0.0.53' },
  ...{ dst_port: 53, transport: 'udp', kind: 'response', query: 'www.exämple.org', truncated: false },
  answers: [{ type: 'A', ttl: 60, data: '10.0.0.9' }],
};

async function send(table: 'network' | 'dns', events: readonly object[]): Promise<void> {
  const json = { operation: table === 'network' ? 'ingestNetworkEvents' : 'ingestDnsEvents' } as const;
  const { status, body } = await service.call(json.operation, `POST /api/v1/events/${table}`, {
    token: admin,
    json: events,
  });
  expect([status, body]).toMatchObject([200, { data: { accepted: events.length } }]);
}

const operations = { network: 'getNetworkEventProof', dns: 'getDnsEventProof' } as const;
const ask = (table: 'network' | 'dns', id: string, token = admin) =>
  service.call(operations[table], `GET /api/v1/events/${table}/${id}/proof`, { token });

/** Returns the text of the proof, once the entry is in the log. */
async function proofText(table: 'network' | 'dns', id: string): Promise<string> {
  for (;;) {
    service.pump.wake();
    const { status } = await ask(table, id);
    const headers = { authorization: `Bearer ${admin}` };
    if (status === 200) return (await fetch(`${service.url}/api/v1/events/${table}/${id}/proof`, { headers })).text();
    await setTimeout(5);
  }
}

async function firstId(table: 'network' | 'dns'): Promise<string> {
  const operation = table === 'network' ? 'listNetworkEvents' : 'listDnsEvents';
  const { body } = await service.call(operation, `GET /api/v1/events/${table}?per_page=1`, { token: admin });
  return (body as { data: { id: string }[] }).data[0]!.id;
}

test('a proof is available once its event is sealed and the entry is logged; until then, the error has the reason', async () => {
  const refused = async (id: string) => {
    const { status, body } = await ask('network', id);
    return [status, (body as { error?: { details?: { reason?: string } } }).error?.details?.reason];
  };
  const unknown = '0190a7b0-0000-4000-8000-0000000000ff';
  expect(await refused(unknown)).toEqual([404, `there is no network_event ${unknown}`]);
  await send('network', [{ ...flow(1), id: explicit }]);
  expect(await refused(explicit)).toEqual([503, 'not_sealed_yet']);
  await sealer.seal();
  // The log may have the entry before or after this request.
  expect([
    [503, 'seal_not_logged'],
    [200, undefined],
  ]).toContainEqual(await refused(explicit));
  expect(verifyProof(await proofText('network', explicit.toUpperCase()))).toMatchObject({
    id: explicit,
    sequence: 1,
    neighbours: 0,
  });
});

test('proofs require roles that may read events and entries', async () => {
  for (const [role, status] of [
    ['viewer', 403],
    ['auditor', 403],
    ['sensor', 403],
    ['analyst', 200],
  ] as const) {
    const token = await issue(service, admin, [role]);
    expect((await ask('network', explicit, token)).status, role).toBe(status);
  }
});

describe('a proof', () => {
  const texts = {} as Record<'network' | 'dns', string>;
  let sealed: Record<'network' | 'dns', EventProof>;

  beforeAll(async () => {
    await send(
      'network',
      Array.from({ length: 100 }, (_, n) => flow(n)),
    );
    await send('dns', [query]);
    await sealer.seal();
    for (const table of ['network', 'dns'] as const) texts[table] = await proofText(table, await firstId(table));
    const attributesOf = (text: string) => JSON.parse(text).data.attributes as EventProof;
    sealed = { network: attributesOf(texts.network), dns: attributesOf(texts.dns) };
  });

  test.each(['network', 'dns'] as const)('verifies with and without the envelope: a %s event', (table) => {
    const { event } = sealed[table];
    for (const text of [texts[table], changed(table, () => undefined)])
      expect(verifyProof(text)).toMatchObject({ id: event.id, table });
    const { derived } = verifyProof(texts[table]) as SealedEvent;
    expect([...derived].sort()).toEqual(
      Object.keys(event.attributes)
        .filter((name) =>
          ['end_time', 'registered_domain', 'community_id', 'src_asset_id', 'dst_asset_id'].includes(name),
        )
        .sort(),
    );
  });

  /** Returns the text of the proof after a change. The head's time has more digits than a double prints. */
  const changed = (table: 'network' | 'dns', change: (copy: EventProof) => unknown) => {
    const copy = structuredClone(sealed[table]);
    change(copy);
    const [exact] = /"timestamp_ns":\d+/.exec(texts[table])!;
    return JSON.stringify(copy).replace(/"timestamp_ns":\d+/, exact);
  };

  test.each(['network', 'dns'] as const)('is rejected if any value of a %s event was altered', (table) => {
    const proof = sealed[table];
    const alter = (change: (attributes: Record<string, unknown>) => unknown) =>
      changed(table, ({ event }) => change(event.attributes as Record<string, unknown>));
    expect(verifyProof(alter(() => undefined))).toMatchObject({ id: proof.event.id });
    const { derived } = verifyProof(texts[table]) as SealedEvent;
    const covered = Object.keys(proof.event.attributes).filter((name) => !derived.includes(name));
    expect(covered.length).toBeGreaterThan(10);
    for (const name of covered) {
      const wrong = [
        alter((of) => Object.assign(of, { [name]: typeof of[name] === 'number' ? 1.5 : 'other' })),
        alter((of) => Reflect.deleteProperty(of, name)),
      ];
      for (const text of wrong) expect(verifyProof(text), name).toMatchObject({ code: 'WRONG_EVENT' });
    }
    expect(verifyProof(alter((attributes) => Object.assign(attributes, { vlan: 4 })))).toMatchObject({
      code: 'WRONG_EVENT',
    });
    expect(verifyProof(alter((attributes) => Object.assign(attributes, { more: '\ud800' })))).toMatchObject({
      code: 'WRONG_EVENT',
    });
  });

  test('is rejected if an id, a position, the path or the piece was altered', () => {
    const altered: [string, (copy: EventProof) => unknown][] = [
      ['WRONG_EVENT', ({ event }) => Object.assign(event, { id: explicit })],
      ['MALFORMED_EVENT_PROOF', ({ event }) => Object.assign(event, { type: 'dns_event' })],
      ['MALFORMED_EVENT_PROOF', ({ event }) => Object.assign(event, { verdict: 'malicious' })],
      ['MALFORMED_EVENT_PROOF', ({ seal }) => Object.assign(seal, { tree_size: seal.tree_size + 1 })],
      ['WRONG_EVENT', ({ seal }) => Object.assign(seal, { sequence: seal.sequence - 1 })],
      ['MALFORMED_EVENT_PROOF', ({ seal }) => Object.assign(seal, { sequence: seal.sequence + 64 })],
      ['NOT_INCLUDED', ({ seal }) => Object.assign(seal, { first_seq: seal.first_seq + 1 })],
      ['NOT_INCLUDED', ({ seal }) => Object.assign(seal, { rows: seal.rows + 1 })],
      ['NOT_INCLUDED', ({ seal }) => Object.assign(seal, { leaf_index: seal.leaf_index + 1 })],
      ['NOT_INCLUDED', ({ seal }) => seal.audit_path.pop()],
      ['MALFORMED_EVENT_PROOF', ({ seal }) => Object.assign(seal, { table: 'dns' })],
      [
        'NOT_INCLUDED',
        ({ event, seal }) => [Object.assign(event, { type: 'dns_event' }), Object.assign(seal, { table: 'dns' })],
      ],
      ['NOT_INCLUDED', ({ seal }) => Object.assign(seal, { entry_id: explicit })],
      ['NOT_INCLUDED', ({ seal }) => Object.assign(seal, { piece: sealed.dns.seal.piece })],
      ['MALFORMED_EVENT_PROOF', ({ seal }) => Object.assign(seal, { piece: '-' })],
      ['MALFORMED_EVENT_PROOF', (copy) => Reflect.deleteProperty(copy, 'proof')],
      ['MALFORMED_PROOF', ({ proof }) => Object.assign(proof, { leaf_index: proof.leaf_index + 1 })],
    ];
    for (const [code, change] of altered) expect(verifyProof(changed('network', change))).toMatchObject({ code });
    const bytes = Buffer.from(sealed.network.seal.piece, 'base64');
    for (let at = 0; at < bytes.length; at += 97) {
      const other = Buffer.from(bytes);
      other[at]! ^= 1;
      const text = changed('network', ({ seal }) => Object.assign(seal, { piece: other.toString('base64') }));
      expect(verifyProof(text)).toMatchObject({ code: 'NOT_INCLUDED' });
    }
  });

  test.each([
    ['one id in two rows', column('id', 'u', 2, u32(1), u32(1), 'zz')],
    ['an answers text that is not JSON', id, column('answers', 's', 1, text('{bad'))],
    ['a column twice', id, column('rcode', 'n', 1, f64(1)), column('rcode', 'n', 1, f64(1))],
    ['a place beyond the list', id, column('query', 's', 2, [1], text('a'), [1, 2])],
    ['a boolean of 7', id, column('rejected', 'b', 1, f64(7))],
    ['an infinite number', id, column('rcode', 'n', 1, f64(Number.POSITIVE_INFINITY))],
    ['an address with another mark', id, column('src_ip', 'a', 1, [2], new Uint8Array(16))],
  ] as const)('is rejected if the piece has %s', (_, ...columns) => {
    const head = ['candor-event-piece/v1\n', text('dns'), f64(1), u32(2)];
    const piece = Buffer.concat([...head, ...columns].map((part) => Buffer.from(part as string)));
    const range = { table: 'dns', first_seq: 1, rows: 2, events_root: bytesToHex(leafHash(sha256, piece)) };
    const place = { table: 'dns', entryId: 'e', firstSeq: 1, rows: 2, sequence: 1, leafIndex: 0 } as const;
    const attributes = { ...(columns.length === 1 ? {} : { answers: null }) };
    const file = { ...place, event: { id: 'z', attributes }, path: [], piece, bundle: '' };
    const entry = { id: 'e', kind: 'events.sealed', data: { ranges: [range] } };
    expect(verifySealedEvent(file, { entry } as never)).toMatchObject({ code: 'MALFORMED_EVENT_PROOF' });
  });

  test('is displayed by candor verify, unless the event was altered', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'candor-event-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'event.json');
    writeFileSync(file, texts.network);
    const { id, attributes } = sealed.network.event;
    const ok = await candor('verify', file, '--json', '--extract', join(folder, 'parts'));
    expect(ok).toMatchObject({ code: 0, json: { status: 'ok', kind: 'events.sealed', event_id: id } });
    expect((await candor('verify', file)).stdout).toContain(`src_port ${attributes.src_port}\n`);
    writeFileSync(file, texts.network.replace(`"src_port":${attributes.src_port}`, '"src_port":1'));
    expect(await candor('verify', file, '--json')).toMatchObject({ code: 4, json: { code: 'WRONG_EVENT' } });
  });
});

test('altered events have no proof, even if stored roots match them, and the log status reports it', async () => {
  const id = await firstId('dns');
  expect((await ask('dns', id)).status).toBe(200);
  const root = openDatabase(join(service.services.config.data_dir, databaseFile));
  const { eventSeals } = openTables(root);
  const blocks = new BlockStore(root);
  const { header } = blocks.verify('dns', 1);
  const [place, seal] = [...eventSeals.getRange({})]
    .map(({ key, value }) => [key, value] as const)
    .find(([, { ranges }]) => ranges.some(({ table }) => table === 'dns'))!;
  blocks.transaction(() => {
    blocks.remove(1, header);
    blocks.put(1, blockOf('dns', header.rows, { records: [{ timestamp: Date.parse(query.timestamp) }] }));
  });
  const alter = (change: Partial<SealedRows>, entry_id = seal.entry_id) =>
    root.transactionSync(() => {
      const ranges = seal.ranges.map((range) => (range.table === 'dns' ? { ...range, ...change } : range));
      eventSeals.putSync(place, { entry_id, ranges });
    });
  const expectAltered = async (message: string) =>
    expect(await ask('dns', id)).toMatchObject({
      status: 500,
      body: { error: { message: expect.stringContaining(message), details: { reason: 'events_altered' } } },
    });
  const forged = { batches: service.reader.digestEvents('dns', 1, 64)!.batches };
  alter(forged);
  await expectAltered('differs from the events or roots');
  const { findings } = await service.services.logStatus();
  expect(findings).toMatchObject([{ code: 'events_altered', message: expect.stringContaining('dns events 1 to 1') }]);
  alter({});
  await expectAltered('were altered after they were stored');
  const [other] = [...eventSeals.getRange({})].filter(({ key }) => key !== place);
  alter(forged, other!.value.entry_id);
  await expectAltered('does not cover this range');
  alter(forged, explicit);
  await expectAltered('which the log does not have');
  root.transactionSync(() => eventSeals.removeSync(place));
  expect(await ask('dns', id)).toMatchObject({
    status: 404,
    body: { error: { message: expect.stringContaining('or the seal was removed') } },
  });
  await root.close();
});
