import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchHead, proveEntry } from '../../src/client/auditor.ts';
import { base64, base64url, hex, parseExact, safeInteger } from '../../src/client/exact-json.ts';
import { AuditFault, type FaultCode } from '../../src/client/fault.ts';
import { httpLog } from '../../src/client/log-source.ts';
import { parsePin, writePin } from '../../src/client/pin.ts';
import { parseTreeHead, writeTreeHead } from '../../src/client/tree-head.ts';
import { parseBundle, verifyBundle, verifyEntry, writeBundle } from '../../src/client/verify.ts';
import { jcs } from '../../src/contract/jcs.ts';
import { ServedLog } from './served-log.ts';

describe('the encoding of signed data', () => {
  test('keeps every digit of integers, and rejects other notations as integers', () => {
    expect(parseExact('[9007199254740993, 0, 1e3, 1.0, -0, -7]')).toEqual([9007199254740993n, 0n, 1000, 1, -0, -7n]);
    expect([0n, 9007199254740991n, 9007199254740992n, -1n, 5, '5', undefined].map(safeInteger)).toEqual([
      0,
      9007199254740991,
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(parseExact('{')).toBeUndefined();
  });

  test('allows only hex of the exact length, and only canonical base64', () => {
    expect(hex('Ff00', 2)).toEqual(Uint8Array.of(255, 0));
    for (const wrong of ['ff0', 'ff000', '0xff', ' f00', 'fg00', '', 255n]) expect(hex(wrong, 2)).toBeUndefined();
    expect(base64('/w==')).toEqual(Uint8Array.of(255));
    for (const wrong of ['/x==', '/w=', '/w', '_w==', '/w==\n', ' /w==']) expect(base64(wrong)).toBeUndefined();
    expect(base64url('_w')).toEqual(Uint8Array.of(255));
    for (const wrong of ['_x', '_w==', '/w', '_w ', 'A']) expect(base64url(wrong)).toBeUndefined();
  });

  test('sorts the canonical form by code units and prints numbers as ECMAScript does', () => {
    // The sample of RFC 8785 section 3.2.3. The member `__proto__` is special in JavaScript objects.
    const sorted = '{"\\r":1,"1":2,"\u0080":3,"ö":4,"€":5,"😀":6,"\ufb33":7}';
    expect(jcs(JSON.parse('{"€":5,"\\r":1,"\ufb33":7,"1":2,"😀":6,"\u0080":3,"ö":4}'))).toBe(sorted);
    expect(jcs(JSON.parse('{"b":[56.0,1e21,4.50,"\\u0041"],"__proto__":null,"a":{}}'))).toBe(
      '{"__proto__":null,"a":{},"b":[56,1e+21,4.5,"A"]}',
    );
    expect(() => jcs('\ud800')).toThrow(TypeError);
  });
});

describe('a bundle', () => {
  let log: ServedLog;
  let text: string;
  beforeAll(async () => {
    log = await ServedLog.start();
    await log.append(7);
    const source = httpLog(log.url);
    const signed = await fetchHead(source);
    if (signed instanceof AuditFault) throw new Error(signed.code);
    const proven = await proveEntry(source, { leafIndex: 5 }, signed);
    if (proven instanceof AuditFault) throw new Error(proven.code);
    const { leafIndex, canonical, path } = proven;
    text = writeBundle({ leaf: { leafIndex, canonical }, path, head: signed.head, keys: signed.keys });
  });
  afterAll(() => log.close());

  const verify = (bundle: string) => {
    const parsed = parseBundle(bundle);
    return parsed instanceof AuditFault ? parsed : verifyBundle(parsed);
  };

  test('verifies without the log', () => {
    const verified = verify(text);
    expect(verified).not.toBeInstanceOf(AuditFault);
    expect(verified).toMatchObject({
      leafIndex: 5,
      entry: { kind: 'alert.raised', data: { title: 'Überlauf "é"' } },
    });
  });

  const edited = (change: (bundle: Record<string, unknown>) => void) => {
    // Timestamps are passed as text, because numbers would be rounded.
    const bundle = JSON.parse(text.replace(/"timestamp_ns":(\d+)/, '"timestamp_ns":"$1"')) as Record<string, unknown>;
    change(bundle);
    return JSON.stringify(bundle).replace(/"timestamp_ns":"(\d+)"/, '"timestamp_ns":$1');
  };
  const cases: readonly (readonly [FaultCode, string, () => string])[] = [
    ['MALFORMED_BUNDLE', 'no JSON', () => ''],
    [
      'MALFORMED_BUNDLE',
      'a size that differs from that of the head',
      () => edited((b) => Object.assign(b, { tree_size: 6 })),
    ],
    ['MALFORMED_HEAD', 'no head', () => edited((b) => delete b.head)],
    ['MALFORMED_KEYS', 'no keys', () => edited((b) => delete b.keys)],
    ['UNKNOWN_KEY', 'an empty key set', () => edited((b) => Object.assign(b, { keys: [] }))],
    ['MALFORMED_LEAF', 'no bytes', () => edited((b) => delete b.canonical)],
    ['MALFORMED_PROOF', 'no path', () => edited((b) => delete b.audit_path)],
    ['MALFORMED_PROOF', 'an index beyond the tree', () => edited((b) => Object.assign(b, { leaf_index: 7 }))],
    ['NOT_INCLUDED', 'another index', () => edited((b) => Object.assign(b, { leaf_index: 4 }))],
    [
      'NOT_INCLUDED',
      'a changed byte of the entry',
      () => edited((b) => Object.assign(b, { canonical: flipBase64(b.canonical) })),
    ],
  ];
  test.each(cases)('%s: %s', (code, _what, make) => {
    expect(verify(make())).toMatchObject({ code });
  });

  test('is rejected if any hash of the path is wrong', () => {
    const { audit_path: path } = JSON.parse(text) as { audit_path: string[] };
    for (const i of path.keys()) {
      const flipped = path.map((hash, j) => (i === j ? hash.replace(/.$/, (d) => (d === '0' ? '1' : '0')) : hash));
      expect(verify(edited((b) => Object.assign(b, { audit_path: flipped })))).toMatchObject({
        code: 'NOT_INCLUDED',
      });
    }
  });

  test('must have a complete, signed entry in canonical form', () => {
    const bundle = parseBundle(text);
    if (bundle instanceof AuditFault) throw new Error(bundle.code);
    const entry = new TextDecoder().decode(bundle.leaf.canonical);
    const code = (bytes: string) => {
      const found = verifyEntry({ leafIndex: 0, canonical: new TextEncoder().encode(bytes) }, bundle.keys);
      return found instanceof AuditFault ? found.code : 'ok';
    };
    expect(code(entry)).toBe('ok');
    expect(code(`${entry}\n`)).toBe('NOT_CANONICAL');
    expect(code(`\ufeff${entry}`)).toBe('NOT_CANONICAL');
    expect(code(JSON.stringify(JSON.parse(entry), undefined, 1))).toBe('NOT_CANONICAL');
    expect(code('no JSON')).toBe('NOT_CANONICAL');
    expect(code('{}')).toBe('MALFORMED_LEAF');
    expect(code(entry.replace('alert.raised', 'alert.closed'))).toBe('BAD_ENTRY_SIGNATURE');
  });

  test('heads and pins survive a round trip; altered pins are rejected', () => {
    const bundle = parseBundle(text);
    if (bundle instanceof AuditFault) throw new Error(bundle.code);
    expect(parseTreeHead(writeTreeHead(bundle.head))).toEqual(bundle.head);
    const at = new Date(0).toISOString();
    const pin = { log: 'http://log', head: bundle.head, keys: bundle.keys, pinnedAt: at, updatedAt: at };
    expect(parsePin(writePin(pin))).toEqual(pin);
    for (const version of [3, 4])
      expect(parsePin(writePin(pin).replace('"version":5', `"version":${version}`))).toEqual(pin);
    expect(parsePin(writePin({ ...pin, checkpointAhead: 'no note' }))).toMatchObject({
      code: 'MALFORMED_PIN',
      message: expect.stringContaining('checkpoint_ahead'),
    });
    expect(parsePin(writePin({ ...pin, keys: new Map() }))).toMatchObject({ code: 'MALFORMED_PIN' });
    const { path } = bundle;
    const checked = { ...pin, entries: { head: bundle.head, edge: path } };
    // The number of hashes is right, but they do not result in the root.
    expect(parsePin(writePin(checked))).toMatchObject({ code: 'MALFORMED_PIN' });
    for (const wrong of ['', '{}', writePin(pin).replace('"version":5', '"version":6'), writePin(pin).slice(0, 50)]) {
      expect(parsePin(wrong)).toMatchObject({ code: 'MALFORMED_PIN' });
    }
  });

  test('a pin of version 2 keeps only the signer of its head, because the other keys were only published', () => {
    const bundle = parseBundle(text);
    if (bundle instanceof AuditFault) throw new Error(bundle.code);
    const at = new Date(0).toISOString();
    const pin = { log: 'http://log', head: bundle.head, keys: bundle.keys, pinnedAt: at, updatedAt: at };
    const read = parsePin(writePin(pin).replace('"version":5', '"version":2'));
    if (read instanceof AuditFault) throw new Error(read.message);
    expect(bundle.keys.size).toBeGreaterThan(1);
    expect([...read.keys.keys()]).toEqual([bundle.head.signerKeyId]);
    expect(read.head).toEqual(bundle.head);
  });
});

function flipBase64(text: unknown): string {
  const binary = atob(String(text));
  return btoa(String.fromCharCode(binary.charCodeAt(0) ^ 1) + binary.slice(1));
}
