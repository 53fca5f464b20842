import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { chmod, mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bytesToHex } from '../tlog/hex.ts';
import { canonicalUuid, uuid7 } from '../uuid.ts';
import { replaceFile } from './durable-file.ts';
import { importPublicKey, verifyEd25519 } from './ed25519.ts';
import type { PublicJwk } from './ledger.ts';
import { sha256 } from './sha256.ts';

/** The keys that a log can't be without; each signs one kind of thing. */
export const requiredPurposes = ['transparency-sth', 'event-signing', 'access-token'] as const;
export type RequiredPurpose = (typeof requiredPurposes)[number];

const states = new Set(['pending', 'active', 'retired', 'revoked']);

/** One key file: the private JWK (RFC 8037) with the attributes of the specification. */
type PrivateJwk = Readonly<Record<string, string | number>>;

/** A key that can't be used. The message says what is wrong with it. */
class KeyFileError extends Error {
  override readonly name = 'KeyFileError';
}

export interface SigningKey {
  readonly kid: string;
  sign(message: Uint8Array): Uint8Array;
}

/** A key of the ring: what it is for, in which state, and what can be done with it. */
class Key implements SigningKey {
  readonly kid: string;
  readonly purpose: string;
  readonly state: string;
  readonly fingerprint: string;
  readonly jwk: PrivateJwk;
  readonly #public: KeyObject;
  /** Absent once a retired key's private part was destroyed. */
  readonly #private: KeyObject | undefined;

  constructor(jwk: PrivateJwk, publicKey: KeyObject, privateKey: KeyObject | undefined) {
    this.kid = String(jwk.kid);
    this.purpose = String(jwk.svc_purpose);
    this.state = String(jwk.svc_state);
    this.jwk = jwk;
    this.fingerprint = bytesToHex(sha256(Buffer.from(String(jwk.x), 'base64url')));
    this.#public = publicKey;
    this.#private = privateKey;
  }

  get canSign(): boolean {
    return this.#private !== undefined;
  }

  /** Ed25519 of OpenSSL: 28–63 µs (@noble/ed25519: 845 µs). */
  sign(message: Uint8Array): Uint8Array {
    if (this.#private === undefined) throw new KeyFileError(`key ${this.kid} has no private part`);
    return sign(null, message, this.#private);
  }

  verify(message: Uint8Array, signature: Uint8Array): boolean {
    return verifyEd25519(this.#public, message, signature);
  }
}

/**
 * All keys of the log, from `<data>/keys/`: one file a key, `<kid>.json`, mode 0600, never deleted. A key has a
 * state and, once it stopped signing, the sizes that it covers, so that the public half of every key ever used
 * can be served for ever.
 */
export class KeyRing {
  readonly #keys = new Map<string, Key>();
  readonly #damaged: string[] = [];

  /** Reads what is there. A file that isn't a whole and consistent key is left out, and named in `damaged`. */
  static async load(folder: string): Promise<KeyRing> {
    const ring = new KeyRing();
    for (const name of (await filesIn(folder)).sort()) {
      if (!name.endsWith('.json')) continue; // `.new` files of an interrupted write
      try {
        ring.#add(name.slice(0, -'.json'.length), await readFile(join(folder, name), 'utf8'));
      } catch (error) {
        if (!(error instanceof KeyFileError)) throw error;
        ring.#damaged.push(`${join(folder, name)}: ${error.message}`);
      }
    }
    return ring;
  }

  /** Files that couldn't be used, and why. */
  get damaged(): readonly string[] {
    return this.#damaged;
  }

  /** Makes the required keys that are missing, each flushed to disk before the next. */
  async create(folder: string, timeMs: number): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
    for (const purpose of this.missing()) {
      const jwk = newKey(purpose, timeMs);
      await replaceFile(join(folder, `${jwk.kid}.json`), `${JSON.stringify(jwk)}\n`, { mode: 0o600 });
      this.#add(String(jwk.kid), JSON.stringify(jwk));
    }
  }

  /** Makes an access-token key that lives in memory only, for a service whose key files are lost. */
  createEphemeralAccessKey(timeMs: number): void {
    if (!this.missing().includes('access-token')) return;
    const jwk = newKey('access-token', timeMs);
    this.#add(String(jwk.kid), JSON.stringify(jwk));
  }

  missing(): RequiredPurpose[] {
    return requiredPurposes.filter((purpose) => this.active(purpose) === undefined);
  }

  active(purpose: RequiredPurpose): SigningKey | undefined {
    return this.#activeKey(purpose);
  }

  /** SHA-256 of the raw public key, lowercase hex; undefined for an unknown key. */
  fingerprint(kid: string): string | undefined {
    return this.#keys.get(kid)?.fingerprint;
  }

  has(kid: string): boolean {
    return this.#keys.has(kid);
  }

  /** False for an unknown key, for a key of another purpose and for a revoked one. */
  verify(kid: string, purpose: string, message: Uint8Array, signature: Uint8Array): boolean {
    const key = this.#keys.get(kid);
    if (key === undefined || key.purpose !== purpose || key.state === 'revoked') return false;
    return key.verify(message, signature);
  }

  /** The public half of every key, oldest first. */
  publicJwks(): PublicJwk[] {
    return [...this.#keys.values()].map(({ jwk }) => {
      const { d: _private, ...shown } = jwk;
      return shown;
    });
  }

  privateJwk(purpose: RequiredPurpose): PublicJwk | undefined {
    return this.#activeKey(purpose)?.jwk;
  }

  #activeKey(purpose: RequiredPurpose): Key | undefined {
    return [...this.#keys.values()].findLast(
      (key) => key.purpose === purpose && key.state === 'active' && key.canSign,
    );
  }

  #add(kid: string, text: string): void {
    const key = parseKey(text);
    if (key.kid !== kid) throw new KeyFileError(`holds key ${key.kid}`);
    this.#keys.set(kid, key);
  }
}

function newKey(purpose: RequiredPurpose, timeMs: number): PrivateJwk {
  const { x, d } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  if (x === undefined || d === undefined) throw new Error('a new Ed25519 key has no x or d');
  return {
    kty: 'OKP',
    crv: 'Ed25519',
    x,
    d,
    kid: uuid7(timeMs),
    use: 'sig',
    alg: 'EdDSA',
    svc_purpose: purpose,
    svc_state: 'active',
    // Tokens aren't part of the tree: their key covers no sizes.
    ...(purpose === 'access-token' ? {} : { svc_from_size: 0 }),
    svc_not_before: new Date(timeMs).toISOString(),
  };
}

function parseKey(text: string): Key {
  let jwk: PrivateJwk;
  try {
    jwk = JSON.parse(text);
  } catch {
    throw new KeyFileError('no JSON');
  }
  const wrong = (what: string) => new KeyFileError(what);
  if (typeof jwk !== 'object' || jwk === null) throw wrong('no JSON object');
  if (jwk.kty !== 'OKP' || jwk.crv !== 'Ed25519') throw wrong('no Ed25519 key');
  if (canonicalUuid(jwk.kid) !== jwk.kid) throw wrong('kid is no UUID');
  if (typeof jwk.svc_purpose !== 'string' || !states.has(String(jwk.svc_state))) {
    throw wrong('svc_purpose or svc_state is missing');
  }
  const raw = decode32(jwk.x);
  const publicKey = raw && importPublicKey(raw);
  if (publicKey === undefined) throw wrong('x is no acceptable Ed25519 public key');
  if (jwk.d === undefined) return new Key(jwk, publicKey, undefined);
  const { x, d } = jwk;
  if (typeof x !== 'string' || typeof d !== 'string' || decode32(d) === undefined) {
    throw wrong('d is no Ed25519 private key');
  }
  const privateKey = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', x, d }, format: 'jwk' });
  const probe = new TextEncoder().encode(jwk.kid);
  // OpenSSL takes d and ignores x.
  if (!verifyEd25519(publicKey, probe, sign(null, probe, privateKey)))
    throw wrong('x and d do not belong together');
  return new Key(jwk, publicKey, privateKey);
}

/** 32 bytes from their one base64url spelling. */
function decode32(text: string | number | undefined): Buffer | undefined {
  if (typeof text !== 'string') return undefined;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.length === 32 && bytes.toString('base64url') === text ? bytes : undefined;
}

async function filesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
