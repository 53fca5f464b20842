import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { comparePins } from '../../src/cli/compare-pins.ts';
import { type AuditResult, audit, fetchHead, type Pin, proveEntry } from '../../src/client/auditor.ts';
import { auditEntries } from '../../src/client/entries.ts';
import { members, parseExact } from '../../src/client/exact-json.ts';
import { AuditFault, type FaultCode } from '../../src/client/fault.ts';
import { parseKeySet } from '../../src/client/key-set.ts';
import { httpLog } from '../../src/client/log-source.ts';
import { parsePin, writePin } from '../../src/client/pin.ts';
import { readTreeHead } from '../../src/client/tree-head.ts';
import { readPath, verifyConsistency, verifyHead } from '../../src/client/verify.ts';
import { exitCodes } from '../../src/service/exit-codes.ts';
import { CachingProxy } from './caching-proxy.ts';
import { type Lie, ServedLog } from './served-log.ts';

let log: ServedLog;

/** Starts an empty log for each test of a group. */
function logForEachTest(): void {
  beforeEach(async () => {
    log = await ServedLog.start();
  });
  afterEach(() => log.close());
}

/** Starts one log for all tests of a group, which only change its responses. */
function logForAllTests(prepare: () => Promise<unknown>): void {
  beforeAll(async () => {
    log = await ServedLog.start();
    await prepare();
  });
  afterEach(() => {
    log.lies = [];
  });
  afterAll(() => log.close());
}

const sth = '/api/transparency/sth';
const jwks = '/.well-known/jwks.json';
const consistency = '/api/transparency/consistency';
const inclusion = '/api/transparency/inclusion';

const check = (pin?: Pin, options = {}) => audit(httpLog(log.url), pin, { now: log.now, ...options });

function pinOf(result: AuditResult): Pin {
  if (result.status === 'fault') throw new Error(`${result.fault.code}: ${result.fault.message}`);
  if (result.status === 'empty') throw new Error('empty');
  return result.pin;
}

function codeOf(result: AuditResult): FaultCode | string {
  return result.status === 'fault' ? result.fault.code : result.status;
}

describe('an honest log', () => {
  logForEachTest();

  test('is reported as empty, then pinned, then unchanged, then extended', async () => {
    expect(await check()).toEqual({ status: 'empty' });
    await log.append(3);
    const first = await check();
    expect(first.status).toBe('pinned');
    expect((await check(pinOf(first))).status).toBe('unchanged');
    for (const count of [1, 4, 1, 8, 15]) {
      const pin: Pin = pinOf(await check(pinOf(first)));
      await log.append(count);
      const next = await check(pin);
      expect(next).toMatchObject({ status: 'extended', from: pin.head.size });
      expect(pinOf(next).head.size).toBe(pin.head.size + count);
      expect(pinOf(next).pinnedAt).toBe(pin.pinnedAt);
    }
  });

  test('may sign the same tree again', async () => {
    await log.append(2);
    const pin = pinOf(await check());
    log.now += 2 * 3600 * 1000;
    await log.ledger.tick();
    const again = await check(pin);
    expect(again.status).toBe('unchanged');
    expect(pinOf(again).head.timestampNs).toBeGreaterThan(pin.head.timestampNs);
  });

  test('proves its entries by position, by id, and by their bytes', async () => {
    const ids = await log.append(5);
    const source = httpLog(log.url);
    const signed = await fetchHead(source);
    if (signed instanceof AuditFault) throw new Error(signed.code);
    const byIndex = await proveEntry(source, { leafIndex: 3 }, signed);
    if (byIndex instanceof AuditFault) throw new Error(byIndex.code);
    expect(byIndex.entry.id).toBe(ids[3]);
    expect(await proveEntry(source, { entryId: ids[3]! }, signed)).toMatchObject({ leafIndex: 3 });
    expect(await proveEntry(source, { canonical: byIndex.canonical }, signed)).toMatchObject({
      leafIndex: 3,
    });
    expect(await auditEntries(source, signed)).toMatchObject({ tree: { size: 5 }, byRevokedKeys: 0 });
  });
});

const edit =
  (change: (fields: Record<string, unknown>) => void): Lie['tell'] =>
  (body) => {
    const fields = JSON.parse(body) as Record<string, unknown>;
    change(fields);
    return JSON.stringify(fields);
  };
/** Heads are edited as text, because a JSON round trip changes the digits of the timestamp. */
const replace =
  (pattern: RegExp, by: string): Lie['tell'] =>
  (body) => {
    if (!pattern.test(body)) throw new Error(`${pattern} is not in ${body}`);
    return body.replace(pattern, by);
  };
type Jwk = Record<string, unknown>;
const editKey = (purpose: string, change: (key: Jwk) => void) =>
  edit((set) => {
    for (const key of set.keys as Jwk[]) if (key.svc_purpose === purpose) change(key);
  });

/** Manipulated responses with the fault that they must cause. The log has five entries, the pin has size three. */
const lies: readonly (readonly [FaultCode, string, string, Lie['tell']])[] = [
  ['MALFORMED_HEAD', 'text that is not JSON', sth, () => '<html>'],
  ['MALFORMED_HEAD', 'a list', sth, () => '[]'],
  ['MALFORMED_HEAD', 'a size in another notation', sth, replace(/"tree_size":5/, '"tree_size":5.0')],
  ['MALFORMED_HEAD', 'a size as text', sth, replace(/"tree_size":5/, '"tree_size":"5"')],
  ['MALFORMED_HEAD', 'a size beyond 2^53', sth, replace(/"tree_size":5/, '"tree_size":9007199254740993')],
  ['MALFORMED_HEAD', 'a negative size', sth, replace(/"tree_size":5/, '"tree_size":-5')],
  ['MALFORMED_HEAD', 'size zero', sth, replace(/"tree_size":5/, '"tree_size":0')],
  ['MALFORMED_HEAD', 'a short root', sth, replace(/"root_hash":"../, '"root_hash":"')],
  ['MALFORMED_HEAD', 'a root with a prefix', sth, replace(/"root_hash":"../, '"root_hash":"0x')],
  ['MALFORMED_HEAD', 'a timestamp with an exponent', sth, replace(/"timestamp_ns":\d+/, '"timestamp_ns":1.8e18')],
  [
    'MALFORMED_HEAD',
    'a timestamp of 65 bits',
    sth,
    replace(/"timestamp_ns":\d+/, '"timestamp_ns":18446744073709551616'),
  ],
  ['MALFORMED_HEAD', 'a long signature', sth, replace(/"signature":"/, '"signature":"00')],
  ['MALFORMED_HEAD', 'a signer that is not a UUID', sth, replace(/"signer_key_id":"./, '"signer_key_id":"../')],
  ['BAD_SIGNATURE', 'a flipped bit of the signature', sth, (b) => flipHex(b, 'signature')],
  ['BAD_SIGNATURE', 'a flipped bit of the root', sth, (b) => flipHex(b, 'root_hash')],
  ['BAD_SIGNATURE', 'another size', sth, replace(/"tree_size":5/, '"tree_size":4')],
  ['BAD_SIGNATURE', 'a timestamp one nanosecond later', sth, (b) => nextNanosecond(b)],
  ['UNKNOWN_KEY', 'another signer', sth, replace(/"signer_key_id":"[0-9a-f]{8}/, '"signer_key_id":"00000000')],
  ['MALFORMED_KEYS', 'keys that are not a list', jwks, () => '{"keys":{}}'],
  ['MALFORMED_KEYS', 'a duplicate key', jwks, edit((set) => (set.keys as Jwk[]).push({ ...(set.keys as Jwk[])[0] }))],
  [
    'MALFORMED_KEYS',
    'a non-canonical encoding of x',
    jwks,
    editKey('transparency-sth', (k) => {
      k.x = `${k.x}=`;
    }),
  ],
  [
    'MALFORMED_KEYS',
    'an unknown state',
    jwks,
    editKey('transparency-sth', (k) => {
      k.svc_state = 'resting';
    }),
  ],
  [
    'WRONG_KEY_PURPOSE',
    'a signer for events',
    jwks,
    editKey('transparency-sth', (k) => {
      k.svc_purpose = 'event-signing';
    }),
  ],
  [
    'WRONG_KEY_PURPOSE',
    'a signer for a longer purpose',
    jwks,
    editKey('transparency-sth', (k) => {
      k.svc_purpose = 'transparency-sth-test';
    }),
  ],
  [
    'KEY_REVOKED',
    'a revoked signer',
    jwks,
    editKey('transparency-sth', (k) => {
      k.svc_state = 'revoked';
    }),
  ],
  [
    'KEY_PENDING',
    'a signer that is not in use yet',
    jwks,
    editKey('transparency-sth', (k) => {
      k.svc_state = 'pending';
    }),
  ],
  [
    'KEY_OUT_OF_RANGE',
    'a signer that was retired at a smaller size',
    jwks,
    editKey('transparency-sth', (k) => {
      k.svc_to_size = 4;
    }),
  ],
  [
    'KEY_OUT_OF_RANGE',
    'a signer that takes over at a larger size',
    jwks,
    editKey('transparency-sth', (k) => {
      k.svc_from_size = 6;
    }),
  ],
  ['BAD_SIGNATURE', 'a signer with another value', jwks, (b) => exchangeKeys(b)],
  [
    'WEAK_KEY',
    'a signer of low order',
    jwks,
    editKey('transparency-sth', (k) => {
      k.x = `AQ${'A'.repeat(41)}`;
    }),
  ],
  [
    'KEY_CHANGED',
    'a key with another value',
    jwks,
    editKey('checkpoint', (k) => {
      k.x = `${'A'.repeat(42)}I`;
    }),
  ],
  [
    'KEY_CHANGED',
    'a key for another purpose',
    jwks,
    editKey('checkpoint', (k) => {
      k.svc_purpose = 'transparency-sth';
    }),
  ],
  [
    'MALFORMED_PROOF',
    'a path that is not a list',
    consistency,
    edit((p) => {
      p.audit_path = 'none';
    }),
  ],
  [
    'MALFORMED_PROOF',
    'a short hash',
    consistency,
    edit((p) => {
      p.audit_path = ['00'];
    }),
  ],
  [
    'MALFORMED_PROOF',
    'a proof for other sizes',
    consistency,
    edit((p) => {
      p.first_size = 2;
    }),
  ],
  ['WRONG_PROOF', 'a missing hash', consistency, edit((p) => (p.audit_path as string[]).pop())],
  ['WRONG_PROOF', 'an additional hash', consistency, edit((p) => (p.audit_path as string[]).push('00'.repeat(32)))],
  [
    'WRONG_PROOF',
    'another hash',
    consistency,
    edit((p) => {
      (p.audit_path as string[])[0] = '11'.repeat(32);
    }),
  ],
  [
    'WRONG_PROOF',
    'no hashes',
    consistency,
    edit((p) => {
      p.audit_path = [];
    }),
  ],
  ['PROOF_WITHHELD', 'a rejected request for a proof', consistency, () => ({ status: 400, body: '{}' })],
  ['UNAVAILABLE', 'overload', consistency, () => ({ status: 503, body: '{"error":{"code":"OVERLOADED"}}' })],
  ['UNAVAILABLE', 'an error in place of the keys', jwks, () => ({ status: 500, body: 'oops' })],
  ['HTTP_REFUSED', 'a response without content', sth, () => ({ status: 204, body: '' })],
  ['LOG_EMPTY', 'a log that is suddenly empty', sth, () => ({ status: 503, body: '{"error":{"code":"LOG_EMPTY"}}' })],
];

describe('an audit of a manipulated response has a specific fault code and no new pin', () => {
  let pin: Pin;
  logForAllTests(async () => {
    await log.append(3);
    pin = pinOf(await check());
    await log.append(2);
  });

  test.each(lies)('%s: %s', async (code, _what, path, tell) => {
    log.lies = [{ path, tell }];
    const result = await check(pin);
    expect(codeOf(result)).toBe(code);
    expect(result).not.toHaveProperty('pin');
    log.lies = [];
    expect((await check(pin)).status).toBe('extended');
  });
});

describe('a failed audit has a specific fault code', () => {
  logForEachTest();

  test('a pinned key that is missing from the current keys and the list of all keys is KEY_WITHDRAWN', async () => {
    await log.append(2);
    const pin = pinOf(await check());
    const withdraw = replace(/"svc_purpose":"checkpoint"/, '"svc_purpose":"checkpoint","kty":"none"');
    log.lies = [
      { path: jwks, tell: withdraw },
      { path: '/api/transparency/keys', tell: withdraw },
    ];
    const result = await check(pin);
    expect(codeOf(result)).toBe('KEY_WITHDRAWN');
    expect(result).not.toHaveProperty('evidence');
  });

  test('a revoked key that is published as retired is KEY_CHANGED', async () => {
    await log.append(2);
    const before = pinOf(await check());
    await log.ledger.revokeKey(before.head.signerKeyId, 'stolen', 'system');
    const pin = pinOf(await check(before, { acceptedKeys: [(await log.ledger.status()).sth_key_fingerprint] }));
    log.lies = [{ path: jwks, tell: replace(/"svc_state":"revoked"/, '"svc_state":"retired"') }];
    expect(codeOf(await check(pin))).toBe('KEY_CHANGED');
  });

  test('an older head of the pinned tree, as from a cache, is OLD_HEAD', async () => {
    await log.append(2);
    const old = await (await fetch(`${log.url}${sth}`)).text();
    log.now += 2 * 3600 * 1000;
    await log.ledger.tick();
    const pin = pinOf(await check());
    log.lies = [{ path: sth, tell: () => old }];
    expect(codeOf(await check(pin))).toBe('OLD_HEAD');
  });

  test('a smaller, older head is INCONSISTENT if a proof shows a fork, and OLD_HEAD otherwise', async () => {
    const shown = async () => (await fetch(`${log.url}${sth}`)).text();
    await log.append(3);
    const begin = await log.snapshot();
    log.now += 2000;
    await log.append(4);
    const old = await shown();
    await log.append(2);
    const pin = pinOf(await check());
    const whole = await log.snapshot();
    await log.restore(begin);
    log.now -= 1000;
    await log.append(3);
    const fork = await shown();
    await log.restore(whole);
    log.lies = [{ path: sth, tell: () => old }];
    const honest = await check(pin);
    expect(codeOf(honest)).toBe('OLD_HEAD');
    expect(honest).not.toHaveProperty('evidence');
    log.lies = [{ path: sth, tell: () => fork }];
    const found = await check(pin);
    expect(codeOf(found)).toBe('INCONSISTENT');
    expect(JSON.parse((found as { evidence: string }).evidence)).toMatchObject({ convicts: true });
    const withheld = () => ({ status: 400, body: '{}' });
    log.lies.push({ path: consistency, tell: withheld });
    expect(codeOf(await check(pin))).toBe('INCONSISTENT');
    log.lies.push({ path: '/tile/0/000', tell: withheld });
    const open = await check(pin);
    expect(codeOf(open)).toBe('OLD_HEAD');
    expect(open).not.toHaveProperty('evidence');
  });

  test('a checkpoint or a head that contradicts a pinned checkpoint ahead of the head is FORK', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'candor-pins-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    await log.append(5);
    const five = await (await fetch(`${log.url}${sth}`)).text();
    const begin = await log.snapshot();
    await log.append(4);
    const noteA = await log.ledger.checkpoint();
    log.lies = [{ path: sth, tell: () => five }];
    const first = pinOf(await check());
    expect(first).toMatchObject({ head: { size: 5 }, checkpointAhead: noteA });
    const pin = parsePin(writePin(first)) as Pin;
    expect(pin).toEqual(first);
    expect(pinOf(await check(pin)).checkpointAhead).toBe(noteA);
    const whole = await log.snapshot();
    await log.restore(begin);
    log.now += 1000;
    await log.append(4);
    const noteB = await log.ledger.checkpoint();
    const two = await check(pin);
    expect(codeOf(two)).toBe('FORK');
    const shown = JSON.parse((two as { evidence: string }).evidence);
    expect(shown).toMatchObject({ convicts: true, checkpoints: [noteA, noteB] });
    const files = [pin, pinOf(await check())].map((one, i) => {
      const file = join(folder, String(i));
      writeFileSync(file, writePin(one));
      return file;
    });
    expect(await comparePins(files, undefined, log.now)).toMatchObject({
      exit: exitCodes.misbehaviour,
      fault: { code: 'FORK' },
      fields: { convicts: true },
    });
    log.lies = [];
    const head = await check(pin);
    expect(codeOf(head)).toBe('FORK');
    expect(JSON.parse((head as { evidence: string }).evidence)).toMatchObject({
      convicts: true,
      checkpoint: noteA,
      head: { tree_size: 9 },
    });
    await log.append(3);
    expect(codeOf(await check(pin))).toBe('INCONSISTENT');
    await log.restore(whole);
    const extended = await check(pin);
    expect(extended.status).toBe('extended');
    expect(pinOf(extended)).not.toHaveProperty('checkpointAhead');
  });

  test('a log without a listener is UNREACHABLE', async () => {
    const nobody = httpLog('http://127.0.0.1:9', {
      fetch: () => Promise.reject(new TypeError('connection refused')),
    });
    expect(codeOf(await audit(nobody, undefined, { now: 0 }))).toBe('UNREACHABLE');
  });

  test('a pin for another URL is OTHER_LOG', async () => {
    await log.append(1);
    const pin = pinOf(await check());
    const answer = await check({ ...pin, log: 'http://elsewhere' });
    expect(codeOf(answer)).toBe('OTHER_LOG');
    expect(answer).toMatchObject({ fault: { message: expect.stringContaining('if the log has moved') } });
  });

  test("a head is STALE_HEAD or HEAD_FROM_FUTURE if it is too far from the auditor's clock", async () => {
    await log.append(1);
    expect(codeOf(await check(undefined, { now: log.now + 10_000, maxAgeMs: 5000 }))).toBe('STALE_HEAD');
    const ahead = await check(undefined, { now: log.now - 3600_000 });
    expect(codeOf(ahead)).toBe('HEAD_FROM_FUTURE');
    const { evidence } = ahead as { evidence: string };
    expect(JSON.parse(evidence)).toMatchObject({ convicts: false, head: { tree_size: 1 } });
    // An idle log signs its head every hour, so a head that is three hours old is too old by default.
    const later = { now: log.now + 3 * 3600_000 };
    expect(codeOf(await check(undefined, later))).toBe('STALE_HEAD');
    expect(codeOf(await check(undefined, { ...later, maxAgeMs: 0 }))).toBe('pinned');
  });
});

describe('published and pinned keys', () => {
  logForEachTest();

  const origins = (from: string, to: string) => replace(new RegExp(`"svc_origin":"${from}"`), `"svc_origin":"${to}"`);

  test('pinned keys get their periods from log entries, not from the keys published later', async () => {
    await log.append(2);
    const first = pinOf(await check());
    await log.ledger.rotateKey('transparency-sth', 'system');
    await log.append(2);
    const pin = pinOf(await check(first));
    const [old, now] = [pin.keys.get(first.head.signerKeyId), pin.keys.get(pin.head.signerKeyId)];
    expect(old).toMatchObject({ state: 'retired', toSize: 3, notAfter: expect.any(String) });
    expect(now).toMatchObject({ state: 'active', fromSize: 3, notBefore: expect.any(String) });
    const widen = editKey('transparency-sth', (k) => {
      if (k.svc_state !== 'active') Object.assign(k, { svc_to_size: 99, svc_state: 'active' });
    });
    log.lies = [{ path: jwks, tell: widen }];
    expect(pinOf(await check(pin)).keys).toEqual(pin.keys);
  });

  test('a new origin is WRONG_ORIGIN, but not misbehaviour', async () => {
    await log.append(1);
    const pin = pinOf(await check());
    const key = [...pin.keys.values()].find(({ purpose }) => purpose === 'checkpoint')!;
    log.lies = [{ path: jwks, tell: origins(key.origin!, 'log.example/two') }];
    const result = await check(pin);
    expect(codeOf(result)).toBe('WRONG_ORIGIN');
    expect(result).not.toHaveProperty('evidence');
    expect(result).toMatchObject({ fault: { message: expect.stringContaining('log.example/two') } });
  });

  test('keys of every purpose take over, end and are revoked without a false alarm', async () => {
    await log.append(1);
    let pin = pinOf(await check());
    const follow = async () => {
      const acceptedKeys = (await log.ledger.keyRecords()).map((key) => key.fingerprint);
      const result = await check(pin, { acceptedKeys });
      if (result.status === 'fault') throw new Error(`${result.fault.code}: ${result.fault.message}`);
      // An audit with the pin of any earlier state succeeds too.
      for (const earlier of pins) expect((await check(earlier, { acceptedKeys })).status).toBe('extended');
      pins.push(pin);
      pin = pinOf(result);
    };
    const pins: Pin[] = [];
    for (const purpose of ['transparency-sth', 'event-signing', 'access-token'] as const) {
      log.now += 1000;
      await log.ledger.rotateKey(purpose, 'system');
      await log.append(2);
      await follow();
    }
    const before = await log.ledger.keys();
    for (const { kid, svc_state } of before) {
      log.now += 1000;
      if (svc_state === 'active' || svc_state === 'retired')
        await log.ledger.revokeKey(String(kid), 'stolen', 'system');
      await log.append(1);
      await follow();
    }
  });
});

describe('an outdated response from a cache is not misbehaviour', () => {
  logForEachTest();
  let proxy: CachingProxy;
  beforeEach(async () => {
    proxy = await CachingProxy.before(log.url);
  });
  afterEach(() => proxy.close());
  const through = (pin?: Pin) => audit(httpLog(proxy.url), pin, { now: log.now });

  test.each([
    ['the head', [sth]],
    ['the keys', [jwks]],
    ['both', [sth, jwks]],
  ])('%s', async (_what, paths) => {
    await log.append(2);
    await proxy.keep(...paths);
    await log.ledger.rotateKey('event-signing', 'system');
    await log.append(1);
    const pin = pinOf(await through());
    proxy.serveKept = true;
    expect((await through(pin)).status).toBe('unchanged');
    await log.append(1);
    expect(pinOf(await through(pin)).head.size).toBe(pin.head.size + 1);
  });

  test('keys without the new key', async () => {
    await log.append(2);
    const pin = pinOf(await through());
    await proxy.keep(jwks);
    await log.ledger.rotateKey('transparency-sth', 'system');
    proxy.serveKept = true;
    expect((await through(pin)).status).toBe('extended');
  });

  test('a claim that the log is empty', async () => {
    await proxy.keep(sth);
    await log.append(1);
    const pin = pinOf(await through());
    proxy.serveKept = true;
    expect((await through(pin)).status).toBe('unchanged');
  });

  test('the response that bypasses the cache decides between OLD_HEAD and FORK', async () => {
    await log.append(2);
    const copy = await log.snapshot();
    await proxy.keep(sth, jwks);
    await log.append(1);
    const pin = pinOf(await through());
    proxy.serveKept = true;
    await log.restore(copy);
    expect(codeOf(await through(pin))).toBe('OLD_HEAD');
    log.now += 1000;
    await log.append(1);
    await proxy.keep(sth);
    expect(codeOf(await through(pin))).toBe('FORK');
  });

  test('the result is UNAVAILABLE, not a cached response, while the log is unavailable', async () => {
    await log.append(2);
    await proxy.keep(sth, jwks);
    await log.append(1);
    const pin = pinOf(await through());
    proxy.serveKept = true;
    log.lies = [{ path: sth, tell: () => ({ status: 503, body: '' }) }];
    expect(codeOf(await through(pin))).toBe('UNAVAILABLE');
  });
});

describe('a log that contradicts itself with good signatures', () => {
  logForEachTest();

  test('a cached smaller head that was signed later proves a ROLLBACK, even if the log no longer serves it', async () => {
    const proxy = await CachingProxy.before(log.url);
    onTestFinished(() => proxy.close());
    const through = (pin?: Pin) => audit(httpLog(proxy.url), pin, { now: log.now });
    await log.append(2);
    const honest = await log.snapshot();
    await log.append(2);
    const pin = pinOf(await through());
    const whole = await log.snapshot();
    await log.restore(honest);
    log.now += 1000;
    await log.append(1);
    await proxy.keep(sth);
    await log.restore(whole);
    proxy.serveKept = true;
    const result = await through(pin);
    expect(codeOf(result)).toBe('ROLLBACK');
    expect(result).toMatchObject({ evidence: expect.stringContaining('"convicts":true') });
  });

  test('a smaller tree that was signed later is ROLLBACK, and a head that is only old is OLD_HEAD', async () => {
    await log.append(3);
    const copy = await log.snapshot();
    await log.append(2);
    const pin = pinOf(await check());
    await log.restore(copy);
    const result = await check(pin);
    expect(codeOf(result)).toBe('OLD_HEAD');
    expect(result).not.toHaveProperty('evidence');
    log.now += 1000;
    await log.append(1);
    expect(codeOf(await check(pin))).toBe('ROLLBACK');
  });

  test('a rollback is ROLLBACK even if the head is too old', async () => {
    await log.append(1);
    const copy = await log.snapshot();
    await log.append(2);
    const pin = pinOf(await check());
    await log.restore(copy);
    log.now += 1000;
    await log.append(1);
    const options = { now: log.now + 10_000, maxAgeMs: 5000 };
    const result = await check(pin, options);
    expect(codeOf(result)).toBe('ROLLBACK');
    expect(result).toHaveProperty('evidence');
    await log.append(2);
    expect(codeOf(await check(pinOf(await check()), options))).toBe('STALE_HEAD');
  });

  test('a different tree of the same size is FORK, proven by the evidence alone', async () => {
    await log.append(3);
    const copy = await log.snapshot();
    await log.append(2);
    const pin = pinOf(await check());
    await log.restore(copy);
    await log.append(2);
    const result = await check(pin);
    expect(codeOf(result)).toBe('FORK');
    const { first, second } = judge(result);
    expect(first.size).toBe(second.size);
    expect(first.root).not.toEqual(second.root);
  });

  test('a larger tree that does not extend the pinned tree is INCONSISTENT, proven by the evidence alone', async () => {
    await log.append(3);
    const copy = await log.snapshot();
    await log.append(2);
    const pin = pinOf(await check());
    await log.restore(copy);
    await log.append(6);
    const result = await check(pin);
    expect(codeOf(result)).toBe('INCONSISTENT');
    const { first, second, path } = judge(result);
    expect(verifyConsistency(first, second, path)?.code).toBe('INCONSISTENT');
  });

  test('an extension dated before the pinned head is TIME_WENT_BACK', async () => {
    await log.append(3);
    const copy = await log.snapshot();
    const then = log.now;
    log.now += 2 * 3600 * 1000;
    await log.ledger.tick();
    const pin = pinOf(await check());
    await log.restore(copy);
    log.now = then + 1000;
    await log.append(1);
    expect(codeOf(await check(pin, { now: then + 3 * 3600 * 1000 }))).toBe('TIME_WENT_BACK');
  });

  /** Reads the evidence as a third party would: both heads must verify under the keys in the evidence. */
  function judge(result: AuditResult) {
    if (result.status !== 'fault' || result.evidence === undefined) throw new Error('no evidence');
    const fields = members(parseExact(result.evidence));
    const keys = parseKeySet(result.evidence);
    const first = readTreeHead(fields?.pinned_head);
    const second = readTreeHead(fields?.head);
    if (keys instanceof AuditFault || first instanceof AuditFault || second instanceof AuditFault)
      throw new Error('malformed');
    for (const head of [first, second]) expect(verifyHead(head, keys)).not.toBeInstanceOf(AuditFault);
    const proof = members(fields?.proof);
    const path = proof === undefined ? [] : readPath(proof.audit_path);
    if (path instanceof AuditFault) throw new Error('malformed path');
    return { first, second, path };
  }
});

describe('the proof of an entry is rejected', () => {
  logForAllTests(() => log.append(5));

  const leaf = '/api/transparency/leaf';
  const changeCanonical = (change: (text: string) => string): Lie['tell'] =>
    edit((fields) => {
      fields.canonical = btoa(change(atob(String(fields.canonical))));
      delete fields.leaf_hash;
    });
  const cases: readonly (readonly [FaultCode, string, string, Lie['tell']])[] = [
    ['NOT_INCLUDED', 'an edited entry', leaf, changeCanonical((t) => t.replace('alert.raised', 'alert.closed'))],
    [
      'NOT_INCLUDED',
      'another hash in the path',
      inclusion,
      edit((p) => {
        (p.audit_path as string[])[0] = '11'.repeat(32);
      }),
    ],
    ['MALFORMED_PROOF', 'a missing hash in the path', inclusion, edit((p) => (p.audit_path as string[]).pop())],
    [
      'MALFORMED_PROOF',
      'a proof of another leaf',
      inclusion,
      edit((p) => {
        p.leaf_index = 0;
      }),
    ],
    [
      'MALFORMED_PROOF',
      'a proof in another tree',
      inclusion,
      edit((p) => {
        p.tree_size = 4;
      }),
    ],
    [
      'WRONG_LEAF',
      'another leaf',
      leaf,
      edit((p) => {
        p.leaf_index = 0;
      }),
    ],
    [
      'MALFORMED_LEAF',
      'a hash of other bytes',
      leaf,
      edit((p) => {
        p.leaf_hash = '22'.repeat(32);
      }),
    ],
    [
      'MALFORMED_LEAF',
      'a non-canonical base64 encoding',
      leaf,
      edit((p) => {
        p.canonical = ` ${p.canonical}`;
      }),
    ],
    [
      'KEY_REVOKED',
      'a revoked event key',
      jwks,
      editKey('event-signing', (k) => {
        k.svc_state = 'revoked';
      }),
    ],
    [
      'BAD_ENTRY_SIGNATURE',
      'an event key with another value',
      jwks,
      (b) => exchangeKeys(b, 'access-token', 'event-signing'),
    ],
    [
      'WRONG_KEY_PURPOSE',
      'an event key with the purpose of tokens',
      jwks,
      editKey('event-signing', (k) => {
        k.svc_purpose = 'access-token';
      }),
    ],
  ];

  test.each(cases)('%s: %s', async (code, _what, path, tell) => {
    log.lies = [{ path, tell }];
    const source = httpLog(log.url);
    const signed = await fetchHead(source);
    if (signed instanceof AuditFault) throw new Error(signed.code);
    const proven = await proveEntry(source, { leafIndex: 3 }, signed);
    expect(proven).toBeInstanceOf(AuditFault);
    expect((proven as AuditFault).code).toBe(code);
  });
});

function flipHex(body: string, field: string): string {
  return body.replace(new RegExp(`"${field}":"(.)`), (_all, digit: string) => {
    return `"${field}":"${(Number.parseInt(digit, 16) ^ 1).toString(16)}`;
  });
}

function nextNanosecond(body: string): string {
  return body.replace(/"timestamp_ns":(\d+)/, (_all, ns: string) => `"timestamp_ns":${BigInt(ns) + 1n}`);
}

function exchangeKeys(body: string, a = 'event-signing', b = 'transparency-sth'): string {
  const set = JSON.parse(body) as { keys: Jwk[] };
  const [one, other] = [a, b].map((purpose) => set.keys.find((key) => key.svc_purpose === purpose)!);
  [one!.x, other!.x] = [other!.x, one!.x];
  return JSON.stringify(set);
}
