import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import canonicalize from 'canonicalize';
import { expect, test } from 'vitest';
import { verifyEd25519 } from '../../src/client/ed25519.ts';
import { signedBytes } from '../../src/ledger/entry.ts';
import { limits } from '../../src/limits.ts';
import { hexToBytes } from '../../src/tlog/hex.ts';
import { codeOf, entries, entry, fieldOf, folder, open, rawKey } from './fixture.ts';
import { checkAll, checkHead } from './outside.ts';

test('an empty log has keys and a journal, and returns LOG_EMPTY for heads and proofs', async () => {
  const dataDir = folder();
  const ledger = await open(dataDir);
  expect(await codeOf(ledger.head())).toBe('LOG_EMPTY');
  expect(await codeOf(ledger.head(1))).toBe('LOG_EMPTY');
  expect(await codeOf(ledger.inclusion({ leaf_index: 0 }))).toBe('LOG_EMPTY');
  const status = await ledger.status();
  expect(status).toMatchObject({ size: 0, head: undefined, health: { state: 'ok' } });
  const keys = await ledger.keys();
  expect(keys.map((key) => key.svc_purpose).sort()).toEqual([
    'access-token',
    'checkpoint',
    'event-signing',
    'transparency-sth',
  ]);
  for (const key of keys) {
    expect(key).toMatchObject({ kty: 'OKP', crv: 'Ed25519', use: 'sig', alg: 'EdDSA', svc_state: 'active' });
    expect(key).not.toHaveProperty('d');
    expect(String(key.kid)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  }
  expect((await ledger.accessTokenKeys()).current.d).toMatch(/^[\w-]{43}$/);
  const files = readdirSync(join(dataDir, 'keys'));
  expect(files).toHaveLength(4);
  for (const name of files) expect(statSync(join(dataDir, 'keys', name)).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(dataDir, 'journal.ndjson'), 'utf8')).toMatch(/^{"at":.*"event":"initialised".*}\n$/);
});

test('entries get consecutive indices in order; heads, leaves and proofs of all sizes verify independently', async () => {
  const ledger = await open(folder());
  const heads = [];
  for (const [from, to] of [
    [0, 1],
    [1, 3],
    [3, 40],
    [40, 41],
    [41, 300],
  ] as const) {
    const appended = await ledger.append(entries(from, to));
    expect(appended.map((a) => a.leaf_index)).toEqual(entries(from, to).map((_, i) => from + i));
    expect(appended.every((a) => a.tree_size === to)).toBe(true);
    heads.push(await ledger.head());
  }
  for (const pin of heads) {
    expect(await ledger.head(pin.tree_size)).toEqual(pin);
    await checkHead(ledger, pin);
    await checkAll(ledger, pin);
  }
  expect(await codeOf(ledger.head(2))).toBe('NOT_FOUND');
});

test('canonical bytes are the JCS form of the whole entry, signed over the form without the signature', async () => {
  const ledger = await open(folder());
  const data = { z: 1, a: [1e21, -0, 'ü\u2028"\\'], nested: { b: null, A: true }, ['__proto__']: 1 };
  const written = entry(1, data);
  const [appended] = await ledger.append([written]);
  const leaf = await ledger.leaf({ entry_id: entry(1).id.toUpperCase() });
  const text = new TextDecoder().decode(leaf.canonical);
  const logged = JSON.parse(text);
  expect(canonicalize(logged)).toBe(text);
  expect(logged).toMatchObject({ ...written, data: { z: 1, nested: { b: null, A: true } } });
  expect(leaf.leaf_hash).toBe(appended!.leaf_hash);
  expect(await ledger.leaf({ leaf_hash: leaf.leaf_hash.toUpperCase() })).toEqual(leaf);
  const key = rawKey(await ledger.keys(), logged.key_id);
  expect(verifyEd25519(key, signedBytes(logged), hexToBytes(logged.signature, 64))).toBe(true);
  expect(leaf.canonical.buffer.byteLength).toBe(leaf.canonical.length); // owns its buffer, so it can be transferred
});

test('entries with any data can be logged', async () => {
  const ledger = await open(folder());
  let deep: unknown = 'x';
  for (let i = 0; i < 500; i++) deep = [deep];
  const long = { rule: 'r1', note: 'short', diff: '\u0001'.repeat(80_000) };
  const odd = {
    text: 'a\ud800b',
    '\udfffkey': Number.NaN,
    big: 12n,
    none: undefined,
    list: [undefined, Infinity],
  };
  await ledger.append([entry(0, { deep }), entry(1, long), entry(2, odd)]);
  await checkAll(ledger);
  const read = async (n: number) => {
    const { canonical } = await ledger.leaf({ leaf_index: n });
    expect(canonical.length).toBeLessThanOrEqual(limits.maxEntryBytes);
    return JSON.parse(new TextDecoder().decode(canonical)).data;
  };
  expect(JSON.stringify(await read(0))).toContain('nested too deeply');
  expect(await read(1)).toEqual({
    data_bytes: expect.any(Number),
    data_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    summary: { rule: 'r1', note: 'short' },
  });
  expect(await read(2)).toEqual({ text: 'a\ufffdb', '\ufffdkey': null, big: '12', list: [null, null] });
});

test('appending is idempotent by id: in one call, in one batch, later and after a restart', async () => {
  const dataDir = folder();
  const first = await open(dataDir);
  const [twice, alongside] = await Promise.all([
    first.append([entry(0), entry(0), entry(1)]),
    first.append([entry(1), entry(2)]),
  ]);
  expect(twice.map((a) => a.leaf_index)).toEqual([0, 0, 1]);
  expect(alongside.map((a) => a.leaf_index)).toEqual([1, 2]);
  const again = await first.append([entry(2), entry(3), entry(0)]);
  expect(again.map((a) => [a.leaf_index, a.tree_size])).toEqual([
    [2, 4],
    [3, 4],
    [0, 4],
  ]);
  expect(again[0]!.leaf_hash).toBe(alongside[1]!.leaf_hash);
  await first.close();
  const second = await open(dataDir);
  expect((await second.append([entry(1)]))[0]).toMatchObject({
    leaf_index: 1,
    leaf_hash: twice[2]!.leaf_hash,
  });
  expect((await second.status()).size).toBe(4);
});

test('repeated entries add no entry, no head and no flush', async () => {
  const steps: string[] = [];
  const ledger = await open(folder(), { hooks: { at: (step) => void steps.push(step) } });
  const first = await ledger.append(entries(0, 3));
  const head = await ledger.head();
  steps.length = 0;
  expect(await ledger.append(entries(0, 3))).toEqual(first);
  expect(await ledger.head()).toEqual(head);
  expect(steps.filter((step) => !step.startsWith('anchor'))).toEqual([]);
});

test('concurrent appends share heads and flushes, and the head of each commit is stored', async () => {
  const steps: string[] = [];
  const ledger = await open(folder(), { hooks: { at: (step) => void steps.push(step) } });
  const calls = Array.from({ length: 50 }, (_, i) => ledger.append([entry(i)]));
  const appended = (await Promise.all(calls)).flat();
  expect(appended.map((a) => a.leaf_index)).toEqual(Array.from({ length: 50 }, (_, i) => i));
  // Each batch signs at least half of the waiting entries: 25, 13, 6, 3, 2, 1.
  const sizes = new Set(appended.map((a) => a.tree_size));
  expect(sizes.size).toBeLessThanOrEqual(6);
  const commit = ['batch-taken', 'head-signed', 'in-transaction', 'flushed', 'released'];
  expect(steps.filter((step) => commit.includes(step))).toEqual(Array.from(sizes, () => commit).flat());
  expect(await codeOf(ledger.head(1))).toBe('NOT_FOUND');
  for (const size of sizes) expect((await ledger.head(size)).tree_size).toBe(size);
});

test('timestamps strictly increase by multiples of 1024, even when the clock goes backward', async () => {
  let now = BigInt(Date.now()) * 1_000_000n + 567_123n;
  const dataDir = folder();
  const ledger = await open(dataDir, { clock: () => now });
  const seen: bigint[] = [];
  for (let i = 0; i < 6; i++) {
    await ledger.append([entry(i, {}, Number(now / 1_000_000n))]);
    const head = await ledger.head();
    seen.push(BigInt(head.timestamp_ns));
    await checkHead(ledger, head);
    now += [5n, -1_000_000_000n, 0n, 3_600_000_000_000n, -1n][i] ?? 0n;
  }
  await ledger.close();
  const later = await open(dataDir, { clock: () => now - 1_800_000_000_000n });
  await later.append([entry(9)]);
  seen.push(BigInt((await later.head()).timestamp_ns));
  expect(seen.every((ns) => ns % 1024n === 0n)).toBe(true);
  for (let i = 1; i < seen.length; i++) expect(seen[i]! > seen[i - 1]!).toBe(true);
});

test('an idle log signs its head again after an hour, and the journal gets a line per day', async () => {
  const minute = 60_000_000_000n;
  const day = 24n * 60n * minute;
  // The next noon, so that the first two hours are in one day.
  const time = BigInt(Date.now()) * 1_000_000n;
  let now = time - ((time + day / 2n) % day) + day;
  const dataDir = folder();
  const ledger = await open(dataDir, { clock: () => now });
  await ledger.tick(); // empty: nothing to sign
  await ledger.append([entry(0)]);
  const first = await ledger.head();
  now += 59n * minute;
  await ledger.tick();
  expect(await ledger.head()).toEqual(first);
  now += 2n * minute;
  await ledger.tick();
  const second = await ledger.head();
  expect(second).toMatchObject({ tree_size: 1, root_hash: first.root_hash });
  expect(second.timestamp_ns).toBeGreaterThan(first.timestamp_ns);
  expect(await ledger.head(1)).toEqual(second);
  await checkHead(ledger, second);
  now += day;
  await ledger.tick();
  await ledger.tick();
  const lines = readFileSync(join(dataDir, 'journal.ndjson'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map((line) => line.event)).toEqual(['initialised', 'day']);
  expect(lines[1].head).toEqual(second);
});

test('every parameter is validated, and the error names the parameter', async () => {
  const ledger = await open(folder());
  await ledger.append(entries(0, 10));
  const size = { leaf_index: 3 };
  for (const bad of [-1, 0.5, Number.NaN, 2 ** 53]) {
    expect(await fieldOf(ledger.head(bad))).toBe('tree_size');
    expect(await fieldOf(ledger.inclusion({ leaf_index: bad }))).toBe('leaf_index');
    expect(await fieldOf(ledger.inclusion(size, bad))).toBe('tree_size');
    expect(await fieldOf(ledger.consistency(bad, 5))).toBe('first');
    expect(await fieldOf(ledger.consistency(1, bad))).toBe('second');
    expect(await fieldOf(ledger.leaf({ leaf_index: bad }))).toBe('leaf_index');
  }
  expect(await fieldOf(ledger.inclusion({ leaf_index: 3 }, 3))).toBe('leaf_index');
  expect(await fieldOf(ledger.inclusion({ leaf_index: 10 }))).toBe('leaf_index');
  expect(await fieldOf(ledger.inclusion({ leaf_index: 3 }, 11))).toBe('tree_size');
  expect(await fieldOf(ledger.inclusion({ leaf_index: 3 }, 0))).toBe('tree_size');
  expect(await fieldOf(ledger.inclusion({ entry_id: entry(5).id }, 5))).toBe('tree_size');
  expect(await fieldOf(ledger.inclusion({}))).toBe('leaf_index');
  expect(await fieldOf(ledger.inclusion({ leaf_index: 1, entry_id: entry(1).id }))).toBe('leaf_index');
  expect(await fieldOf(ledger.inclusion({ entry_id: 'x' }))).toBe('entry_id');
  expect(await fieldOf(ledger.inclusion({ leaf_hash: 'ab' }))).toBe('leaf_hash');
  expect(await codeOf(ledger.inclusion({ entry_id: entry(99).id }))).toBe('NOT_FOUND');
  expect(await codeOf(ledger.inclusion({ leaf_hash: '00'.repeat(32) }))).toBe('NOT_FOUND');
  expect(await codeOf(ledger.leaf({ leaf_index: 10 }))).toBe('NOT_FOUND');
  expect(await codeOf(ledger.head(0))).toBe('NOT_FOUND');
  for (const [first, second, field] of [
    [0, 5, 'first'],
    [5, 5, 'second'],
    [6, 5, 'second'],
    [1, 11, 'second'],
  ] as const) {
    expect(await fieldOf(ledger.consistency(first, second))).toBe(field);
  }
});

test('an invalid entry causes the whole call to be rejected, and the error names the field', async () => {
  const ledger = await open(folder());
  const good = entry(0);
  const bad: [string, object][] = [
    ['entries[1].id', { id: 'x' }],
    ['entries[1].id', { id: good.id.toUpperCase() }],
    ['entries[1].kind', { kind: 'Alert' }],
    ['entries[1].kind', { kind: `a.${'b'.repeat(64)}` }],
    ['entries[1].occurred_at', { occurred_at: 'yesterday' }],
    ['entries[1].actor', { actor: '' }],
    ['entries[1].actor', { actor: 'a'.repeat(513) }],
    ['entries[1].subject.id', { subject: { type: 'alert' } }],
    ['entries[1].subject.type', { subject: undefined }],
    ['entries[1].data', { data: [] }],
  ];
  for (const [field, change] of bad) {
    const call = ledger.append([good, { ...entry(1), ...change } as typeof good]);
    expect(await fieldOf(call)).toBe(field);
  }
  expect(await fieldOf(ledger.append([]))).toBe('entries');
  expect((await ledger.status()).size).toBe(0);
});

test('more entries than the queue holds are rejected with OVERLOADED, and not stored', async () => {
  const ledger = await open(folder());
  const many = Array.from({ length: limits.maxQueuedAppends + 1 }, () => entry(0));
  expect(await codeOf(ledger.append(many))).toBe('OVERLOADED');
  expect((await ledger.append([entry(0)]))[0]!.leaf_index).toBe(0);
});

test('close finishes earlier appends and rejects later appends', async () => {
  const dataDir = folder();
  const ledger = await open(dataDir);
  const pending = ledger.append(entries(0, 5));
  const closing = ledger.close();
  expect(await codeOf(ledger.append([entry(9)]))).toBe('UNAVAILABLE');
  expect((await pending).map((a) => a.tree_size)).toEqual([5, 5, 5, 5, 5]);
  await closing;
  expect(JSON.parse(readFileSync(join(dataDir, 'anchor.json'), 'utf8')).tree_size).toBe(5);
});
