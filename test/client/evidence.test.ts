/** Evidence that proves misbehaviour or does not, judged by the file alone. */
import { describe, expect, test } from 'vitest';
import { type Evidence, parseEvidence, writeEvidence } from '../../src/client/evidence.ts';
import { AuditFault } from '../../src/client/fault.ts';
import { fingerprint, type LogKey } from '../../src/client/key-set.ts';
import { sha256 } from '../../src/client/sha256.ts';
import type { SignedHead } from '../../src/client/tree-head.ts';
import { judge } from '../../src/client/verdict.ts';
import { consistencyPlan, foldProof } from '../../src/tlog/proof.ts';
import { foldRoot, type Hash, leafHash, nodeHash, rootPlan } from '../../src/tlog/tree.ts';
import { keyPairOf, signedHead } from './forged-head.ts';

const kid = '01940000-0000-7000-8000-000000000001';
const { key, secret } = keyPairOf(kid);
const other = keyPairOf('01940000-0000-7000-8000-000000000002');
const keys = new Map([[kid, key]]);

/**
 * Returns the hashes of a tree by its name: equal names have equal leaves, and trees of all names have the same leaves
 * before `shared`.
 */
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
  return signedHead(by, { size, root: rootOf(hashAt, size), timestampNs: BigInt(time) * 1024n });
}

function bindingOf(hashAt: ReturnType<typeof tree>, firstSize: number, secondSize: number) {
  const path = foldProof(sha256, consistencyPlan(firstSize, secondSize), ({ level, index }) => hashAt(level, index));
  return { firstSize, secondSize, firstRoot: rootOf(hashAt, firstSize), path };
}

const a = tree('a', 2);
const b = tree('b', 2);

const told = { code: 'FORK', message: 'm', log: 'http://log', foundAt: '2026-01-01T00:00:00.000Z' };
const evidence = (parts: Partial<Evidence>): Evidence => ({ ...told, keys, pinnedKeys: keys, ...parts });

/** Returns whether evidence proves misbehaviour, and checks that a round trip through a file does not change this. */
function verdict(parts: Partial<Evidence>): boolean {
  const read = parseEvidence(writeEvidence(evidence(parts)));
  if (read instanceof AuditFault) throw new Error(read.message);
  expect(judge(read)).toEqual(judge(evidence(parts)));
  return judge(read).convicts;
}

describe('evidence proves misbehaviour:', () => {
  const cases: readonly (readonly [string, Partial<Evidence>])[] = [
    ['two roots for one size', { pinnedHead: head(a, 5, 1), head: head(b, 5, 2) }],
    ['two roots for one size, the later head first', { pinnedHead: head(a, 5, 2), head: head(b, 5, 1) }],
    ['a smaller tree with a later time', { pinnedHead: head(a, 5, 1), head: head(a, 4, 2) }],
    ['a larger tree with an earlier time', { pinnedHead: head(a, 5, 2), head: head(a, 6, 1) }],
    ['a larger tree with the same time', { pinnedHead: head(a, 5, 2), head: head(a, 6, 2) }],
    [
      'a proof from a different earlier tree',
      { pinnedHead: head(a, 5, 1), head: head(b, 9, 2), binding: bindingOf(b, 5, 9) },
    ],
    [
      'a proof from a different earlier tree whose size is a power of two',
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

test('corroboration and served roots survive a round trip, and the error for invalid ones names the member', () => {
  const corroboration = [
    { checkpoint: 'a note', path: [] },
    {
      checkpoint: 'n',
      path: bindingOf(a, 5, 9).path,
      timestamp: { authority: 'u', token: Uint8Array.of(1) },
    },
  ];
  const served = { from: 3, entriesRoot: rootOf(a, 5), tilesRoot: rootOf(b, 5), differsAt: 'tile 0' };
  const text = writeEvidence(evidence({ corroboration, served }));
  expect(parseEvidence(text)).toMatchObject({ corroboration, served });
  const json = JSON.parse(text);
  const [note, stamp] = json.corroboration;
  for (const wrong of [
    { corroboration: 'x' },
    { corroboration: [{ ...note, checkpoint: 1 }] },
    { corroboration: [{ ...note, audit_path: ['00'] }] },
    { corroboration: [{ ...stamp, token: undefined }] },
    { corroboration: [{ ...stamp, authority: undefined }] },
    { corroboration: Array(17).fill(note) },
    { served: {} },
    { served: { ...json.served, tiles_root: 'x' } },
  ])
    expect(parseEvidence(JSON.stringify({ ...json, ...wrong }))).toMatchObject({
      code: 'MALFORMED_EVIDENCE',
      message: expect.stringContaining(Object.keys(wrong)[0]!),
    });
});

describe('evidence does not prove misbehaviour:', () => {
  const forged = { ...head(b, 5, 2), root: rootOf(tree('c'), 5) };
  const cases: readonly (readonly [string, Partial<Evidence>])[] = [
    ['no statements', {}],
    ['one head', { head: head(a, 5, 1) }],
    ['the same head twice', { pinnedHead: head(a, 5, 1), head: head(a, 5, 1) }],
    ['the same tree signed again', { pinnedHead: head(a, 5, 1), head: head(a, 5, 2) }],
    ['an older head of the same tree', { pinnedHead: head(a, 5, 2), head: head(a, 5, 1) }],
    ['an older and smaller head', { pinnedHead: head(a, 5, 2), head: head(a, 4, 1) }],
    ['two trees without a proof', { pinnedHead: head(a, 5, 1), head: head(b, 9, 2) }],
    ['a valid proof', { pinnedHead: head(a, 5, 1), head: head(a, 9, 2), binding: bindingOf(a, 5, 9) }],
    [
      'a proof that results in a different later root',
      { pinnedHead: head(a, 5, 1), head: head(b, 9, 2), binding: bindingOf(tree('c'), 5, 9) },
    ],
    ['a proof for other sizes', { pinnedHead: head(a, 5, 1), head: head(b, 9, 2), binding: bindingOf(b, 4, 9) }],
    ['a forged head', { pinnedHead: head(a, 5, 1), head: forged }],
    ['a head by an unknown key', { pinnedHead: head(a, 5, 1), head: head(b, 5, 2, other) }],
    [
      'a key for another purpose',
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
      'a head by a key that came with the response',
      {
        pinnedHead: head(a, 5, 1),
        head: head(b, 5, 2, other),
        keys: new Map([...keys, [other.key.kid, other.key]]),
      },
    ],
    [
      'a head outside the sizes of its key',
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
      'two roots by a key that ended at an unknown time',
      {
        pinnedHead: head(a, 5, 1),
        head: head(b, 5, 2),
        pinnedKeys: new Map([[kid, { ...key, state: 'retired' }]]),
      },
    ],
    [
      'a head dated within the period of its key, but first seen after its end',
      {
        pinnedAt: '2025-12-01T00:00:00.000Z',
        pinnedHead: head(a, 5, 1),
        head: head(b, 5, 2),
        pinnedKeys: new Map([[kid, { ...key, state: 'retired', notAfter: '2025-12-02T00:00:00.000Z' }]]),
      },
    ],
  ];
  test.each(cases)('%s', (_what, parts) => expect(verdict(parts)).toBe(false));

  test('if only the file claims that it does', () => {
    const text = writeEvidence(evidence({ pinnedHead: head(a, 5, 1), head: head(a, 9, 2) }));
    const lying = parseEvidence(text.replace('"convicts":false', '"convicts":true'));
    expect(lying instanceof AuditFault || judge(lying).convicts).toBe(false);
  });

  test('with keys other than the trusted ones', () => {
    const parts = evidence({ pinnedHead: head(a, 5, 1), head: head(b, 5, 2) });
    expect(judge(parts, keys).convicts).toBe(true);
    expect(judge(parts, new Map([[kid, other.key]])).convicts).toBe(false);
    expect(judge(parts, new Map([[kid, other.key]])).reason).toContain('BAD_SIGNATURE');
  });

  test('with an ended key, and the reason names the missing proof', () => {
    const ended = new Map([[kid, { ...key, state: 'retired', notAfter: '2025-12-02T00:00:00.000Z' }]]);
    const parts = evidence({ pinnedHead: head(a, 5, 1), head: head(b, 5, 2), pinnedKeys: ended });
    expect(judge(parts).reason).toMatch(/first seen after its key .* had ended .*cosigned/);
  });

  test('in format 1, if another pinned key signed the second head', () => {
    const both = new Map([...keys, [other.key.kid, other.key]]);
    const parts = { pinnedHead: head(a, 5, 1), head: head(b, 5, 2, other), pinnedKeys: both };
    const text = writeEvidence(evidence(parts));
    const convicts = (one: string) => {
      const read = parseEvidence(one);
      return !(read instanceof AuditFault) && judge(read).convicts;
    };
    expect(convicts(text)).toBe(true);
    expect(convicts(text.replace('candor-evidence/3', 'candor-evidence/2'))).toBe(true);
    expect(convicts(text.replace('candor-evidence/3', 'candor-evidence/1'))).toBe(false);
    expect(parseEvidence(text.replace('candor-evidence/3', 'candor-evidence/4'))).toMatchObject({
      code: 'MALFORMED_EVIDENCE',
    });
  });

  test('a proof with one flipped bit in any hash', () => {
    const binding = bindingOf(b, 5, 9);
    for (const i of binding.path.keys()) {
      const path = binding.path.map((hash, j) =>
        i === j ? Uint8Array.from(hash, (byte, k) => byte ^ Number(k === 7)) : hash,
      );
      expect(verdict({ pinnedHead: head(a, 5, 1), head: head(b, 9, 2), binding: { ...binding, path } })).toBe(false);
    }
  });
});

describe('the verdict on an ended key', () => {
  const end = Date.parse('2025-12-02T00:00:00.000Z');
  const ended = new Map([[kid, { ...key, state: 'retired', notAfter: new Date(end).toISOString() }]]);
  const [first, second] = [head(a, 5, 1), head(b, 5, 2)];
  const seen = { pinnedAt: '2025-12-01T00:00:00.000Z', pinnedHead: first, head: second };
  const dated = (tree: SignedHead, atMs: number, path: Hash[] = []) => ({
    ...tree,
    path,
    atMs,
    by: 'cosigned by w',
  });
  const larger = (tree: typeof a, at: number) =>
    dated({ ...second, size: 9, root: rootOf(tree, 9) }, at, bindingOf(tree, 5, 9).path);

  test('is misbehaviour if each statement was seen, or provably made, before the end', () => {
    const late = evidence({ ...seen, pinnedKeys: ended });
    for (const proofs of [[dated(second, end)], [larger(b, end)], [dated(second, end + 3_600_000), larger(b, end)]]) {
      const { convicts, basis } = judge(late, undefined, proofs);
      expect(convicts).toBe(true);
      expect(basis).toEqual([
        expect.stringMatching(/^Only the auditor .* the pinned head was seen at 2025-12-01/),
        expect.stringMatching(/^The tree of the head was cosigned by w at 2025-12-02.*ended/),
      ]);
    }
    for (const proofs of [[], [dated(first, end)], [dated(second, end + 3_600_000)], [larger(a, end)]])
      expect(judge(late, undefined, proofs).convicts).toBe(false);
  });

  test('refers to the current keys of the log if the file does not record the end of the key', () => {
    const known = evidence(seen);
    expect(judge(known).basis).toEqual([expect.stringMatching(/^If key .* has ended since.*--keys/)]);
    expect(judge(known, keys)).toMatchObject({ convicts: true, basis: [] });
    expect(judge(known, ended)).toMatchObject({ convicts: false, basis: [] });
  });
});

describe('a key named by a link', () => {
  const next = keyPairOf('01940000-0000-7000-8000-000000000003');
  const data = {
    purpose: 'transparency-sth',
    old_kid: kid,
    new_kid: next.key.kid,
    new_fingerprint: fingerprint(next.key),
  };
  const entry = { kind: 'key.rotated', occurred_at: '1970-01-01T00:00:00.000Z', data };
  const canonical = new TextEncoder().encode(JSON.stringify(entry));
  const root = leafHash(sha256, canonical);
  const linkHead = signedHead({ key, secret }, { size: 1, root, timestampNs: 1024n });
  const all = [key, other.key, next.key].map((one) => [one.kid, one] as const);
  const end = '2025-12-02T00:00:00.000Z';
  const framed = (old: Partial<LogKey>) =>
    evidence({
      pinnedHead: head(a, 5, 1, other),
      head: head(b, 5, 2, next),
      keys: new Map(all),
      pinnedKeys: new Map([...all.slice(1, 2), [kid, { ...key, ...old }]]),
      links: [{ leaf: { leafIndex: 0, canonical }, path: [], head: linkHead }],
    });
  const retired = { state: 'retired', notAfter: end };

  test('is trusted if the old key is in use, or provably signed the link before its end', () => {
    expect(judge(framed({})).convicts).toBe(true);
    expect(judge(framed(retired))).toMatchObject({
      convicts: false,
      reason: expect.stringContaining('UNKNOWN_KEY'),
    });
    const dated = (at: string) => [{ size: 1, root, path: [], atMs: Date.parse(at), by: 'cosigned by w' }];
    expect(judge(framed(retired), undefined, dated('2025-12-01T00:00:00.000Z')).convicts).toBe(true);
    expect(judge(framed(retired), undefined, dated('2025-12-03T00:00:00.000Z')).convicts).toBe(false);
    expect(judge(framed({ state: 'retired' }), undefined, dated(end)).convicts).toBe(false);
  });

  test("is trusted only if it is among the reader's keys, when the reader passes keys", () => {
    const given = new Map(all.slice(0, 2));
    expect(judge(framed({}), given)).toMatchObject({
      convicts: false,
      reason: expect.stringContaining('UNKNOWN_KEY'),
    });
    expect(judge(framed({}), new Map(all)).convicts).toBe(true);
  });
});

test('the attributes of a retired key survive a round trip', () => {
  const retired = {
    ...key,
    state: 'retired',
    toSize: 7,
    notBefore: '2026-01-01T00:00:00.000Z',
    revokedAt: 'then',
  };
  const text = writeEvidence(evidence({ head: head(a, 5, 1), keys: new Map([[kid, retired]]) }));
  const read = parseEvidence(text);
  if (read instanceof AuditFault) throw new Error(read.message);
  expect(read.keys.get(kid)).toEqual(retired);
});
