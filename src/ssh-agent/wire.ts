/**
 * Messages of the ssh-agent protocol (draft-ietf-sshm-ssh-agent), limited to plain Ed25519 keys (RFC 8709). A
 * frame is a 32-bit length, a type byte and the content; strings have a 32-bit length prefix (RFC 4251,
 * section 5).
 */
import { limits } from '../limits.ts';

const types = { failure: 5, requestIdentities: 11, identities: 12, signRequest: 13, signature: 14 } as const;
const algorithm = 'ssh-ed25519';

/** The agent is unreachable, timed out, refused the request, or sent an invalid message. */
export class AgentError extends Error {
  override readonly name = 'AgentError';
}

/** A key that the agent offers. */
export interface Identity {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  readonly comment: string;
}

export function identitiesRequest(): Uint8Array {
  return frame(types.requestIdentities);
}

/** Requests a signature over the raw message. Flags are 0, because Ed25519 has no variants. */
export function signRequest(publicKey: Uint8Array, message: Uint8Array): Uint8Array {
  return frame(types.signRequest, text(keyBlob(publicKey)), text(message), uint32(0));
}

/**
 * Reads the plain Ed25519 keys of a response, in the agent's order; other keys are omitted.
 *
 * @throws AgentError
 */
export function readIdentities(body: Uint8Array): Identity[] {
  const reader = new Reader(expectType(body, types.identities));
  const count = reader.uint32();
  if (count > limits.maxAgentIdentities)
    throw new AgentError(`the ssh-agent lists ${count} keys; the limit is ${limits.maxAgentIdentities}`);
  const identities: Identity[] = [];
  for (let i = 0; i < count; i++) {
    const blob = new Reader(reader.string());
    const comment = new TextDecoder().decode(reader.string());
    if (new TextDecoder().decode(blob.string()) !== algorithm) continue;
    const publicKey = new Uint8Array(blob.string());
    if (publicKey.length === 32) identities.push({ publicKey, comment });
  }
  reader.end();
  return identities;
}

/**
 * Reads the 64 bytes of a signature, without verifying it.
 *
 * @throws AgentError
 */
export function readSignature(body: Uint8Array): Uint8Array {
  const reader = new Reader(expectType(body, types.signature));
  const blob = new Reader(reader.string());
  reader.end();
  const name = new TextDecoder().decode(blob.string());
  const signature = new Uint8Array(blob.string());
  blob.end();
  if (name !== algorithm || signature.length !== 64)
    throw new AgentError('the ssh-agent sent a signature that is not a plain Ed25519 signature');
  return signature;
}

/**
 * Size of the first frame in bytes, including its length field; undefined if fewer than four bytes have
 * arrived.
 */
export function frameLength(bytes: Uint8Array): number | undefined {
  if (bytes.length < 4) return undefined;
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  if (length < 1 || length > limits.maxAgentFrameBytes)
    throw new AgentError(`the ssh-agent sent a frame of ${length} bytes, expected 1 to ${limits.maxAgentFrameBytes}`);
  return 4 + length;
}

function expectType(body: Uint8Array, type: number): Uint8Array {
  if (body[0] === types.failure) throw new AgentError('the ssh-agent refused: it is locked, or does not have the key');
  if (body[0] !== type) throw new AgentError(`the ssh-agent responded with unexpected message type ${body[0]}`);
  return body.subarray(1);
}

function keyBlob(publicKey: Uint8Array): Uint8Array {
  return Buffer.concat([text(new TextEncoder().encode(algorithm)), text(publicKey)]);
}

function frame(type: number, ...parts: readonly Uint8Array[]): Uint8Array {
  return text(Buffer.concat([Uint8Array.of(type), ...parts]));
}

function text(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([uint32(bytes.length), bytes]);
}

function uint32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Reads a message body sequentially, with bounds checks. */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  uint32(): number {
    if (this.#at + 4 > this.#bytes.length) throw truncated();
    this.#at += 4;
    return this.#bytes.readUInt32BE(this.#at - 4);
  }

  string(): Uint8Array {
    const length = this.uint32();
    if (length > this.#bytes.length - this.#at) throw truncated();
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  end(): void {
    if (this.#at !== this.#bytes.length) throw new AgentError('the ssh-agent sent bytes after its message');
  }
}

function truncated(): AgentError {
  return new AgentError('the ssh-agent sent a truncated message');
}
