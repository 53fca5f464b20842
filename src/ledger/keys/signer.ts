import { type KeyObject, sign } from 'node:crypto';
import { ServiceError } from '../../errors.ts';

/** Makes Ed25519 signatures (RFC 8032) of raw messages, with a key file or an ssh-agent. */
export interface Signer {
  /** The known reason why signing currently fails; undefined while signing works. */
  readonly fault?: ServiceError | undefined;
  /** Signs synchronously. @throws SignerError */
  sign(message: Uint8Array): Uint8Array;
  /** Signs outside the caller's thread. @throws SignerError */
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

  /** The private key, base64url. */
  get d(): string | undefined {
    return this.#private.export({ format: 'jwk' }).d;
  }

  /** Uses OpenSSL's Ed25519: 28–63 µs (@noble/ed25519: 845 µs). */
  sign(message: Uint8Array): Uint8Array {
    return sign(null, message, this.#private);
  }

  /** Signs on one of libuv's threads. A call takes 5 µs of the caller's thread. */
  signLater(message: Uint8Array): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      sign(null, message, this.#private, (error, signature) => (error === null ? resolve(signature) : reject(error)));
    });
  }
}
