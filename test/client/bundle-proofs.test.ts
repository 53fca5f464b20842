import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseBundleProofs, verifyBundleProofs } from '../../src/client/bundle-proofs.ts';
import { AuditFault, type FaultCode } from '../../src/client/fault.ts';
import { type LogKey, parseKeySet } from '../../src/client/key-set.ts';
import { parseBundle, verifyBundle } from '../../src/client/verify.ts';
import { checkpointTimestamped, entryOf } from '../../src/contract/critical-events.ts';
import { sha256 } from '../../src/crypto/sha256.ts';
import { writeProofBundle } from '../../src/http/write-bundle.ts';
import { parseCheckpoint } from '../../src/tlog/checkpoint.ts';
import { bytesToHex } from '../../src/tlog/hex.ts';
import { parseNote, parseVerifierKey } from '../../src/tlog/note.ts';
import { uuid7 } from '../../src/uuid.ts';
import { keyPair } from '../witness/test-log.ts';
import { ServedLog } from './served-log.ts';

type Json = Record<string, unknown>;

describe('the checkpoint and the timestamps of a bundle', () => {
  let log: ServedLog;
  let early: string;
  let text: string;

  /** Appends an entry as a timestamper does. The token is not verified here. */
  const timestamp = async (authority: string) => {
    const checkpoint = await log.ledger.checkpoint();
    const hash = bytesToHex(sha256(new TextEncoder().encode(checkpoint)));
    const gen_time = new Date().toISOString();
    const token = Buffer.from(`token of ${authority}`).toString('base64');
    const data = { authority, gen_time, checkpoint, checkpoint_sha256: hash, token };
    await log.ledger.append([entryOf(checkpointTimestamped(data), uuid7(Date.now()), Date.now())]);
    return checkpoint;
  };

  beforeAll(async () => {
    log = await ServedLog.start();
    await log.append(3);
    await timestamp('https://a.example'); // entry 3, for the checkpoint of size 3
    await timestamp('https://b.example'); // entry 4, for the checkpoint of size 4
    await timestamp('https://a.example'); // entry 5, for the checkpoint of size 5
    await log.append(2); // entries 6 and 7
    early = await log.ledger.checkpoint();
    await log.append(1); // entry 8
    await timestamp('https://b.example'); // entry 9, for the checkpoint of size 9
    await timestamp('https://b.example'); // entry 10, for the checkpoint of size 10
    await log.append(4);
    text = writeProofBundle(await log.ledger.bundle({ leaf_index: 7 }, early));
  });
  afterAll(() => log.close());

  const verify = (bundle: string, options = {}) => {
    const [parsed, proofs] = [parseBundle(bundle), parseBundleProofs(bundle)];
    if (parsed instanceof AuditFault) return parsed;
    if (proofs instanceof AuditFault) return proofs;
    const verified = verifyBundle(parsed);
    return verified instanceof AuditFault ? verified : verifyBundleProofs(parsed, proofs, parsed.keys, options);
  };
  const code = (result: unknown) => (result instanceof AuditFault ? result.code : 'none');
  const edited = (change: (bundle: Json) => void) => {
    const bundle = JSON.parse(text.replace(/"timestamp_ns":(\d+)/, '"timestamp_ns":"$1"')) as Json;
    change(bundle);
    return JSON.stringify(bundle).replace(/"timestamp_ns":"(\d+)"/, '"timestamp_ns":$1');
  };

  test('verify, and bound the time of the entry by the nearest timestamps of each authority', () => {
    const proven = verify(text);
    if (proven instanceof AuditFault) throw new Error(proven.message);
    expect(proven.checkpoint).toMatchObject({ note: early, size: 8, published: true });
    const sizes = (claims: readonly { authority: string; checkpoint: string }[]) =>
      claims.map(({ authority, checkpoint }) => [authority, parseCheckpoint(parseNote(checkpoint).text).size]);
    expect(sizes(proven.notBefore)).toEqual([
      ['https://a.example', 5],
      ['https://b.example', 4],
    ]);
    expect(sizes(proven.notAfter)).toEqual([['https://b.example', 9]]);
  });

  test('come with exactly the keys that verify the bundle', async () => {
    const bundle = parseBundle(text);
    if (bundle instanceof AuditFault) throw new Error(bundle.message);
    expect([...bundle.keys.values()].map(({ purpose }) => purpose)).toEqual([
      'transparency-sth',
      'event-signing',
      'checkpoint',
    ]);
    await log.ledger.rotateKey('event-signing', 'system');
    const later = parseBundle(writeProofBundle(await log.ledger.bundle({ leaf_index: 7 })));
    if (later instanceof AuditFault) throw new Error(later.message);
    expect(later.keys.size).toBe(3);
    expect(verifyBundle(later)).not.toBeInstanceOf(AuditFault);
  });

  test("include the log's own checkpoint if the published checkpoint does not cover the entry", async () => {
    const late = writeProofBundle(await log.ledger.bundle({ leaf_index: 8 }, early));
    const proven = verify(late);
    if (proven instanceof AuditFault) throw new Error(proven.message);
    expect(proven.checkpoint).toMatchObject({ published: false });
    expect(proven.checkpoint!.size).toBeGreaterThan(8);
  });

  test('are absent from bundles of earlier versions, which still verify', () => {
    const old = edited((bundle) => {
      for (const name of ['tlog_proof', 'checkpoint_published', 'checkpoint_consistency', 'timestamps'])
        delete bundle[name];
    });
    expect(verify(old)).toEqual({ notBefore: [], notAfter: [] });
    expect(code(verify(old, { policy: {} }))).toBe('UNSIGNED_CHECKPOINT');
  });

  test('must have the signatures that the caller requires', async () => {
    const logKey = parseVerifierKey(sha256, (await log.ledger.status()).checkpoint_vkey);
    expect(code(verify(text, { policy: { logKey } }))).toBe('none');
    const witness = keyPair('witness.example/w', 4).public;
    expect(code(verify(text, { policy: { logKey, witnesses: [witness] } }))).toBe('QUORUM_MISSED');
    const other = { ...keyPair(logKey.name, 1).public };
    expect(code(verify(text, { policy: { logKey: other } }))).toBe('UNSIGNED_CHECKPOINT');
    expect(code(verifyWith('{"keys":[]}'))).toBe('UNSIGNED_CHECKPOINT');
  });

  const verifyWith = (jwks: string) => {
    const [parsed, proofs, keys] = [parseBundle(text), parseBundleProofs(text), parseKeySet(jwks)];
    if (parsed instanceof AuditFault || proofs instanceof AuditFault || keys instanceof AuditFault)
      throw new Error('malformed');
    return verifyBundleProofs(parsed, proofs, keys);
  };

  const timestamps = (bundle: Json) => bundle.timestamps as Record<string, Json[]>;
  const cases: readonly (readonly [FaultCode, string, (bundle: Json) => void])[] = [
    ['MALFORMED_PROOF', 'text that is not a tlog-proof', (b) => Object.assign(b, { tlog_proof: 'none' })],
    ['MALFORMED_BUNDLE', 'a number for the tlog-proof', (b) => Object.assign(b, { tlog_proof: 7 })],
    ['MALFORMED_BUNDLE', 'no checkpoint_published', (b) => Reflect.deleteProperty(b, 'checkpoint_published')],
    [
      'WRONG_LEAF',
      'the tlog-proof of another leaf',
      (b) => Object.assign(b, { tlog_proof: String(b.tlog_proof).replace('index 7', 'index 6') }),
    ],
    [
      'NOT_INCLUDED',
      'another hash in the path',
      (b) =>
        Object.assign(b, {
          tlog_proof: String(b.tlog_proof).replace(/index 7\n.*\n/, `index 7\n${'A'.repeat(43)}=\n`),
        }),
    ],
    [
      'UNSIGNED_CHECKPOINT',
      'another root in the checkpoint',
      (b) =>
        Object.assign(b, {
          tlog_proof: String(b.tlog_proof).replace(/\n8\n.*\n/, `\n8\n${'A'.repeat(43)}=\n`),
        }),
    ],
    [
      'MALFORMED_BUNDLE',
      'no consistency proof between the trees',
      (b) => Object.assign(b, { checkpoint_consistency: [] }),
    ],
    ['MALFORMED_BUNDLE', 'timestamps that are a list', (b) => Object.assign(b, { timestamps: [] })],
    [
      'NOT_INCLUDED',
      'an earlier timestamp at another position',
      (b) => Object.assign(timestamps(b).not_before![0]!, { leaf_index: 4 }),
    ],
    [
      'MALFORMED_BUNDLE',
      'an earlier timestamp that is not earlier',
      (b) => Object.assign(timestamps(b).not_before![0]!, { leaf_index: 7 }),
    ],
    [
      'MALFORMED_PROOF',
      'a later timestamp without a path',
      (b) => Object.assign(timestamps(b).not_after![0]!, { audit_path: [] }),
    ],
    [
      'MALFORMED_PROOF',
      'a later timestamp of a checkpoint that does not cover the entry',
      (b) => Object.assign(timestamps(b).not_after![0]!, { checkpoint: early.replace('\n8\n', '\n7\n') }),
    ],
    [
      'MALFORMED_CHECKPOINT',
      'a later timestamp of text that is not a checkpoint',
      (b) => Object.assign(timestamps(b).not_after![0]!, { checkpoint: 'text' }),
    ],
    [
      'MALFORMED_BUNDLE',
      'a later timestamp without a token',
      (b) => Reflect.deleteProperty(timestamps(b).not_after![0]!, 'token'),
    ],
  ];
  test.each(cases)('%s: %s', (fault, _, change) => {
    expect(code(verify(edited(change)))).toBe(fault);
  });

  test('are rejected with an entry in not_before that is not a timestamp', async () => {
    const own = await log.ledger.bundle({ leaf_index: 7 }, early);
    const { leaf, audit_path } = await log.ledger.bundle({ leaf_index: 6 });
    const timestamps = { not_before: [{ leaf, audit_path }], not_after: [] };
    expect(verify(writeProofBundle({ ...own, timestamps }))).toMatchObject({
      code: 'MALFORMED_BUNDLE',
      message: 'not_before: entry 6 has no timestamp',
    });
  });

  test('with two roots for one size prove misbehaviour only if the caller trusts the keys and no key has ended', async () => {
    const twin = await ServedLog.start();
    try {
      await twin.append(15);
      const forked = await twin.ledger.bundle({ leaf_index: 7 });
      const own = await log.ledger.bundle({ leaf_index: 7 });
      // The head of one tree with the checkpoint of another, of the same size.
      const size = own.head.tree_size;
      await twin.append(Math.max(0, size - forked.head.tree_size));
      const other = await twin.ledger.bundle({ leaf_index: 7 });
      const keys = [...own.keys, ...other.keys];
      const { checkpoint } = other;
      const parsed = parseBundle(writeProofBundle({ ...own, keys }));
      const proofs = parseBundleProofs(writeProofBundle({ ...own, leaf: other.leaf, keys, checkpoint: checkpoint! }));
      const of = parseBundle(writeProofBundle({ ...other, keys }));
      if (parsed instanceof AuditFault || proofs instanceof AuditFault || of instanceof AuditFault)
        throw new Error('malformed');
      const bundle = { ...parsed, leaf: of.leaf };
      expect(of.head.size).toBe(size);
      const stated = { ...proofs, notBefore: [], notAfter: [] };
      const judged = (trustedKeys: boolean, set = parsed.keys) =>
        code(verifyBundleProofs(bundle, stated, set, { trustedKeys }));
      expect([judged(true), judged(false)]).toEqual(['FORK', 'WRONG_ROOT']);
      // An attacker with an ended key can backdate a statement.
      for (const purpose of ['checkpoint', 'transparency-sth']) {
        const ended = (key: LogKey) => (key.purpose === purpose ? { ...key, state: 'retired' } : key);
        const set = new Map([...parsed.keys].map(([kid, key]) => [kid, ended(key)]));
        expect(judged(true, set)).toBe('WRONG_ROOT');
      }
    } finally {
      await twin.close();
    }
  });
});
