import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { audit } from '../../src/client/auditor.ts';
import {
  auditEntries,
  bundles,
  type CheckedRange,
  type EntriesOptions,
  type FalseHead,
} from '../../src/client/entries.ts';
import { AuditFault, type FaultCode } from '../../src/client/fault.ts';
import { fetchHead } from '../../src/client/latest.ts';
import { httpLog, type LogSource } from '../../src/client/log-source.ts';
import { judge } from '../../src/client/verdict.ts';
import { writeTreeHead } from '../../src/contract/write-tree-head.ts';
import { nativeVerifier } from '../../src/crypto/ed25519.ts';
import { encodeHead, headToJson } from '../../src/tlog/head.ts';
import { equalHashes } from '../../src/tlog/tree.ts';
import { activeKey, type PrivateKey, rewrite } from './insider.ts';
import { type Lie, ServedLog } from './served-log.ts';

let log: ServedLog;

/** Starts an empty log for each test of a group. */
function logForEachTest(): void {
  beforeEach(async () => {
    log = await ServedLog.start();
  });
  afterEach(() => log.close());
}

/** Verifies with the native code by default, which takes a tenth of the time. */
async function check(
  options?: EntriesOptions,
  source = httpLog(log.url),
): Promise<CheckedRange | FalseHead | AuditFault> {
  const signed = await fetchHead(source);
  return signed instanceof AuditFault ? signed : auditEntries(source, signed, { verify: nativeVerifier(), ...options });
}

async function checked(options?: EntriesOptions): Promise<CheckedRange> {
  const result = await check(options);
  if (result instanceof AuditFault) throw new Error(`${result.code}: ${result.message}`);
  if ('fault' in result) throw new Error(result.fault.message);
  return result;
}

/** Counts requests, and the maximum number of concurrent requests. */
function counting(source: LogSource): LogSource & { readonly paths: string[]; most: number } {
  const paths: string[] = [];
  let now = 0;
  const counted = {
    ...source,
    paths,
    most: 0,
    async getBytes(path: string) {
      paths.push(path);
      now += 1;
      counted.most = Math.max(counted.most, now);
      const bytes = await source.getBytes(path);
      now -= 1;
      return bytes;
    },
  };
  return counted;
}

describe('entries', () => {
  logForEachTest();

  test('fetching all entries together, or in steps of any size, results in the same edge; old entries are not fetched again', async () => {
    await log.append(5);
    let stepped = await checked();
    for (const count of [1, 250, 3, 255, 20]) {
      await log.append(count);
      const before = stepped.tree;
      stepped = await checked({ start: before });
      expect(stepped.tree.size).toBe(before.size + count);
    }
    const progress: number[] = [];
    const whole = await checked({ onProgress: (next, end) => progress.push(next, end) });
    expect(whole.tree.size).toBe(534);
    expect(progress).toEqual([256, 534, 512, 534, 534, 534]);
    expect(whole.tree.edge.every((hash, i) => equalHashes(hash, stepped.tree.edge[i]!))).toBe(true);

    const source = counting(httpLog(log.url));
    await log.append(1);
    await check({ start: whole.tree }, source);
    // Only the bundle and the tile that grew are fetched, not the tile above.
    expect(source.paths.filter((path) => path.startsWith('/tile/entries/'))).toEqual(['/tile/entries/002.p/23']);
    expect(source.paths.filter((path) => path.startsWith('/tile/0/'))).toEqual(['/tile/0/002.p/23']);
  });

  test('all entries of a long log are fetched with at most four concurrent requests', async () => {
    await log.append(1600);
    const source = counting(httpLog(log.url));
    let seen = 0;
    for await (const entries of bundles(source, 300, 1600)) seen += entries instanceof AuditFault ? 0 : entries.length;
    expect(seen).toBe(1300);
    expect(source.paths[0]).toBe('/tile/entries/001');
    expect(source.most).toBeLessThanOrEqual(4);
  });

  test('full tiles are read instead of deleted partial tiles', async () => {
    await log.append(300);
    const signed = await fetchHead(httpLog(log.url));
    if (signed instanceof AuditFault) throw new Error(signed.code);
    const gone = () => ({ status: 404, body: '{}' });
    log.lies = ['/tile/0/001.p/44', '/tile/entries/001.p/44'].map((path) => ({ path, tell: gone }));
    const audited = () => auditEntries(httpLog(log.url), signed, { verify: nativeVerifier() });
    expect(await audited()).toMatchObject({ code: 'HTTP_REFUSED' });
    await log.append(212);
    expect(await audited()).toMatchObject({ tree: { size: 300 } });
  });
});

const flipByte =
  (at: number): Lie['tell'] =>
  (bytes) =>
    bytes.slice(0, at) + String.fromCharCode(bytes.charCodeAt(at) ^ 1) + bytes.slice(at + 1);

/** Manipulated responses with the fault that they must cause. The log has 300 entries; 260 were checked before. */
const lies: readonly (readonly [FaultCode, string, string, Lie['tell'], RegExp])[] = [
  ['WRONG_TILE', 'a wrong hash of a new entry in a tile', '/tile/0/001.p/44', flipByte(32 * 10), /level 0, column 10 /],
  ['WRONG_TILE', 'a wrong hash of an old entry in a grown tile', '/tile/0/001.p/44', flipByte(3), /tile 1 of level 0 /],
  ['MALFORMED_TILE', 'a tile that is too short', '/tile/0/001.p/44', (bytes) => bytes.slice(1), /bytes/],
  ['MALFORMED_TILE', 'an additional entry', '/tile/entries/001.p/44', (bytes) => `${bytes}\0\0`, /after 44/],
  ['MALFORMED_TILE', 'a truncated entry', '/tile/entries/001.p/44', (bytes) => bytes.slice(0, -1), /truncated/],
  [
    'BAD_ENTRY_SIGNATURE',
    'a changed entry',
    '/tile/entries/001.p/44',
    (bytes) => replaceLast(bytes, 'alert.raised', 'alert.closed'),
    /entry 299/,
  ],
  [
    'NOT_CANONICAL',
    'a non-canonical entry',
    '/tile/entries/001.p/44',
    (bytes) => replaceLast(bytes, '"system"', '"syst\\u0065m"', 5),
    /entry 299/,
  ],
  ['NOT_INCLUDED', 'two entries in reverse order', '/tile/entries/001.p/44', swapLast, /entry 298/],
  [
    'DUPLICATE_ENTRY',
    'a duplicate entry',
    '/tile/entries/001.p/44',
    (bytes) => bytes.slice(0, lastEntry(bytes, 1)) + bytes.slice(lastEntry(bytes, 2), lastEntry(bytes, 1)),
    /entries 298 and 299/,
  ],
  ['HTTP_REFUSED', 'no role', '/tile/entries/001.p/44', () => ({ status: 403, body: '{}' }), /token/],
];

describe('a manipulated entry or tile is reported with a specific code and its position', () => {
  let grown: ServedLog;
  let before: CheckedRange['tree'];
  beforeAll(async () => {
    grown = await ServedLog.start();
    await grown.append(260);
    const result = await check(undefined, httpLog(grown.url));
    if (result instanceof AuditFault || 'fault' in result) throw new Error('not sound');
    before = result.tree;
    await grown.append(40);
    expect(await check({ start: before }, httpLog(grown.url))).toMatchObject({ tree: { size: 300 } });
  });
  afterAll(() => grown.close());

  test.each(lies)('%s: %s', async (code, _what, path, tell, says) => {
    grown.lies = [{ path, tell }];
    const result = await check({ start: before }, httpLog(grown.url));
    expect(result).toMatchObject({ code });
    expect((result as AuditFault).message).toMatch(says);
  });
});

describe('a manipulated tile or root is reported with a specific code', () => {
  logForEachTest();

  test('a wrong tile of a higher level is WRONG_TILE', async () => {
    await log.append(514);
    log.lies = [{ path: '/tile/1/000.p/2', tell: flipByte(40) }];
    const result = await check();
    expect(result).toMatchObject({ code: 'WRONG_TILE' });
    expect((result as AuditFault).message).toContain('tile 0 of level 1, column 1');
  });

  test('entries and tiles that do not match the signed root are WRONG_ROOT, or FORK if the caller trusts the keys', async () => {
    await log.append(3);
    const signed = await fetchHead(httpLog(log.url));
    if (signed instanceof AuditFault) throw new Error(signed.code);
    const root = Uint8Array.from(signed.head.root, (byte) => byte ^ 1);
    const head = { ...signed.head, root };
    const trusted = signed.keys;
    expect(await auditEntries(httpLog(log.url), { ...signed, head }, { trusted })).toMatchObject({
      fault: { code: 'FORK' },
      head: signed.head,
    });
    // The caller trusts no keys, so no signature shows that the log made both statements.
    const found = await auditEntries(httpLog(log.url), { ...signed, head });
    expect(found).toMatchObject({
      code: 'WRONG_ROOT',
      served: { from: 0, entriesRoot: signed.head.root, tilesRoot: signed.head.root },
      head: undefined,
    });
  });
});

/** Returns the offset of the nth entry from the end, including its length prefix. */
function lastEntry(bytes: string, nth: number): number {
  const starts: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    starts.push(at);
    at += 2 + bytes.charCodeAt(at) * 256 + bytes.charCodeAt(at + 1);
  }
  return starts.at(-nth)!;
}

function replaceLast(bytes: string, from: string, to: string, longer = 0): string {
  const start = lastEntry(bytes, 1);
  const length = bytes.length - start - 2 + longer;
  const entry = bytes.slice(start + 2).replace(from, to);
  return bytes.slice(0, start) + String.fromCharCode(length >> 8, length & 255) + entry;
}

function swapLast(bytes: string): string {
  const [one, other] = [lastEntry(bytes, 2), lastEntry(bytes, 1)];
  return bytes.slice(0, one) + bytes.slice(other) + bytes.slice(one, other);
}

describe('the dates of entries', () => {
  logForEachTest();

  test('are BACKDATED or FUTURE if too far before or after the first head that covers the entry', async () => {
    const hour = 3_600_000;
    const offsets = [0, -23 * hour, -25 * hour, 4 * 60_000, 6 * 60_000];
    await log.append(offsets.length);
    await log.tamper((folder) =>
      rewrite(folder, (entries) => {
        for (const [i, entry] of entries.entries()) entry.occurred_at = new Date(log.now + offsets[i]!).toISOString();
      }),
    );
    // A later head covers the entries as well, but is not the first head that does.
    log.now += 1000;
    await log.append(1);
    const { dates } = await checked();
    expect(dates.map(({ code, index }) => [code, index])).toEqual([
      ['BACKDATED', 2],
      ['FUTURE', 4],
    ]);
  });
});

describe('the history of heads', () => {
  logForEachTest();

  test('proves misbehaviour if it has a signed head with a false root', async () => {
    await log.append(3);
    const pinned = await audit(httpLog(log.url), undefined, { now: log.now });
    if (pinned.status !== 'pinned') throw new Error(pinned.status);
    let by: PrivateKey | undefined;
    await log.tamper((folder) => {
      by = activeKey(folder, 'transparency-sth');
    });
    log.now += 1000;
    await log.append(2);
    const at = (BigInt(log.now) * 1_000_000n) & ~1023n;
    const wrong = { size: 3, root: new Uint8Array(32).fill(7), timestampNs: at - 10_240n };
    const text = writeTreeHead(headToJson(wrong, by!.sign(encodeHead(wrong)), by!.kid));
    const tell = (body: string) => body.replace('"data":[', `"data":[{"attributes":${text}},`);
    log.lies = [{ path: '/api/transparency/sths', tell }];
    const trusted = pinned.pin.keys;
    const found = await check({ trusted });
    if (found instanceof AuditFault || !('fault' in found)) throw new Error('not found');
    expect(found).toMatchObject({ fault: { code: 'INCONSISTENT' }, head: { size: 3 } });
    const head = await fetchHead(httpLog(log.url));
    if (head instanceof AuditFault) throw new Error(head.code);
    const { fault, ...shown } = found;
    const about = {
      code: fault.code,
      message: fault.message,
      log: log.url,
      foundAt: new Date().toISOString(),
    };
    const evidence = {
      ...about,
      ...shown,
      pinnedHead: found.head,
      head: head.head,
      pinnedKeys: trusted,
      keys: trusted,
    };
    expect(judge(evidence).convicts).toBe(true);
    // A head signed by an untrusted key is rejected, but is not misbehaviour.
    expect(await check({ trusted: new Map() })).toMatchObject({ code: 'WRONG_ROOT' });
  });
});
