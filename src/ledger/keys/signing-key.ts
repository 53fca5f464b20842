import { createPrivateKey, type KeyObject } from 'node:crypto';
import { importPublicKey, verifyEd25519 } from '../../crypto/ed25519.ts';
import { sha256 } from '../../crypto/sha256.ts';
import type { ServiceError } from '../../errors.ts';
import { bytesToHex } from '../../tlog/hex.ts';
import { hasPrivateKey, type KeyFile, KeyFileError } from './key-file.ts';
import { FileSigner, type Signer } from './signer.ts';

/** A key of the log, for code that signs with it. */
export interface SigningKey extends Signer {
  readonly kid: string;
}

/** A key: its file and its operations. Immutable; a change of state yields another `Key` of the same pair. */
export class Key implements SigningKey {
  readonly file: KeyFile;
  /** SHA-256 of the raw public key, lowercase hex. */
  readonly fingerprint: string;
  readonly #public: KeyObject;
  /**
   * Makes the signatures. Absent while the key's file is locked or no agent is attached, and once the key has ended.
   */
  readonly #signer: Signer | undefined;

  private constructor(file: KeyFile, publicKey: KeyObject, signer: Signer | undefined) {
    this.file = file;
    this.fingerprint = bytesToHex(sha256(Buffer.from(file.x, 'base64url')));
    this.#public = publicKey;
    this.#signer = signer;
  }

  /** Creates the key of a file. An encrypted private key stays locked. @throws KeyFileError */
  static of(file: KeyFile): Key {
    const publicKey = importPublicKey(Buffer.from(file.x, 'base64url'));
    if (publicKey === undefined) throw new KeyFileError('x is not an acceptable Ed25519 public key');
    const key = new Key(file, publicKey, undefined);
    return file.d === undefined ? key : key.unlocked(file.d);
  }

  /** Returns the key with the private key `d` (base64url). @throws KeyFileError if `d` belongs to another key */
  unlocked(d: string): Key {
    const { x, kid } = this.file;
    const privateKey = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', x, d }, format: 'jwk' });
    const signer = new FileSigner(privateKey);
    const probe = new TextEncoder().encode(kid);
    // OpenSSL uses d and ignores x.
    if (!this.verify(probe, signer.sign(probe))) throw new KeyFileError('d is not the private key of x');
    return this.signedBy(signer);
  }

  /** Returns the same key, signing with `signer`. */
  signedBy(signer: Signer): Key {
    return new Key(this.file, this.#public, signer);
  }

  /** Returns the same pair with other attributes. An ended key loses its signer. */
  with(file: KeyFile): Key {
    if (file.x !== this.file.x) throw new Error(`file ${file.kid} has a different key pair than ${this.kid}`);
    return new Key(file, this.#public, hasPrivateKey(file) ? this.#signer : undefined);
  }

  get kid(): string {
    return this.file.kid;
  }

  get purpose(): KeyFile['svc_purpose'] {
    return this.file.svc_purpose;
  }

  get state(): KeyFile['svc_state'] {
    return this.file.svc_state;
  }

  /** Smallest size of a head, or smallest index of an entry, that the key covers. */
  get fromSize(): number {
    return this.file.svc_from_size ?? 0;
  }

  /** Largest size of a head that the key covers; for entries, the index after the last that the key covers. */
  get toSize(): number {
    const { svc_to_size, svc_state } = this.file;
    // A pending key has signed nothing. If the log shows otherwise, the key file is older than the log.
    return svc_to_size ?? (svc_state === 'pending' ? 0 : Number.MAX_SAFE_INTEGER);
  }

  /** The raw public key, 32 bytes. */
  get publicKey(): Uint8Array {
    return new Uint8Array(Buffer.from(this.file.x, 'base64url'));
  }

  get canSign(): boolean {
    return this.#signer !== undefined;
  }

  /**
   * The private key of a key file, base64url. Must not leave the process. Undefined for a key in an agent.
   */
  get d(): string | undefined {
    return this.#signer instanceof FileSigner ? this.#signer.d : undefined;
  }

  get fault(): ServiceError | undefined {
    return this.#signer?.fault;
  }

  sign(message: Uint8Array): Uint8Array {
    if (this.#signer === undefined) throw this.#cannotSign();
    return this.#signer.sign(message);
  }

  signLater(message: Uint8Array): Promise<Uint8Array> {
    return this.#signer?.signLater(message) ?? Promise.reject(this.#cannotSign());
  }

  verify(message: Uint8Array, signature: Uint8Array): boolean {
    return verifyEd25519(this.#public, message, signature);
  }

  #cannotSign(): Error {
    return new Error(`key ${this.kid} has no private key`);
  }
}
