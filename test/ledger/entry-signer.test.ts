import { createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { draftEntry, signedBytes } from '../../src/ledger/entry.ts';
import { EntrySigner } from '../../src/ledger/entry-signer.ts';
import type { SigningKey } from '../../src/ledger/keys/signing-key.ts';
import type { StoredEntry } from '../../src/ledger/storage/storage.ts';
import { entries } from './fixture-entry.ts';

/** Returns a real key whose signatures can be delayed. */
function keyOf(kid: string, delay: () => Promise<void> = async () => {}) {
  const { privateKey } = generateKeyPairSync('ed25519');
  const key: SigningKey = {
    kid,
    sign: (message) => sign(null, message, privateKey),
    signLater: async (message) => {
      await delay();
      return sign(null, message, privateKey);
    },
  };
  return { key, publicKey: createPublicKey(privateKey) };
}

const kids = ['01940000-0000-7000-8000-000000000001', '01940000-0000-7000-8000-000000000002'] as const;
const drafts = (from: number, to: number) => entries(from, to).map((entry) => draftEntry(entry, 'entry'));

function isSignedBy(stored: StoredEntry, kid: string, publicKey: KeyObject): boolean {
  const entry = JSON.parse(new TextDecoder().decode(stored.canonical));
  const signature = Buffer.from(entry.signature, 'hex');
  return entry.key_id === kid && verify(null, signedBytes(entry), publicKey, signature);
}

test('calls continue in order of arrival, each with its own entries, for any order of signatures', async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(sizes, fc.infiniteStream(fc.integer({ min: 0, max: 3 })), async (counts, waits) => {
      const wait = async () => {
        for (let turns = waits.next().value; turns > 0; turns--) await new Promise(setImmediate);
      };
      const { key, publicKey } = keyOf(kids[0], wait);
      const seen: StoredEntry[] = [];
      const signer = new EntrySigner({
        key: () => key,
        next: async (stored) => {
          seen.push(...stored);
          return stored.length;
        },
      });
      let from = 0;
      const answers = counts.map((count) => {
        const answer = signer.sign(drafts(from, from + count));
        from += count;
        return answer;
      });
      expect(signer.entries).toBe(from);
      await signer.idle();
      expect(signer.entries).toBe(0);
      expect(await Promise.all(answers)).toEqual(counts);
      expect(seen.map(({ id }) => id)).toEqual(entries(0, from).map(({ id }) => id));
      expect(seen.every((stored) => isSignedBy(stored, kids[0], publicKey))).toBe(true);
    }),
    { numRuns: 30 },
  );
});

test('an entry that waited while its key was replaced is signed by the new key', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const old = keyOf(kids[0], () => held);
  const successor = keyOf(kids[1]);
  let key = old.key;
  const seen: StoredEntry[] = [];
  const signer = new EntrySigner({
    key: () => key,
    next: async (stored) => {
      seen.push(...stored);
    },
  });
  const answer = signer.sign(drafts(0, 3));
  key = successor.key;
  release();
  await answer;
  expect(seen).toHaveLength(3);
  expect(seen.every((stored) => isSignedBy(stored, kids[1], successor.publicKey))).toBe(true);
});

test('a failing signature fails only its own call', async () => {
  const { key } = keyOf(kids[0]);
  let broken = true;
  const failing: SigningKey = {
    ...key,
    sign: () => {
      throw new Error('no key');
    },
    signLater: (message) => (broken ? Promise.reject(new Error('no key')) : key.signLater(message)),
  };
  const signer = new EntrySigner({ key: () => failing, next: async (stored) => stored.length });
  await expect(signer.sign(drafts(0, 2))).rejects.toThrow('no key');
  broken = false;
  expect(await signer.sign(drafts(2, 5))).toBe(3);
  expect(signer.entries).toBe(0);
});

test('a signature that failed in another thread is made synchronously, so that a call never both fails and continues', async () => {
  const { key, publicKey } = keyOf(kids[0]);
  const flaky: SigningKey = { ...key, signLater: () => Promise.reject(new Error('no thread')) };
  const seen: StoredEntry[] = [];
  const signer = new EntrySigner({ key: () => flaky, next: async (stored) => seen.push(...stored) });
  expect(await signer.sign(drafts(0, 3))).toBe(3);
  expect(seen.every((stored) => isSignedBy(stored, kids[0], publicKey))).toBe(true);
});
