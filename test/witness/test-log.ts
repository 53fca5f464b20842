import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { sha256 } from '../../src/crypto/sha256.ts';
import { formatCheckpoint } from '../../src/tlog/checkpoint.ts';
import { formatNote, formatVerifierKey, type VerifierKey, verifierKey } from '../../src/tlog/note.ts';
import { formatAddCheckpoint } from '../../src/witness/add-checkpoint.ts';
import { mth, proof } from '../tlog/oracle.ts';

export interface KeyPair {
  readonly public: VerifierKey;
  readonly vkey: string;
  readonly private: KeyObject;
}

export function keyPair(name: string, type = 1): KeyPair {
  const { privateKey } = generateKeyPairSync('ed25519');
  const raw = new Uint8Array(Buffer.from(String(privateKey.export({ format: 'jwk' }).x), 'base64url'));
  const key = verifierKey(sha256, name, type, raw);
  return { public: key, vkey: formatVerifierKey(key), private: privateKey };
}

/**
 * An in-memory log, as specified in RFC 6962. `branch` is a different history of the log, equal up to a size.
 */
export class TestLog {
  readonly origin: string;
  readonly key: KeyPair;
  readonly #leaf: (i: number) => string;

  constructor(origin: string, key = keyPair(origin), leaf = (i: number) => `${i}`) {
    this.origin = origin;
    this.key = key;
    this.#leaf = leaf;
  }

  branch(from: number, name: string): TestLog {
    return new TestLog(this.origin, this.key, (i) => (i < from ? this.#leaf(i) : `${name}-${i}`));
  }

  root(size: number): Uint8Array {
    return mth(this.#leaves(size));
  }

  text(size: number, root = this.root(size)): string {
    return formatCheckpoint({ origin: this.origin, size, root, extensions: [] });
  }

  note(size: number, key = this.key): string {
    return signNote(this.text(size), key);
  }

  proof(oldSize: number, size: number): Uint8Array[] {
    return oldSize === 0 || oldSize >= size ? [] : proof(oldSize, this.#leaves(size));
  }

  /** Returns the body of an honest `add-checkpoint`. */
  request(oldSize: number, size: number): string {
    return formatAddCheckpoint({ oldSize, proof: this.proof(oldSize, size), note: this.note(size) });
  }

  #leaves(size: number): Uint8Array[] {
    return Array.from({ length: size }, (_, i) => new TextEncoder().encode(this.#leaf(i)));
  }
}

export function signNote(text: string, key: KeyPair): string {
  const signature = new Uint8Array(sign(null, Buffer.from(text), key.private));
  const { name, keyId } = key.public;
  return formatNote({ text, signatures: [{ name, keyId, signature }] });
}

/** Creates an empty folder, removed after the test. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'candor-witness-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

export async function post(url: string, body: string | Uint8Array) {
  const bytes = typeof body === 'string' ? body : new Uint8Array(body);
  const answer = await fetch(`${url}/add-checkpoint`, { method: 'POST', body: bytes });
  return { status: answer.status, type: answer.headers.get('content-type'), body: await answer.text() };
}
