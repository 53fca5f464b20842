import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { fingerprint } from '../../../src/client/verifier.ts';
import { bannerText } from '../../../src/console/pages/transparency/banner-text.ts';
import { comparedSizes } from '../../../src/console/pages/transparency/compared-sizes.ts';
import { entryOf } from '../../../src/console/pages/transparency/entry-fields.ts';
import { kindOf } from '../../../src/console/pages/transparency/file-kind.ts';
import { placeOfKey, succession } from '../../../src/console/pages/transparency/rotations.ts';
import { withoutTricks } from '../../../src/console/ui/plain-text.ts';
import { entryKinds } from '../../../src/contract/vocabulary.ts';
import { banner } from '../../../src/ledger/banner.ts';

function logKey(kid: string, fromSize: number | undefined, more: Record<string, unknown> = {}) {
  const { publicKey } = generateKeyPairSync('ed25519');
  const x = publicKey.export({ format: 'jwk' }).x!;
  const bytes = new Uint8Array(Buffer.from(x, 'base64url'));
  const about = { purpose: 'transparency-sth', state: 'active', toSize: undefined };
  return { kid, x, publicKey: bytes, ...about, fromSize, ...more };
}

describe('the head in the form of the startup output', () => {
  it('has the same text as in the service', () => {
    const key = logKey('01a20203-1c05-78cf-b312-9c658ebdd8c9', 0);
    const head = {
      size: 48,
      root: Uint8Array.from({ length: 32 }, (_, i) => i),
      timestampNs: 1_795_330_413_522_999_296n,
      signature: new Uint8Array(64),
      signerKeyId: key.kid,
    };
    const root = Buffer.from(head.root).toString('hex');
    const printed = banner({
      size: head.size,
      head: { root_hash: root, timestamp_ns: Number(head.timestampNs) },
      sth_key_id: key.kid,
      sth_key_fingerprint: fingerprint(key),
      health: { state: 'ok' },
      warnings: [],
      findings: [],
    } as never);
    expect(printed.startsWith(`${bannerText(head, key)}\n`)).toBe(true);
  });
});

describe('the compared sizes', () => {
  const history = [12, 9, 9, 4].map((size) => ({ size, root: '', at: '', head: '' }));

  it('are the sizes in the URL, or the first pin and the newest head', () => {
    expect(comparedSizes('3', '8', history, 12)).toEqual({ first: 3, second: 8 });
    expect(comparedSizes(null, null, history, 12)).toEqual({ first: 4, second: 12 });
    expect(comparedSizes(null, '9', history, 12)).toEqual({ first: 4, second: 9 });
    expect(comparedSizes('7', null, history, 12)).toEqual({ first: 7, second: 12 });
    expect(comparedSizes('9007199254740990', '9007199254740991', [], undefined)).toEqual({
      first: Number.MAX_SAFE_INTEGER - 1,
      second: Number.MAX_SAFE_INTEGER,
    });
  });

  it('start at half of the log if no smaller size is pinned', () => {
    expect(comparedSizes(null, null, history.slice(3), 4)).toEqual({ first: 2, second: 4 });
    expect(comparedSizes(null, null, [], 7)).toEqual({ first: 4, second: 7 });
  });

  it('are undefined with a single size, and ignore invalid sizes', () => {
    expect(comparedSizes(null, null, [], 1)).toBeUndefined();
    expect(comparedSizes(null, null, history, undefined)).toBeUndefined();
    for (const bad of ['0', '-1', '01', '1e3', 'x', '', '9007199254740993'])
      expect(comparedSizes(bad, bad, history, 12)).toEqual({ first: 4, second: 12 });
  });
});

describe('an entry', () => {
  it('has a title if the data of its kind has more information than the subject', () => {
    const titleOf = (kind: string, data: object) => entryOf({ kind, data }).title;
    expect(titleOf('alert.raised', { severity: 'high', title: 'Scan' })).toBe('high: Scan');
    expect(titleOf('principal.role_changed', { from: ['viewer'], to: ['admin', 'analyst'] })).toBe(
      'viewer → admin, analyst',
    );
    expect(titleOf('key.rotated', { purpose: 'event-signing', new_kid: 'k2' })).toBe('event-signing → k2');
    expect(titleOf('policy.reloaded', { version: 3, added_count: 1, removed_count: 0, changed_count: 2 })).toBe(
      'version 3: +1 −0 ~2',
    );
    expect(titleOf('token.issued', {})).toBeUndefined();
  });

  it('is displayed with any contents', () => {
    for (const kind of [...entryKinds, 'made.up'])
      for (const data of [undefined, null, 7, [], { title: 7, from: {}, to: [null] }])
        expect(entryOf({ kind, data }).kind).toBe(kind);
    for (const entry of [undefined, null, 'x', 7, [], { id: 7, subject: 'x' }])
      expect(entryOf(entry).subject).toBeUndefined();
  });
});

describe('a file', () => {
  it('is recognised by its contents', () => {
    expect(kindOf('{"leaf_index":0}')).toBe('bundle');
    expect(kindOf('garbage')).toBe('bundle');
    expect(kindOf('')).toBe('bundle');
    expect(kindOf('{"format":"candor-evidence/1"}')).toBe('evidence');
    expect(kindOf('{"version":2,"log":"http://x","pinned_at":"now"}')).toBe('pin');
    expect(kindOf('{"keys":[]}')).toBe('keys');
    expect(kindOf('log\n3\nroot=\n\n— log c2ln\n')).toBe('checkpoint');
  });
});

describe('keys', () => {
  const line = [
    logKey('c', undefined, { state: 'pending' }),
    logKey('b', 20),
    logKey('a', 0, { state: 'retired', toSize: 20 }),
    logKey('e', 0, { purpose: 'event-signing' }),
  ];
  const keys = new Map(line.map((key) => [key.kid, key]));

  it('are ordered by the size from which they sign, pending keys last', () => {
    expect(succession(keys, 'transparency-sth').map(({ kid }) => kid)).toEqual(['a', 'b', 'c']);
    const place = placeOfKey(keys, line[1]!);
    expect([place.number, place.of, place.before?.kid, place.after?.kid]).toEqual([2, 3, 'a', 'c']);
    expect(placeOfKey(keys, line[3]!)).toEqual({ number: 1, of: 1 });
  });
});

describe('untrusted text', () => {
  it('has deceptive characters escaped as in JSON', () => {
    expect(withoutTricks('a\u202eb\u200bc\u0007\u2028\ufeff')).toBe('a\\u202eb\\u200bc\\u0007\\u2028\\ufeff');
    expect(withoutTricks('\u{e0001}')).toBe('\\udb40\\udc01');
  });

  it('is unchanged without deceptive characters', () => {
    const plain = '{\n  "title": "Größe 長 😀 – “x”"\n}';
    expect(withoutTricks(plain)).toBe(plain);
  });
});
