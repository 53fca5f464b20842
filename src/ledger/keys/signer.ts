import { type KeyObject, sign } from 'node:crypto';
import { ServiceError } from '../../errors.ts';

/** Makes Ed25519 signatures (RFC 8032) over raw messages: with a key file, or with an ssh-agent. */
export interface Signer {
  /** Why it cannot sign now; signing would fail with it at once. Undefined as far as is known. */
  readonly fault?: ServiceError | undefined;
  /** Blocks the thread. @throws SignerError */
  sign(message: Uint8Array): Uint8Array;
  /** The same beside the thread. @throws SignerError */
  signLater(message: Uint8Array): Promise<Uint8Array>;
}

/** UNAVAILABLE with the reason `signer_unavailable`: the agent that holds a private key did not sign. */
export class SignerError extends ServiceError {
  constructor(message: string) {
    super('UNAVAILABLE', message, { reason: 'signer_unavailable' });
  }
}

/** Signs with a private key in memory. */
export class FileSigner implements Signer {
  readonly #private: KeyObject;

  constructor(privateKey: KeyObject) {
    this.#private = privateKey;
  }

  /** The private part, base64url. */
  get d(): string | undefined {
    return this.#private.export({ format: 'jwk' }).d;
  }

  /** Ed25519 of OpenSSL: 28–63 µs (@noble/ed25519: 845 µs). */
  sign(message: Uint8Array): Uint8Array {
    return sign(null, message, this.#private);
  }

  /** Takes 5 µs of the caller's thread, and the rest of a signature's time on one of libuv's. */
  signLater(message: Uint8Array): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      sign(null, message, this.#private, (error, signature) =>
        error === null ? resolve(signature) : reject(error),
      );
    });
  }
}
