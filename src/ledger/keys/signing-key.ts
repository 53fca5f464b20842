import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { importPublicKey, verifyEd25519 } from '../../ed25519.ts';
import { sha256 } from '../../sha256.ts';
import { bytesToHex } from '../../tlog/hex.ts';
import { type KeyFile, KeyFileError } from './key-file.ts';

export interface SigningKey {
  readonly kid: string;
  sign(message: Uint8Array): Uint8Array;
  /** The same on libuv's threads. */
  signLater(message: Uint8Array): Promise<Uint8Array>;
}

/** A key: its file, and what can be done with it. Immutable; a change of its state is another `Key` of the same pair. */
export class Key implements SigningKey {
  readonly file: KeyFile;
  /** SHA-256 of the raw public key, lowercase hex. */
  readonly fingerprint: string;
  readonly #public: KeyObject;
  /** Absent while its file is locked, and once it has ended. */
  readonly #private: KeyObject | undefined;

  private constructor(file: KeyFile, publicKey: KeyObject, privateKey: KeyObject | undefined) {
    this.file = file;
    this.fingerprint = bytesToHex(sha256(Buffer.from(file.x, 'base64url')));
    this.#public = publicKey;
    this.#private = privateKey;
  }

  /** The key of a file. A private part that is encrypted stays locked. @throws KeyFileError */
  static of(file: KeyFile): Key {
    const publicKey = importPublicKey(Buffer.from(file.x, 'base64url'));
    if (publicKey === undefined) throw new KeyFileError('x is no acceptable Ed25519 public key');
    const key = new Key(file, publicKey, undefined);
    return file.d === undefined ? key : key.unlocked(file.d);
  }

  /** With its private part, base64url. @throws KeyFileError where it is another key's. */
  unlocked(d: string): Key {
    const { x, kid } = this.file;
    const privateKey = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', x, d }, format: 'jwk' });
    const probe = new TextEncoder().encode(kid);
    // OpenSSL takes d and ignores x.
    if (!this.verify(probe, sign(null, probe, privateKey)))
      throw new KeyFileError('x and d do not belong together');
    return new Key(this.file, this.#public, privateKey);
  }

  /** The same pair with other attributes; without its private part where the file has none. */
  with(file: KeyFile): Key {
    if (file.x !== this.file.x) throw new Error(`file ${file.kid} is of another pair than ${this.kid}`);
    const keeps = file.d !== undefined || file.svc_encrypted !== undefined;
    return new Key(file, this.#public, keeps ? this.#private : undefined);
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

  /** 32 bytes. */
  get publicKey(): Uint8Array {
    return new Uint8Array(Buffer.from(this.file.x, 'base64url'));
  }

  get canSign(): boolean {
    return this.#private !== undefined;
  }

  /** The private part, base64url. Never leaves the process. */
  get d(): string | undefined {
    return this.#private?.export({ format: 'jwk' }).d;
  }

  /** Ed25519 of OpenSSL: 28–63 µs (@noble/ed25519: 845 µs). */
  sign(message: Uint8Array): Uint8Array {
    if (this.#private === undefined) throw new Error(`key ${this.kid} has no private part`);
    return sign(null, message, this.#private);
  }

  /** Takes 5 µs of the caller's thread, and the rest of a signature's time on one of libuv's. */
  signLater(message: Uint8Array): Promise<Uint8Array> {
    const key = this.#private;
    if (key === undefined) return Promise.reject(new Error(`key ${this.kid} has no private part`));
    return new Promise((resolve, reject) => {
      sign(null, message, key, (error, signature) => (error === null ? resolve(signature) : reject(error)));
    });
  }

  verify(message: Uint8Array, signature: Uint8Array): boolean {
    return verifyEd25519(this.#public, message, signature);
  }
}
