/** What convicts and what doesn't, judged from the file alone. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type Evidence, parseEvidence, writeEvidence } from '../../src/client/evidence.ts';
import { Fault } from '../../src/client/fault.ts';
import type { LogKey } from '../../src/client/key-set.ts';
import { sha256 } from '../../src/client/sha256.ts';
import type { SignedHead } from '../../src/client/tree-head.ts';
import { judge } from '../../src/client/verdict.ts';
import { encodeHead } from '../../src/tlog/head.ts';
import { consistencyPlan, foldProof } from '../../src/tlog/proof.ts';
import { foldRoot, type Hash, leafHash, nodeHash, rootPlan } from '../../src/tlog/tree.ts';

function keyPair(kid: string, about: Partial<LogKey> = {}): { key: LogKey; secret: KeyObject } {
  const { privateKey: secret, publicKey } = generateKeyPairSync('ed25519');
  const x = publicKey.export({ format: 'jwk' }).x!;
  const raw = Uint8Array.from(Buffer.from(x, 'base64url'));
  const usual = { purpose: 'transparency-sth', state: 'active', fromSize: 0, toSize: undefined };
  return { key: { kid, x, publicKey: raw, ...usual, ...about }, secret };
}

const kid = '01940000-0000-7000-8000-000000000001';
const { key, secret } = keyPair(kid);
const other = keyPair('01940000-0000-7000-8000-000000000002');
const keys = new Map([[kid, key]]);

/** A tree by name: the same name gives the same leaves, and names with a slash share those before `at`. */
function tree(name: string, shared = 0): (level: number, index: number) => Hash {
  const hashAt = (level: number, index: number): Hash => {
    if (level > 0) return nodeHash(sha256, hashAt(level - 1, 2 * index), hashAt(level - 1, 2 * index + 1));
    const whose = index < shared ? 'shared' : name;
    return leafHash(sha256, new TextEncoder().encode(`${whose} ${index}`));
  };
  return hashAt;
}

const rootOf = (hashAt: ReturnType<typeof tree>, size: number) =>
  foldRoot(
    sha256,
    size,
    rootPlan(size).map(({ level, index }) => hashAt(level, index)),
  );

function head(hashAt: ReturnType<typeof tree>, size: number, time: number, by = { key, secret }): SignedHead {
  const unsigned = { size, root: rootOf(hashAt, size), timestampNs: BigInt(time) * 1024n };
  const signature = Uint8Array.from(sign(null, encodeHead(unsigned), by.secret));
  return { ...unsigned, signature, signerKeyId: by.key.kid };
}

function bindingOf(hashAt: ReturnType<typeof tree>, firstSize: number, secondSize: number) {
  const path = foldProof(sha256, consistencyPlan(firstSize, secondSize), ({ level, index }) =>
    hashAt(level, index),
  );
  return { firstSize, secondSize, firstRoot: rootOf(hashAt, firstSize), path };
}

const a = tree('a', 2);
const b = tree('b', 2);

const told = { code: 'FORK', message: 'm', log: 'http://log', foundAt: '2026-01-01T00:00:00.000Z' };
const evidence = (parts: Partial<Evidence>): Evidence => ({ ...told, keys, pinnedKeys: keys, ...parts });

/** After it was written and read again, which must change nothing. */
function verdict(parts: Partial<Evidence>): boolean {
  const read = parseEvidence(writeEvidence(evidence(parts)));
  if (read instanceof Fault) throw new Error(read.message);
  expect(judge(read)).toEqual(judge(evidence(parts)));
  return judge(read).convicts;
}

describe('convicts', () => {
  const cases: readonly (readonly [string, Partial<Evidence>])[] = [
    ['two roots for one size', { pinnedHead: head(a, 5, 1), head: head(b, 5, 2) }],
    ['two roots for one size, the later one first', { pinnedHead: head(a, 5, 2), head: head(b, 5, 1) }],
    ['a smaller tree with a later time', { pinnedHead: head(a, 5, 1), head: head(a, 4, 2) }],
    ['a larger tree with an earlier time', { pinnedHead: head(a, 5, 2), head: head(a, 6, 1) }],
    ['a larger tree with the same time', { pinnedHead: head(a, 5, 2), head: head(a, 6, 2) }],
    [
      'a proof from another beginning',
      { pinnedHead: head(a, 5, 1), head: head(b, 9, 2), binding: bindingOf(b, 5, 9) },
    ],
    [
      'a proof from another beginning of a power of two',
      { pinnedHead: head(a, 4, 1), head: head(b, 9, 2), binding: bindingOf(b, 4, 9) },
    ],
    [
      'heads by two keys of the log',
      {
        pinnedHead: head(a, 5, 1),
        head: head(b, 5, 2, other),
        pinnedKeys: new Map([...keys, [other.key.kid, other.key]]),
      },
    ],
    [
      'a key that was revoked after the contradiction was found',
      {
        pinnedHead: head(a, 5, 1),
        head: head(b, 5, 2),
        pinnedKeys: new Map([[kid, { ...key, state: 'revoked', revokedAt: '2026-01-02T00:00:00.000Z' }]]),
      },
    ],
  ];
  test.each(cases)('%s', (_what, parts) => expect(verdict(parts)).toBe(true));
});

describe('does not convict', () => {
  const forged = { ...head(b, 5, 2), root: rootOf(tree('c'), 5) };
  const cases: readonly (readonly [string, Partial<Evidence>])[] = [
    ['nothing', {}],
    ['one head', { head: head(a, 5, 1) }],
    ['the same head twice', { pinnedHead: head(a, 5, 1), head: head(a, 5, 1) }],
    ['the same tree signed anew', { pinnedHead: head(a, 5, 1), head: head(a, 5, 2) }],
    ['an older head of the same tree', { pinnedHead: head(a, 5, 2), head: head(a, 5, 1) }],
    ['an older and smaller head', { pinnedHead: head(a, 5, 2), head: head(a, 4, 1) }],
    ['two trees without a proof', { pinnedHead: head(a, 5, 1), head: head(b, 9, 2) }],
    ['a good proof', { pinnedHead: head(a, 5, 1), head: head(a, 9, 2), binding: bindingOf(a, 5, 9) }],
    [
      'a proof that leads to another later root',
      { pinnedHead: head(a, 5, 1), head: head(b, 9, 2), binding: bindingOf(tree('c'), 5, 9) },
    ],
    [
      'a proof of other sizes',
      { pinnedHead: head(a, 5, 1), head: head(b, 9, 2), binding: bindingOf(b, 4, 9) },
    ],
    ['a forged head', { pinnedHead: head(a, 5, 1), head: forged }],
    ['a head by an unknown key', { pinnedHead: head(a, 5, 1), head: head(b, 5, 2, other) }],
    [
      'a key for something else',
      {
        pinnedHead: head(a, 5, 1),
        head: head(b, 5, 2),
        pinnedKeys: new Map([[kid, { ...key, purpose: 'event-signing' }]]),
      },
    ],
    [
      'heads by keys that are only published',
      { pinnedHead: head(a, 5, 1), head: head(b, 5, 2), pinnedKeys: new Map() },
    ],
    [
      'a head by a key that came with the answer',
      {
        pinnedHead: head(a, 5, 1),
        head: head(b, 5, 2, other),
        keys: new Map([...keys, [other.key.kid, other.key]]),
      },
    ],
    [
      'a head outside of the sizes of its key',
      {
        pinnedHead: head(a, 5, 1),
        head: head(b, 9, 2),
        binding: bindingOf(b, 5, 9),
        pinnedKeys: new Map([[kid, { ...key, toSize: 8, state: 'retired' }]]),
      },
    ],
    [
      'a head dated after the end of its key',
      {
        pinnedHead: head(a, 5, 1),
        head: head(b, 5, 1_000_000_000_000),
        pinnedKeys: new Map([[kid, { ...key, state: 'retired', notAfter: '1970-01-02T00:00:00.000Z' }]]),
      },
    ],
    [
      'a head dated into the period of its key, but first seen after its end',
      {
        pinnedAt: '2025-12-01T00:00:00.000Z',
        pinnedHead: head(a, 5, 1),
        head: head(b, 5, 2),
        pinnedKeys: new Map([[kid, { ...key, state: 'retired', notAfter: '2025-12-02T00:00:00.000Z' }]]),
      },
    ],
  ];
  test.each(cases)('%s', (_what, parts) => expect(verdict(parts)).toBe(false));

  test('whatever the file says of itself', () => {
    const text = writeEvidence(evidence({ pinnedHead: head(a, 5, 1), head: head(a, 9, 2) }));
    const lying = parseEvidence(text.replace('"convicts":false', '"convicts":true'));
    expect(lying instanceof Fault || judge(lying).convicts).toBe(false);
  });

  test('by other keys than the trusted ones', () => {
    const parts = evidence({ pinnedHead: head(a, 5, 1), head: head(b, 5, 2) });
    expect(judge(parts, keys).convicts).toBe(true);
    expect(judge(parts, new Map([[kid, other.key]])).convicts).toBe(false);
    expect(judge(parts, new Map([[kid, other.key]])).reason).toContain('BAD_SIGNATURE');
  });

  test('a verdict on an ended key says what would settle it', () => {
    const ended = new Map([[kid, { ...key, state: 'retired', notAfter: '2025-12-02T00:00:00.000Z' }]]);
    const parts = evidence({ pinnedHead: head(a, 5, 1), head: head(b, 5, 2), pinnedKeys: ended });
    expect(judge(parts).reason).toMatch(/first seen after its key .* had ended .*cosigned/);
  });

  test('pinned keys of the format before count only where they signed the pinned head', () => {
    const both = new Map([...keys, [other.key.kid, other.key]]);
    const parts = { pinnedHead: head(a, 5, 1), head: head(b, 5, 2, other), pinnedKeys: both };
    const text = writeEvidence(evidence(parts));
    const convicts = (one: string) => {
      const read = parseEvidence(one);
      return !(read instanceof Fault) && judge(read).convicts;
    };
    expect(convicts(text)).toBe(true);
    expect(convicts(text.replace('candor-evidence/2', 'candor-evidence/1'))).toBe(false);
  });

  test('a proof of which one bit is another', () => {
    const binding = bindingOf(b, 5, 9);
    for (const i of binding.path.keys()) {
      const path = binding.path.map((hash, j) =>
        i === j ? Uint8Array.from(hash, (byte, k) => byte ^ Number(k === 7)) : hash,
      );
      expect(verdict({ pinnedHead: head(a, 5, 1), head: head(b, 9, 2), binding: { ...binding, path } })).toBe(
        false,
      );
    }
  });
});

test('a revoked key is refused by name, and what the keys were is kept', () => {
  const retired = {
    ...key,
    state: 'retired',
    toSize: 7,
    notBefore: '2026-01-01T00:00:00.000Z',
    revokedAt: 'then',
  };
  const text = writeEvidence(evidence({ head: head(a, 5, 1), keys: new Map([[kid, retired]]) }));
  const read = parseEvidence(text);
  if (read instanceof Fault) throw new Error(read.message);
  expect(read.keys.get(kid)).toEqual(retired);
});
