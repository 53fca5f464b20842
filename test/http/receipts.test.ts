/**
 * Signed receipts of ingest bodies: sensors receive them, the log records them, and any holder can verify them.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { AuditFault } from '../../src/client/fault.ts';
import { type KeySet, parseKeySet } from '../../src/client/key-set.ts';
import { parseReceipt, type ReceiptFile, verifyReceipt, verifyReceiptBody } from '../../src/client/receipt.ts';
import type { OperationId } from '../../src/contract/routes.ts';
import { candor } from '../cli/candor.ts';
import { adminOf, issue, openService, type Service } from './service.ts';

let service: Service;
let admin: string;
let sensor: string;

beforeAll(async () => {
  service = await openService();
  admin = await adminOf(service);
  sensor = await issue(service, admin, ['sensor']);
});
afterAll(() => service.close());

const flow = (n: number) => ({
  timestamp: '2026-11-20T10:00:00.000Z',
  src_ip: '192.168.0.10',
  src_port: 40_000 + n,
  dst_ip: '203.0.113.5',
  dst_port: 443,
  transport: 'tcp',
});
const query = { ...flow(1), dst_port: 53, transport: 'udp', kind: 'query', query: 'example.org' };
const conn = {
  ts: 1_700_000_000,
  uid: 'C1',
  'id.orig_h': '10.0.0.1',
  'id.orig_p': 1,
  'id.resp_h': '10.0.0.2',
};
const zeek = { ...conn, 'id.resp_p': 443, proto: 'tcp', conn_state: 'SF' };

const send = (path: string, body: string | Uint8Array, headers: Record<string, string> = {}, token = sensor) =>
  fetch(service.url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'candor-receipt': 'sha256',
      'content-type': 'application/json',
      ...headers,
    },
    body: body as string,
  });

const sha256 = (body: string | Uint8Array) => createHash('sha256').update(body).digest('hex');

function receiptIn(answer: Response): ReceiptFile {
  const parsed = parseReceipt(answer.headers.get('candor-receipt') ?? '');
  if (parsed instanceof AuditFault) throw parsed;
  return parsed;
}

async function keys(): Promise<KeySet> {
  const parsed = parseKeySet(await (await fetch(`${service.url}/.well-known/jwks.json`)).text());
  if (parsed instanceof AuditFault) throw parsed;
  return parsed;
}

/** Returns the text of the receipt, as the API serves it, once the log covers the receipt. */
async function logged(id: string): Promise<string> {
  for (;;) {
    service.pump.wake();
    const answer = await fetch(`${service.url}/api/v1/receipts/${id}`, {
      headers: { authorization: `Bearer ${admin}` },
    });
    const text = await answer.text();
    if (text.includes('"proof":')) return text;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const lines = (...records: object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');
const otlp = {
  resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: JSON.stringify(zeek) } }] }] }],
};
const ndjson = { 'content-type': 'application/x-ndjson' };

const bodies: [OperationId, string, string | Uint8Array, Record<string, string>, object][] = [
  ['ingest', '/api/v1/ingest', lines(zeek, { no: 'record' }), ndjson, { accepted: 1, rejected: 1 }],
  ['ingestNetworkEvents', '/api/v1/events/network', JSON.stringify([flow(1), flow(2)]), {}, { accepted: 2 }],
  [
    'ingestDnsEvents',
    '/api/v1/events/dns',
    gzipSync(JSON.stringify(query)),
    { 'content-encoding': 'gzip' },
    { accepted: 1 },
  ],
  ['elasticsearchBulk', '/_bulk', lines({ create: {} }, zeek), ndjson, { accepted: 1 }],
  ['elasticsearchBulkOfIndex', '/zeek/_bulk', lines({ index: {} }, zeek), ndjson, { accepted: 1 }],
  ['splunkEvent', '/services/collector', JSON.stringify({ event: zeek }), {}, { accepted: 1 }],
  ['splunkRaw', '/services/collector/raw', lines(zeek), {}, { accepted: 1 }],
  ['otlpLogs', '/v1/logs', JSON.stringify(otlp), {}, { accepted: 1 }],
];

test.each(bodies)('%s gets a signed receipt of the body as sent', async (_, path, body, headers, counts) => {
  const before = Date.now();
  const answer = await send(path, body, headers);
  expect(answer.status).toBe(200);
  const file = receiptIn(answer);
  const { receipt } = file;
  expect(receipt).toMatchObject({
    ...{ accepted: 0, rejected: 0, ignored: 0, duplicates: 0 },
    ...counts,
    sha256: sha256(body),
    bytes: Buffer.byteLength(body),
    sensor: { name: 'admin' },
  });
  expect(Date.parse(receipt.received_at)).toBeGreaterThanOrEqual(before);
  expect(verifyReceipt(file, await keys())).toMatchObject({
    key: { purpose: 'event-signing' },
    logged: undefined,
  });
  expect(verifyReceiptBody(receipt, Buffer.from(body))).toBeUndefined();
});

test('a request without the header Candor-Receipt gets no receipt', async () => {
  const answer = await fetch(`${service.url}/api/v1/events/network`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sensor}`, 'content-type': 'application/json' },
    body: JSON.stringify(flow(3)),
  });
  expect([answer.status, answer.headers.has('candor-receipt')]).toEqual([200, false]);
});

test.each([
  ['with another digest', '', { 'candor-receipt': 'md5' }],
  ['with ack=memory', '?ack=memory', {}],
])('a request for a receipt %s is rejected and stores nothing', async (_, search, headers) => {
  const before = (await service.store.status()).events.network;
  const answer = await send(`/api/v1/events/network${search}`, JSON.stringify(flow(4)), headers);
  expect([answer.status, await answer.json()]).toMatchObject([
    400,
    { error: { code: 'INVALID_REQUEST', details: { field: 'candor-receipt' } } },
  ]);
  expect((await service.store.status()).events.network).toBe(before);
});

test('records with a known explicit id are counted as duplicates', async () => {
  const body = JSON.stringify({ ...flow(5), id: '01930000-0000-7000-8000-0000000000b1' });
  await send('/api/v1/events/network', body);
  const { receipt } = receiptIn(await send('/api/v1/events/network', body));
  expect(receipt).toMatchObject({ accepted: 0, duplicates: 1 });
});

describe('a receipt that the log covers', () => {
  const body = JSON.stringify(flow(6));
  let text: string;
  let file: ReceiptFile;

  beforeAll(async () => {
    const given = receiptIn(await send('/api/v1/events/network', body));
    text = await logged(given.receipt.id);
    const parsed = parseReceipt(text);
    if (parsed instanceof AuditFault) throw parsed;
    file = parsed;
    expect(file.receipt).toEqual(given.receipt);
  });

  test('verifies offline, with the keys of the file or of the log', async () => {
    for (const trusted of [file.keys, await keys()])
      expect(verifyReceipt(file, trusted)).toMatchObject({
        key: { purpose: 'event-signing' },
        logged: { entry: { kind: 'ingest.receipted', id: file.batch!.entryId } },
      });
  });

  test('verifies without a signature by its place in the log alone', () => {
    const unsigned = { ...file, keyId: undefined, signature: undefined };
    expect(verifyReceipt(unsigned)).toMatchObject({
      key: undefined,
      logged: { entry: { kind: 'ingest.receipted' } },
    });
    expect(verifyReceipt({ ...unsigned, proof: undefined })).toMatchObject({ code: 'UNSIGNED_RECEIPT' });
  });

  test('is rejected if any part of it was altered', () => {
    const counted = { ...file.receipt, accepted: 2 };
    const batch = { ...file.batch!, treeSize: file.batch!.treeSize + 1 };
    const altered: [string, ReceiptFile][] = [
      ['NOT_INCLUDED', { ...file, receipt: counted }],
      ['BAD_RECEIPT_SIGNATURE', { ...file, receipt: counted, proof: undefined }],
      ['BAD_RECEIPT_SIGNATURE', { ...file, signature: new Uint8Array(64) }],
      ['NOT_INCLUDED', { ...file, batch }],
      ['NOT_INCLUDED', { ...file, batch: { ...file.batch!, path: [...file.batch!.path, new Uint8Array(32)] } }],
      ['NOT_INCLUDED', { ...file, batch: { ...file.batch!, entryId: file.receipt.id } }],
      ['UNKNOWN_KEY', { ...file, proof: undefined, keys: new Map() }],
    ];
    for (const [code, one] of altered) expect(verifyReceipt(one)).toMatchObject({ code });
    expect(verifyReceiptBody(file.receipt, Buffer.from('other'))).toMatchObject({ code: 'WRONG_BODY' });
    for (const broken of ['{"receipt":{}}', '{', text.replace('"sha256":"', '"sha256":"x')])
      expect(parseReceipt(broken)).toMatchObject({ code: 'MALFORMED_RECEIPT' });
  });

  test('stays valid after its key was revoked, although its signature becomes invalid', () => {
    const revoked = new Map(
      [...file.keys].map(([kid, key]) => {
        const isEvent = key.purpose === 'event-signing';
        return [kid, isEvent ? { ...key, state: 'revoked', toSize: 1000 } : key];
      }),
    );
    expect(verifyReceipt({ ...file, proof: undefined, keys: revoked })).toMatchObject({
      code: 'KEY_REVOKED',
    });
    expect(verifyReceipt({ ...file, keys: revoked })).toMatchObject({
      key: undefined,
      logged: { leafIndex: expect.any(Number) },
    });
  });

  test('is verified by candor verify, which rejects another body', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'candor-receipt-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [receipt, sent, other] = ['receipt.json', 'body', 'other'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(receipt, text);
    writeFileSync(sent, body);
    writeFileSync(other, `${body}\n`);
    expect(await candor('verify', receipt, '--body', sent, '--json')).toMatchObject({
      code: 0,
      json: { status: 'ok', signed: true, logged: true, body_verified: true, receipt_id: file.receipt.id },
    });
    expect(await candor('verify', receipt, '--body', other, '--json')).toMatchObject({
      code: 4,
      json: { code: 'WRONG_BODY' },
    });
  });

  test('is visible only to the principal that sent the body', async () => {
    const { body: made } = await service.call('createPrincipal', 'POST /api/v1/principals', {
      token: admin,
      json: { name: 'other', kind: 'sensor', roles: ['sensor'] },
    });
    const { id: principal_id } = (made as { data: { id: string } }).data;
    const { body: issued } = await service.call('issueToken', 'POST /api/v1/tokens', {
      token: admin,
      json: { name: 'other', principal_id, scopes: ['sensor'] },
    });
    const other = (issued as { data: { attributes: { token: string } } }).data.attributes.token;
    const read = async (token: string) =>
      (await service.call('getReceipt', `GET /api/v1/receipts/${file.receipt.id}`, { token })).status;
    expect([await read(sensor), await read(other), await read(admin)]).toEqual([200, 404, 200]);
    const { receipt } = receiptIn(await send('/api/v1/events/network', JSON.stringify(flow(7)), {}, other));
    expect(receipt.sensor).toEqual({ id: principal_id, name: 'other' });
  });
});

test('while the log cannot sign, the body is stored and the receipt has no signature', async () => {
  const degraded = await openService();
  onTestFinished(() => degraded.close());
  const token = await issue(degraded, await adminOf(degraded), ['sensor']);
  await degraded.pump.idle();
  await degraded.ledger.close();
  const answer = await fetch(`${degraded.url}/api/v1/events/network`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'candor-receipt': 'sha256',
      'content-type': 'application/json',
    },
    body: JSON.stringify(flow(8)),
  });
  const file = receiptIn(answer);
  expect([answer.status, file.receipt.accepted, file.signature]).toEqual([200, 1, undefined]);
  expect(degraded.reader.getReceipt(file.receipt.id)?.receipt).toEqual(file.receipt);
  expect(verifyReceipt(file)).toMatchObject({ code: 'UNSIGNED_RECEIPT' });
});
