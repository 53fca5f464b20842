import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AuditResult, audit } from '../../src/client/auditor.ts';
import { type CheckpointPolicy, parseCheckpointKey, verifyCheckpoint } from '../../src/client/checkpoint.ts';
import { parseEvidence } from '../../src/client/evidence.ts';
import { AuditFault } from '../../src/client/fault.ts';
import { fetchKeys } from '../../src/client/latest.ts';
import { httpLog } from '../../src/client/log-source.ts';
import { parsePin, writePin } from '../../src/client/pin.ts';
import { sha256 } from '../../src/client/sha256.ts';
import { judge } from '../../src/client/verdict.ts';
import { cosignedMessage, encodeCosignature } from '../../src/tlog/cosignature.ts';
import {
  formatNote,
  formatVerifierKey,
  parseNote,
  signatureTypes,
  type VerifierKey,
  verifierKey,
} from '../../src/tlog/note.ts';
import { rewrite } from './insider.ts';
import { ServedLog } from './served-log.ts';

let log: ServedLog;
beforeEach(async () => {
  log = await ServedLog.start();
});
afterEach(() => log.close());

const check = (pin?: Parameters<typeof audit>[1], checkpoint?: CheckpointPolicy) =>
  audit(httpLog(log.url), pin, { now: log.now, ...(checkpoint && { checkpoint }) });

const codeOf = (result: AuditResult) => (result.status === 'fault' ? result.fault.code : result.status);

async function logKey(): Promise<VerifierKey> {
  const key = parseCheckpointKey((await log.ledger.status()).checkpoint_vkey);
  if (key instanceof AuditFault) throw new Error(key.message);
  return key;
}

class Witness {
  readonly #private: KeyObject;
  readonly key: VerifierKey;

  constructor(name: string) {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    this.#private = privateKey;
    const raw = Uint8Array.from(Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url'));
    this.key = verifierKey(sha256, name, signatureTypes.cosignature, raw);
  }

  cosign(note: string, timeS = 1_800_000_000): string {
    const { text, signatures } = parseNote(note);
    const signature = sign(null, cosignedMessage(timeS, text), this.#private);
    const { name, keyId } = this.key;
    const own = { name, keyId, signature: encodeCosignature(timeS, signature) };
    return formatNote({ text, signatures: [...signatures, own] });
  }
}

describe('an honest log', () => {
  test('is pinned with the first cosigned checkpoint of the pinned tree', async () => {
    await log.append(3);
    const witness = new Witness('witness.example/w');
    log.lies = [{ path: '/checkpoint', tell: (note) => witness.cosign(note) }];
    const first = await check();
    if (first.status !== 'pinned') throw new Error(codeOf(first));
    expect(first.pin.checkpoint).toBe(first.checkpoint!.note);
    expect(parsePin(writePin(first.pin))).toEqual(first.pin);
    expect(parsePin(writePin(first.pin).replace('"checkpoint":"', '"checkpoint":1,"x":"'))).toMatchObject({
      code: 'MALFORMED_PIN',
    });
    log.lies = [{ path: '/checkpoint', tell: (note) => witness.cosign(note, 1_800_000_001) }];
    expect(await check(first.pin)).toMatchObject({ pin: { checkpoint: first.pin.checkpoint } });
    // The tree has grown, so it differs from the cosigned tree.
    log.lies = [{ path: '/checkpoint', tell: () => first.checkpoint!.note }];
    await log.append(1);
    const grown = await check(first.pin);
    expect(grown.status === 'extended' && 'checkpoint' in grown.pin).toBe(false);
    log.lies = [];
    // The pinned checkpoint corroborates evidence that is found later.
    await log.tamper((folder) => rewrite(folder, (entries) => Object.assign(entries[1]!, { actor: 'x' })));
    const fork = await check(first.pin);
    const evidence = parseEvidence(fork.status === 'fault' ? fork.evidence! : '');
    expect(evidence).toMatchObject({ corroboration: [{ checkpoint: first.pin.checkpoint, path: [] }] });
  });

  test('may serve a checkpoint that is smaller or larger than the head, or of the same size', async () => {
    await log.append(3);
    const behind = await (await fetch(`${log.url}/checkpoint`)).text();
    const first = await check();
    expect(first).toMatchObject({ status: 'pinned', checkpoint: { size: 3, cosigners: [] } });
    await log.append(4);
    const oldHead = await (await fetch(`${log.url}/api/transparency/sth`)).text();
    log.lies = [{ path: '/checkpoint', tell: () => behind }];
    const pin = first.status === 'pinned' ? first.pin : undefined;
    expect(await check(pin)).toMatchObject({ status: 'extended', checkpoint: { size: 3 } });
    await log.append(2);
    log.lies = [{ path: '/api/transparency/sth', tell: () => oldHead }];
    expect(await check(pin)).toMatchObject({ status: 'extended', checkpoint: { size: 9 } });
  });

  test('is accepted without a checkpoint, unless the auditor requires one', async () => {
    await log.append(1);
    log.lies = [{ path: '/checkpoint', tell: () => ({ status: 404, body: '' }) }];
    expect(await check()).toMatchObject({ status: 'pinned', checkpoint: undefined });
    expect(codeOf(await check(undefined, { logKey: await logKey() }))).toBe('CHECKPOINT_WITHHELD');
  });

  test('keeps its checkpoint key when other keys are rotated, and replaces a revoked checkpoint key', async () => {
    await log.append(1);
    await log.ledger.rotateKey('transparency-sth', 'system');
    expect(codeOf(await check(undefined, { logKey: await logKey() }))).toBe('pinned');
    const old = await logKey();
    const key = (await log.ledger.keys()).find(({ svc_purpose }) => svc_purpose === 'checkpoint');
    const oldNote = await (await fetch(`${log.url}/checkpoint`)).text();
    await log.ledger.revokeKey(String(key?.kid), 'stolen', 'system');
    expect(codeOf(await check())).toBe('pinned');
    expect(codeOf(await check(undefined, { logKey: old }))).toMatch(/^(UNSIGNED_CHECKPOINT|WRONG_ORIGIN)$/);
    log.lies = [{ path: '/checkpoint', tell: () => oldNote }];
    expect(codeOf(await check())).toBe('UNSIGNED_CHECKPOINT');
  });
});

describe('witnesses', () => {
  const [one, two, three] = ['one', 'two', 'three'].map((name) => new Witness(`witness.example/${name}`)) as [
    Witness,
    Witness,
    Witness,
  ];
  const witnesses = [one.key, two.key, three.key];

  test('are counted once each; unknown witnesses are ignored', async () => {
    await log.append(2);
    log.lies = [{ path: '/checkpoint', tell: (note) => two.cosign(one.cosign(note)) }];
    expect(await check(undefined, { witnesses, quorum: 2 })).toMatchObject({
      status: 'pinned',
      checkpoint: { cosigners: [{ name: 'witness.example/one', timeS: 1_800_000_000 }, {}] },
    });
    expect(codeOf(await check(undefined, { witnesses }))).toBe('QUORUM_MISSED');
    expect(codeOf(await check(undefined, { witnesses: [three.key], quorum: 1 }))).toBe('QUORUM_MISSED');
    expect(codeOf(await check(undefined, { witnesses: [one.key, one.key], quorum: 2 }))).toBe('QUORUM_MISSED');
    expect(codeOf(await check(undefined, { quorum: 1 }))).toBe('QUORUM_MISSED');
    expect(await check()).toMatchObject({ status: 'pinned', checkpoint: { cosigners: [] } });
  });

  test('are ignored if they cosigned before the limit of --max-age', async () => {
    await log.append(3);
    const one = new Witness('witness.example/one');
    const atS = (agoS: number) => Math.floor(log.now / 1000) - agoS;
    const policy = { witnesses: [one.key] };
    const options = { now: log.now, maxAgeMs: 60_000, checkpoint: policy };
    for (const [agoS, code] of [
      [50, 'pinned'],
      [70, 'QUORUM_MISSED'],
    ] as const) {
      log.lies = [{ path: '/checkpoint', tell: (note) => one.cosign(note, atS(agoS)) }];
      expect(codeOf(await audit(httpLog(log.url), undefined, options))).toBe(code);
      expect(codeOf(await check(undefined, policy))).toBe('pinned');
    }
  });

  test('with an invalid cosignature cause the checkpoint to be rejected', async () => {
    await log.append(2);
    const other = { ...one.key, publicKey: two.key.publicKey };
    const named = verifierKey(sha256, one.key.name, signatureTypes.cosignature, other.publicKey);
    log.lies = [
      {
        path: '/checkpoint',
        tell: (note) => {
          const { text, signatures } = parseNote(one.cosign(note));
          const wrong = signatures.map((by) => (by.name === one.key.name ? { ...by, keyId: named.keyId } : by));
          return formatNote({ text, signatures: wrong });
        },
      },
    ];
    expect(codeOf(await check(undefined, { witnesses: [named], quorum: 1 }))).toBe('BAD_COSIGNATURE');
  });
});

describe('a checkpoint that is not accepted', () => {
  const cases: readonly (readonly [string, string, (note: string) => string])[] = [
    ['MALFORMED_CHECKPOINT', 'text that is not a note', () => 'checkpoint'],
    ['MALFORMED_CHECKPOINT', 'a size with a leading zero', (note) => note.replace('\n3\n', '\n03\n')],
    ['MALFORMED_CHECKPOINT', 'no signature', (note) => `${note.split('\n\n')[0]}\n\n`],
    ['MALFORMED_CHECKPOINT', 'an empty tree', (note) => note.replace('\n3\n', '\n0\n')],
    ['UNSIGNED_CHECKPOINT', 'another size', (note) => note.replace('\n3\n', '\n2\n')],
    ['UNSIGNED_CHECKPOINT', 'another origin', (note) => note.replaceAll(/candor\S*/g, 'elsewhere.example')],
    ['UNSIGNED_CHECKPOINT', 'a signature under another name', (note) => note.replace(/— \S+/, '— elsewhere.example')],
  ];
  test.each(cases)('%s: %s', async (code, _what, tell) => {
    await log.append(3);
    log.lies = [{ path: '/checkpoint', tell }];
    expect(codeOf(await check())).toBe(code);
  });

  test('is WRONG_ORIGIN or UNSIGNED_CHECKPOINT if the given key belongs to another log', async () => {
    await log.append(1);
    const key = await logKey();
    const elsewhere = verifierKey(sha256, 'elsewhere.example', signatureTypes.ed25519, key.publicKey);
    expect(codeOf(await check(undefined, { logKey: elsewhere }))).toBe('WRONG_ORIGIN');
    const stranger = new Witness('x').key.publicKey;
    const other = verifierKey(sha256, key.name, signatureTypes.ed25519, stranger);
    expect(codeOf(await check(undefined, { logKey: other }))).toBe('UNSIGNED_CHECKPOINT');
    expect(parseCheckpointKey(formatVerifierKey({ ...key, publicKey: new Uint8Array(32) }))).toBeInstanceOf(AuditFault);
  });
});

describe('a log with different trees in its checkpoint and its head', () => {
  /** Returns the checkpoint of a log with the same keys and a different second entry. */
  async function otherCheckpoint(more: number): Promise<string> {
    const copy = await log.snapshot();
    await log.append(2 + more);
    const served = await log.snapshot();
    await log.restore(copy);
    await log.tamper((folder) => rewrite(folder, (entries) => Object.assign(entries[1]!, { actor: 'somebody' })));
    log.now += 1000;
    await log.append(2);
    const note = await log.ledger.checkpoint();
    await log.restore(served);
    return note;
  }

  test.each([
    ['FORK', 0],
    ['INCONSISTENT', 3],
  ] as const)('is proven to misbehave by the evidence of %s', async (code, more) => {
    await log.append(3);
    const note = await otherCheckpoint(more);
    log.now += 5000;
    const first = await check();
    log.lies = [{ path: '/checkpoint', tell: () => note }];
    // Without a pin, both keys are untrusted: this is not misbehaviour, and the evidence is saved.
    const unpinned = await check();
    expect(codeOf(unpinned)).toBe('UNPROVEN');
    expect(unpinned).toMatchObject({ evidence: expect.stringContaining('"convicts":false') });
    const result = await check(first.status === 'pinned' ? first.pin : undefined);
    expect(codeOf(result)).toBe(code);
    const evidence = parseEvidence((result.status === 'fault' && result.evidence) || '');
    if (evidence instanceof AuditFault) throw new Error(evidence.message);
    const { convicts, reason, signers } = judge(evidence);
    expect(convicts, reason).toBe(true);
    expect(signers.map(({ purpose }) => purpose)).toContain('checkpoint');
    // Without the checkpoint's key, there is no contradiction.
    const keys = await fetchKeys(httpLog(log.url));
    if (keys instanceof AuditFault) throw new Error(keys.code);
    const less = new Map([...keys].filter(([, key]) => key.purpose !== 'checkpoint'));
    expect(judge(evidence, less).convicts).toBe(false);
    expect(judge({ ...evidence, checkpoint: note.replace(/\n.*\n\n/, `\n${'A'.repeat(43)}=\n\n`) }).convicts).toBe(
      false,
    );
    expect(verifyCheckpoint(note, keys)).not.toBeInstanceOf(AuditFault);
  });
});
