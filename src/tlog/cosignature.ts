/**
 * C2SP tlog-cosignature, the form for Ed25519 (signature type 4). It states that, as of a time, the cosigner
 * saw no larger tree of this log than the checkpoint's, and that all trees it saw were consistent. The signed
 * message does not name the cosigner, so each cosigner needs its own key.
 *
 *     0        8                        72
 *     | time   | Ed25519 signature      |          seconds since 1970, u64be
 */
import { TlogError } from './fault.ts';
import { signatureBytes } from './head.ts';

/** Bytes before the signature. */
const timeBytes = 8;

export interface Cosignature {
  /** Time of the cosignature, in seconds since 1970. */
  readonly timeS: number;
  /** The Ed25519 signature, 64 bytes. */
  readonly signature: Uint8Array;
}

/** Returns the bytes to be signed: two lines, then the whole text of the checkpoint. Fault: bad_timestamp. */
export function cosignedMessage(timeS: number, noteText: string): Uint8Array {
  checkTime(timeS);
  return new TextEncoder().encode(`cosignature/v1\ntime ${timeS}\n${noteText}`);
}

/** Encodes a cosignature. Faults: bad_timestamp, bad_cosignature. */
export function encodeCosignature(timeS: number, signature: Uint8Array): Uint8Array {
  checkTime(timeS);
  if (signature.length !== signatureBytes) {
    throw new TlogError('bad_cosignature', `the signature has ${signature.length} bytes, not ${signatureBytes}`);
  }
  const bytes = new Uint8Array(timeBytes + signatureBytes);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(timeS));
  bytes.set(signature, timeBytes);
  return bytes;
}

/**
 * Decodes the bytes of a note's signature after the key id. Faults: bad_cosignature; bad_timestamp for 2^53
 * and later.
 */
export function decodeCosignature(bytes: Uint8Array): Cosignature {
  if (bytes.length !== timeBytes + signatureBytes) {
    throw new TlogError('bad_cosignature', `the cosignature has ${bytes.length} bytes, not 72`);
  }
  const timeS = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0));
  checkTime(timeS);
  return { timeS, signature: bytes.slice(timeBytes) };
}

function checkTime(timeS: number): void {
  if (!Number.isSafeInteger(timeS) || timeS < 0) {
    throw new TlogError('bad_timestamp', `time ${timeS} is not an integer from 0 to 2^53 − 1`);
  }
}
