import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type AuditResult, audit, type Pin } from '../../src/client/auditor.ts';
import { Fault } from '../../src/client/fault.ts';
import { httpLog } from '../../src/client/log-source.ts';
import { writeTreeHead } from '../../src/contract/write-tree-head.ts';
import { encodeHead, headToJson } from '../../src/tlog/head.ts';
import { ServedLog } from './served-log.ts';

let log: ServedLog;
beforeEach(async () => {
  log = await ServedLog.start();
});
afterEach(() => log.close());

const check = (pin?: Pin, options = {}) => audit(httpLog(log.url), pin, { now: log.now, ...options });

/** An audit that finds nothing wrong with the tree. */
function sound(result: AuditResult) {
  if (result.status === 'fault') throw new Error(`${result.fault.code}: ${result.fault.message}`);
  if (result.status === 'empty') throw new Error('empty');
  return result;
}

const codeOf = (result: AuditResult) => (result.status === 'fault' ? result.fault.code : result.status);

async function pinned(): Promise<Pin> {
  await log.append(3);
  return sound(await check()).pin;
}

const rotate = () => log.ledger.rotateKey('transparency-sth', 'system');

test('the pinned key signs: there is nothing to vouch for', async () => {
  const pin = await pinned();
  await log.append(1);
  expect(sound(await check(pin, { strictKeys: true })).newKey).toBeUndefined();
});

test.each([1, 2, 5])('after %i rotations the key is vouched for by the pinned one', async (times) => {
  const pin = await pinned();
  for (let n = 0; n < times; n++) {
    await rotate();
    log.now += 1000;
    await log.append(2);
    await log.ledger.rotateKey('event-signing', 'system');
  }
  const result = sound(await check(pin, { strictKeys: true }));
  expect(result.newKey).toBe('vouched');
  expect(result.pin.head.signerKeyId).not.toBe(pin.head.signerKeyId);
});

test('a key that takes the place of a revoked one is told, and refused by whoever is strict', async () => {
  const pin = await pinned();
  await log.ledger.revokeKey(pin.head.signerKeyId, 'stolen', 'system');
  const { newKey } = sound(await check(pin));
  expect(newKey).toBeInstanceOf(Fault);
  expect((newKey as Fault).code).toBe('UNVOUCHED_KEY');
  expect(codeOf(await check(pin, { strictKeys: true }))).toBe('UNVOUCHED_KEY');
});

/** Somebody in between, with a key of his own in the key set, who signs the log's tree anew. */
async function standInBetween(): Promise<{ kid: string; x: string; fingerprint: string }> {
  const { privateKey } = generateKeyPairSync('ed25519');
  const x = String(privateKey.export({ format: 'jwk' }).x);
  const kid = '01940000-0000-7000-8000-00000000beef';
  const head = await log.ledger.head();
  const raw = Buffer.from(head.root_hash, 'hex');
  const forged = {
    size: head.tree_size,
    root: new Uint8Array(raw),
    timestampNs: BigInt(head.timestamp_ns) + 1024n,
  };
  const signature = sign(null, encodeHead(forged), privateKey);
  const own = {
    kty: 'OKP',
    crv: 'Ed25519',
    x,
    kid,
    use: 'sig',
    alg: 'EdDSA',
    svc_purpose: 'transparency-sth',
    svc_state: 'active',
    svc_from_size: 0,
  };
  log.lies = [
    { path: '/api/transparency/sth', tell: () => writeTreeHead(headToJson(forged, signature, kid)) },
    {
      path: '/.well-known/jwks.json',
      tell: (body) => body.replace('"keys":[', `"keys":[${JSON.stringify(own)},`),
    },
  ];
  const fingerprint = createHash('sha256').update(Buffer.from(x, 'base64url')).digest('hex');
  return { kid, x, fingerprint };
}

test('a key that somebody in between put into the key set is vouched for by nothing', async () => {
  const pin = await pinned();
  await standInBetween();
  expect((sound(await check(pin)).newKey as Fault).code).toBe('UNVOUCHED_KEY');
  expect(codeOf(await check(pin, { strictKeys: true }))).toBe('UNVOUCHED_KEY');
});

test('an entry that names his key is not in a tree that the old key signed', async () => {
  const pin = await pinned();
  const { kid, fingerprint } = await standInBetween();
  const { canonical } = await log.ledger.leaf({ leaf_index: 1 });
  const entry = JSON.parse(Buffer.from(canonical).toString());
  const forged = {
    ...entry,
    kind: 'key.rotated',
    data: {
      purpose: 'transparency-sth',
      old_kid: pin.head.signerKeyId,
      new_kid: kid,
      new_fingerprint: fingerprint,
    },
  };
  const item = {
    id: entry.id,
    type: 'log_entry',
    attributes: { leaf_index: 1, canonical: Buffer.from(JSON.stringify(forged)).toString('base64') },
  };
  log.lies.push({
    path: '/api/transparency/entries',
    tell: () => JSON.stringify({ data: [item], pagination: { page: 1, total_pages: 1 } }),
  });
  expect((sound(await check(pin)).newKey as Fault).code).toBe('NOT_INCLUDED');
  expect(codeOf(await check(pin, { strictKeys: true }))).toBe('NOT_INCLUDED');
});

test('answers that are no list, or no list of entries, vouch for nothing', async () => {
  const pin = await pinned();
  await standInBetween();
  for (const body of [
    '',
    '[]',
    '{}',
    '{"data":[{}],"pagination":{"page":1,"total_pages":1}}',
    '{"data":{}}',
  ]) {
    log.lies = log.lies.filter(({ path }) => !path.endsWith('/entries'));
    log.lies.push({ path: '/api/transparency/entries', tell: () => body });
    expect([body, (sound(await check(pin)).newKey as Fault).code]).toEqual([body, 'MALFORMED_LEAF']);
  }
});
