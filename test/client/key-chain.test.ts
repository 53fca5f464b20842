import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AuditResult, audit, type Pin } from '../../src/client/auditor.ts';
import { parseEvidence } from '../../src/client/evidence.ts';
import { AuditFault } from '../../src/client/fault.ts';
import { parseKeySet } from '../../src/client/key-set.ts';
import { httpLog } from '../../src/client/log-source.ts';
import { sha256 } from '../../src/client/sha256.ts';
import { judge } from '../../src/client/verdict.ts';
import { writeTreeHead } from '../../src/contract/write-tree-head.ts';
import { continueCopy } from '../../src/ledger/lives/continue-copy.ts';
import { encodeHead, headToJson } from '../../src/tlog/head.ts';
import { bytesToHex } from '../../src/tlog/hex.ts';
import { consistencyPlan, foldProof } from '../../src/tlog/proof.ts';
import { type Coordinate, foldRoot, type Hash, leafHash, nodeHash, rootPlan } from '../../src/tlog/tree.ts';
import { activeKey, type PrivateKey, rewrite } from './insider.ts';
import { ServedLog } from './served-log.ts';

let log: ServedLog;
beforeEach(async () => {
  log = await ServedLog.start();
});
afterEach(() => log.close());

const check = (pin?: Pin, options = {}) => audit(httpLog(log.url), pin, { now: log.now, ...options });

/** Expects that the audit found no fault in the tree. */
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
const keySth = '/api/transparency/sth';
const history = '/api/transparency/key-history';

function evidenceOf(result: AuditResult) {
  const read = parseEvidence((result.status === 'fault' && result.evidence) || '');
  if (read instanceof AuditFault) throw new Error(read.message);
  return read;
}

test('a chain is not needed while the pinned key signs', async () => {
  const pin = await pinned();
  await log.append(1);
  expect(sound(await check(pin)).newKey).toBeUndefined();
});

test.each([1, 2, 5])('after %i rotations, the chain from the pinned key leads to the signer', async (times) => {
  const pin = await pinned();
  for (let n = 0; n < times; n++) {
    await rotate();
    log.now += 1000;
    await log.append(2);
    await log.ledger.rotateKey('event-signing', 'system');
  }
  const result = sound(await check(pin));
  expect(result.newKey).toBe('vouched');
  expect(result.pin.head.signerKeyId).not.toBe(pin.head.signerKeyId);
  const states = [...result.pin.keys.values()].map(({ state }) => state).sort();
  expect(states).toEqual(['active', 'active', ...Array(times).fill('retired')]);
});

test('a successor of a revoked key is rejected until the operator confirms its fingerprint', async () => {
  const pin = await pinned();
  await log.ledger.revokeKey(pin.head.signerKeyId, 'stolen', 'system');
  const refused = await check(pin);
  expect(codeOf(refused)).toBe('UNVOUCHED_KEY');
  expect(refused).not.toHaveProperty('evidence');
  const { sth_key_fingerprint: fingerprint } = await log.ledger.status();
  expect(codeOf(await check(pin, { acceptedKeys: ['00'.repeat(32)] }))).toBe('UNVOUCHED_KEY');
  const accepted = sound(await check(pin, { acceptedKeys: [fingerprint] }));
  expect(accepted).toMatchObject({ status: 'extended', newKey: 'accepted' });
  expect(accepted.pin.keys.get(pin.head.signerKeyId)).toMatchObject({ state: 'revoked', toSize: 3 });
  await log.append(1);
  expect(codeOf(await check(accepted.pin))).toBe('extended');
});

/** A proxy with an additional key in the key set. */
class Interceptor {
  readonly kid = '01940000-0000-7000-8000-00000000beef';
  readonly #secret = generateKeyPairSync('ed25519').privateKey;
  readonly x = String(this.#secret.export({ format: 'jwk' }).x);
  readonly fingerprint = createHash('sha256').update(Buffer.from(this.x, 'base64url')).digest('hex');

  /** Signs a head in place of the real head, with the real root or a different root. */
  async show({ size, otherRoot = false }: { size?: number; otherRoot?: boolean } = {}): Promise<void> {
    const head = await log.ledger.head();
    const root = new Uint8Array(Buffer.from(head.root_hash, 'hex'));
    if (otherRoot) root[0]! ^= 1;
    const timestampNs = BigInt(head.timestamp_ns) + 1024n;
    const forged = { size: size ?? head.tree_size, root, timestampNs };
    const signature = sign(null, encodeHead(forged), this.#secret);
    this.addKey();
    log.lies.push({ path: keySth, tell: () => writeTreeHead(headToJson(forged, signature, this.kid)) });
  }

  addKey(): void {
    const about = { use: 'sig', alg: 'EdDSA', svc_purpose: 'transparency-sth', svc_state: 'active' };
    const own = { kty: 'OKP', crv: 'Ed25519', x: this.x, kid: this.kid, ...about, svc_from_size: 0 };
    const tell = (body: string) => body.replace('"keys":[', `"keys":[${JSON.stringify(own)},`);
    log.lies = [{ path: '/.well-known/jwks.json', tell }];
  }
}

describe('a proxy with its own key cannot accuse the log or move a pin', () => {
  test.each([
    ['the same tree', {}],
    ['another root of the same size', { otherRoot: true }],
    ['a smaller tree', { size: 2 }],
    ['a larger tree', { size: 9 }],
  ])('%s', async (_what, shown) => {
    const pin = await pinned();
    await new Interceptor().show(shown);
    const result = await check(pin);
    expect(codeOf(result)).toBe('UNVOUCHED_KEY');
    expect(result).not.toHaveProperty('evidence');
    expect(result).not.toHaveProperty('pin');
  });

  test("an entry that names the proxy's key is rejected: it is not in the tree that the old key signed", async () => {
    const pin = await pinned();
    const proxy = new Interceptor();
    await proxy.show({ otherRoot: true });
    const { canonical } = await log.ledger.leaf({ leaf_index: 1 });
    const entry = JSON.parse(Buffer.from(canonical).toString());
    const kids = { old_kid: pin.head.signerKeyId, new_kid: proxy.kid };
    const data = { purpose: 'transparency-sth', ...kids, new_fingerprint: proxy.fingerprint };
    const forged = JSON.stringify({ ...entry, kind: 'key.rotated', data });
    const attributes = { leaf_index: 1, canonical: Buffer.from(forged).toString('base64') };
    const tell = () => JSON.stringify({ data: [{ attributes }], pagination: { page: 1, total_pages: 1 } });
    log.lies.push({ path: history, tell });
    expect(codeOf(await check(pin))).toBe('NOT_INCLUDED');
  });

  test.each(['', '[]', '{}', '{"data":[{}],"pagination":{"page":1,"total_pages":1}}', '{"data":{}}'])(
    'a key history that is not a list of entries is rejected: %s',
    async (body) => {
      const pin = await pinned();
      await new Interceptor().show();
      log.lies.push({ path: history, tell: () => body });
      expect(codeOf(await check(pin))).toBe('MALFORMED_LEAF');
    },
  );

  test("wrong proofs and wrong tiles under the log's head are rejected", async () => {
    const pin = await pinned();
    log.now += 1000;
    await log.append(2);
    const path = ['11'.repeat(32), '22'.repeat(32)];
    const tell = (body: string) => JSON.stringify({ ...JSON.parse(body), audit_path: path });
    const wrongTile = (bytes: string) => 'x'.repeat(bytes.length);
    log.lies = [
      { path: '/api/transparency/consistency', tell },
      { path: '/tile/0/000.p/5', tell: wrongTile },
    ];
    const result = await check(pin);
    expect(codeOf(result)).toBe('PROOF_WITHHELD');
    expect(judge(evidenceOf(result)).convicts).toBe(false);
  });

  test('a checkpoint by another key is rejected, with the fingerprint to confirm', async () => {
    const pin = await pinned();
    const key = [...pin.keys.values()].find(({ purpose }) => purpose === 'checkpoint')!;
    await log.ledger.revokeKey(key.kid, 'stolen', 'system');
    const result = await check(pin);
    expect(codeOf(result)).toBe('UNVOUCHED_KEY');
    const { fingerprint } = (await log.ledger.keyRecords()).find(
      ({ purpose, state }) => purpose === 'checkpoint' && state === 'active',
    )!;
    expect(result).toMatchObject({ fault: { fingerprint } });
    expect(codeOf(await check(pin, { acceptedKeys: [fingerprint] }))).toBe('extended');
  });

  test('a stolen checkpoint key does not prove misbehaviour once it is revoked', async () => {
    const pin = await pinned();
    let stolen: PrivateKey | undefined;
    await log.tamper((folder) => {
      stolen = activeKey(folder, 'checkpoint');
    });
    const [name, id] = (await log.ledger.status()).checkpoint_vkey!.split('+');
    await log.ledger.revokeKey(stolen!.kid, 'stolen', 'system');
    log.now += 3_600_000;
    await log.append(2);
    const acceptedKeys = (await log.ledger.keyRecords())
      .filter(({ purpose, state }) => purpose === 'checkpoint' && state === 'active')
      .map(({ fingerprint }) => fingerprint);
    const accepted = sound(await check(pin, { acceptedKeys })).pin;
    expect(accepted.keys.get(stolen!.kid)?.state).toBe('revoked');
    const body = `${name}\n${(await log.ledger.head()).tree_size}\n${Buffer.alloc(32, 9).toString('base64')}\n`;
    const signature = Buffer.concat([Buffer.from(id!, 'hex'), stolen!.sign(Buffer.from(body))]);
    const note = `${body}\n\u2014 ${name} ${signature.toString('base64')}\n`;
    log.lies = [{ path: '/checkpoint', tell: () => note }];
    expect(codeOf(await check(accepted))).toBe('UNSIGNED_CHECKPOINT');
    // An auditor whose pin predates the revocation reads the key history first.
    const late = await check(pin);
    expect(codeOf(late)).toBe('UNPROVEN');
    expect(judge(evidenceOf(late)).reason).toContain('had ended');
  });

  test('a checkpoint is required if an earlier audit saw one', async () => {
    const pin = await pinned();
    log.lies = [{ path: '/checkpoint', tell: () => ({ status: 404, body: '' }) }];
    expect(codeOf(await check(pin))).toBe('CHECKPOINT_WITHHELD');
  });
});

test.each(['pinned', 'latest'])('a history without the %s head is HEAD_MISSING', async (which) => {
  const pin = await pinned();
  log.now += 1000;
  await log.append(1);
  const size = which === 'pinned' ? 3 : 4;
  const tell = (body: string) => body.replaceAll(new RegExp(`"tree_size":${size},`, 'g'), '"tree_size":1,');
  log.lies = [{ path: '/api/transparency/sths', tell }];
  const result = await check(pin);
  expect(codeOf(result)).toBe('HEAD_MISSING');
  expect(result).toMatchObject({ fault: { message: expect.stringContaining(`size ${size} `) } });
});

describe("an attacker with the log's key", () => {
  const otherRoot = new Uint8Array(32).fill(7);
  /** Returns a head of this size with a different root. */
  function forge(by: PrivateKey, size: number, atMs: number, root: Hash = otherRoot): string {
    const head = {
      size,
      root,
      timestampNs: (BigInt(atMs) * 1_000_000n) & ~1023n,
    };
    return writeTreeHead(headToJson(head, by.sign(encodeHead(head)), by.kid));
  }
  const keyOf = async (): Promise<PrivateKey> => {
    let key: PrivateKey | undefined;
    await log.tamper((folder) => {
      key = activeKey(folder, 'transparency-sth');
    });
    return key!;
  };
  const showing = async (text: string, pin: Pin) => {
    log.lies = [{ path: keySth, tell: () => text }];
    const result = await check(pin);
    log.lies = [];
    return result;
  };

  /** Returns a pin, and the key that signed its head. The key was stolen, and then retired ten minutes ago. */
  async function stolenKey(): Promise<{ first: Pin; stolen: PrivateKey }> {
    const first = await pinned();
    const stolen = await keyOf();
    log.now += 1000;
    await rotate();
    log.now += 600_000;
    await log.append(2);
    return { first, stolen };
  }

  test('cannot accuse the log with a stolen retired key, in heads dated after its end or backdated', async () => {
    const { first, stolen } = await stolenKey();
    const { pin } = sound(await check(first));
    expect(pin.keys.get(stolen.kid)?.state).toBe('retired');
    for (const size of [3, 9, pin.head.size])
      expect(codeOf(await showing(forge(stolen, size, log.now + 1000), pin))).toBe('KEY_OUT_OF_RANGE');
    const back = await showing(forge(stolen, 3, log.now - 600_500), pin);
    expect(codeOf(back)).toBe('UNPROVEN');
    expect(back).toMatchObject({ evidence: expect.stringContaining('"convicts":false') });
  });

  test('cannot prove misbehaviour under a pin from before the end of the key, if the log shows the end', async () => {
    const { first, stolen } = await stolenKey();
    for (const at of [log.now + 1000, log.now - 600_500]) {
      const result = await showing(forge(stolen, 3, at), first);
      expect(codeOf(result)).toBe('UNPROVEN');
      expect(judge(evidenceOf(result)).convicts).toBe(false);
    }
  });

  test('causes a fork to be reported if a proxy hides the end of the key, but the current keys do not prove the fork', async () => {
    const { first, stolen } = await stolenKey();
    log.lies = [
      { path: keySth, tell: () => forge(stolen, 3, log.now + 1000) },
      { path: history, tell: () => '{"data":[],"pagination":{"page":1,"total_pages":1}}' },
    ];
    const result = await check(first);
    log.lies = [];
    expect(codeOf(result)).toBe('FORK');
    const keys = parseKeySet(JSON.stringify({ keys: await log.ledger.keys() }));
    if (keys instanceof AuditFault) throw new Error(keys.message);
    const { convicts, reason } = judge(evidenceOf(result), keys);
    expect(convicts).toBe(false);
    expect(reason).toContain('KEY_OUT_OF_RANGE');
  });

  test('cannot invalidate evidence of a fork by revoking the key later, with the keys of the file or the log', async () => {
    const pin = await pinned();
    await log.tamper((folder) => rewrite(folder, (entries) => Object.assign(entries[1]!, { actor: 'x' })));
    log.now += 1000;
    const result = await check(pin);
    expect(codeOf(result)).toBe('FORK');
    const evidence = evidenceOf(result);
    log.now += 3_600_000;
    await log.ledger.revokeKey(pin.head.signerKeyId, 'to get rid of it', 'system');
    const keys = parseKeySet(JSON.stringify({ keys: await log.ledger.keys() }));
    if (keys instanceof AuditFault) throw new Error(keys.message);
    expect([...keys.values()].some(({ state }) => state === 'revoked')).toBe(true);
    expect(judge(evidence).convicts).toBe(true);
    expect(judge(evidence, keys)).toMatchObject({ convicts: true });
    // The same evidence, found only after the end of the key, may be from an attacker.
    const late = { ...evidence, foundAt: new Date(log.now + 3_600_000).toISOString() };
    expect(judge(late, keys)).toMatchObject({ convicts: false });
  });

  test('is proven to have forked the log under a rotated key, by the links in the evidence', async () => {
    const pin = await pinned();
    await rotate();
    const next = await keyOf();
    log.now += 1000;
    await log.append(2);
    // A tree of nine other leaves, its head signed by the new key, and the proof from its first three leaves.
    const hashAt = (level: number, index: number): Hash =>
      level === 0
        ? leafHash(sha256, new TextEncoder().encode(`other ${index}`))
        : nodeHash(sha256, hashAt(level - 1, 2 * index), hashAt(level - 1, 2 * index + 1));
    const at = (place: Coordinate) => hashAt(place.level, place.index);
    const path = foldProof(sha256, consistencyPlan(3, 9), at).map(bytesToHex);
    const sizes = { tree_size: 9, first_size: 3, second_size: 9 };
    const root = foldRoot(sha256, 9, rootPlan(9).map(at));
    log.lies = [
      { path: keySth, tell: () => forge(next, 9, log.now + 1000, root) },
      {
        path: '/api/transparency/consistency',
        tell: () => ({ status: 200, body: JSON.stringify({ ...sizes, audit_path: path }) }),
      },
    ];
    const result = await check(pin);
    expect(codeOf(result)).toBe('INCONSISTENT');
    const evidence = evidenceOf(result);
    expect(evidence.links).toHaveLength(1);
    expect(judge(evidence)).toMatchObject({ convicts: true });
    expect(judge({ ...evidence, links: [] }).convicts).toBe(false);
    const [link] = evidence.links!;
    const moved = { ...link!, leaf: { ...link!.leaf, leafIndex: 2 } };
    expect(judge({ ...evidence, links: [moved] }).convicts).toBe(false);
  });
});

describe('a log with a new life', () => {
  async function newLife(reason: string, previous: boolean): Promise<string> {
    const head = await log.ledger.head();
    await log.ledger.revokeKey(head.signer_key_id, 'new life', 'system');
    const records = (await log.ledger.keyRecords()).filter(({ state }) => state === 'active');
    const keys = records.map(({ purpose, kid, fingerprint }) => ({ purpose, kid, fingerprint }));
    const logged = { ...head, timestamp_ns: String(BigInt(head.timestamp_ns)) };
    await log.ledger.append([
      {
        id: '01940000-0000-7000-8000-0000000011fe',
        kind: 'log.life_started',
        occurred_at: new Date(log.now).toISOString(),
        actor: 'system',
        subject: { type: 'log', id: 'log.example/life-00000000' },
        data: {
          reason,
          life: '00000000',
          origin: 'log.example/life-00000000',
          keys,
          continues_from: { tree_size: 3 },
          ...(previous && { previous: { origin: 'log.example', head: logged } }),
        },
      },
    ]);
    return (await log.ledger.status()).sth_key_fingerprint;
  }

  test('is trusted again, with its checkpoint key, once the key of its head is accepted', async () => {
    await log.append(3);
    const backup = await log.snapshot();
    const pin = await pinned();
    await log.restore(backup);
    await log.tamper((dataDir) => continueCopy({ dataDir }).then(() => undefined));
    const found = await check(pin);
    expect(codeOf(found)).toBe('NEW_LIFE');
    const { fingerprint } = (found as { fault: AuditFault }).fault;
    const accepted = await check(pin, { acceptedKeys: [fingerprint!] });
    expect(accepted).toMatchObject({
      newKey: 'accepted',
      checkpoint: { size: (await log.ledger.head()).tree_size },
    });
    expect(codeOf(await check((accepted as { pin: Pin }).pin))).toBe('unchanged');
  });

  test.each([
    ['restored', 'NEW_LIFE'],
    ['begun_anew', 'NEW_LOG'],
  ])('with the reason %s is %s: rejected without evidence until its key is accepted', async (reason, code) => {
    const pin = await pinned();
    const fingerprint = await newLife(reason, true);
    const result = await check(pin);
    expect(codeOf(result)).toBe(code);
    expect(result).not.toHaveProperty('evidence');
    const { message, fingerprint: offered } = (result as { fault: AuditFault }).fault;
    expect(message).toContain('an earlier head of size 3, signed by a pinned key');
    expect(message).toContain('all 3 pinned entries are in the new tree');
    expect(offered).toBe(fingerprint);
    expect(codeOf(await check(pin, { acceptedKeys: [fingerprint] }))).toBe('extended');
  });

  test('is reported with the loss of pinned entries, and replaces the pin once its key is accepted', async () => {
    await log.append(3);
    const copy = await log.snapshot();
    await log.append(5);
    const { pin } = sound(await check());
    await log.restore(copy);
    log.now += 1000;
    const fingerprint = await newLife('restored', false);
    const result = await check(pin);
    expect(codeOf(result)).toBe('NEW_LIFE');
    expect((result as { fault: AuditFault }).fault.message).toContain('those from 3 on are lost');
    const replaced = sound(await check(pin, { acceptedKeys: [fingerprint] }));
    expect(replaced.status).toBe('replaced');
    expect(codeOf(await check(replaced.pin))).toBe('unchanged');
  });

  test('is rejected as UNVOUCHED_KEY if its first entry is not in the tree of the head', async () => {
    const pin = await pinned();
    await newLife('restored', true);
    log.lies = [{ path: '/api/transparency/inclusion', tell: () => '{"audit_path":[]}' }];
    expect(codeOf(await check(pin))).toBe('UNVOUCHED_KEY');
  });
});
