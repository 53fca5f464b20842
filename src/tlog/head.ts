/**
 * Tree heads: the 48 bytes that are signed, and their JSON form.
 *
 *     0        8                                40       48
 *     | size   | root hash                      | ns     |     integers big-endian, unsigned
 *
 * The bytes do not name the log, because each key serves only one log.
 */
import { TlogError } from './fault.ts';
import { bytesToHex, hexToBytes } from './hex.ts';
import { checkHash, checkSize, type Hash, hashBytes } from './tree.ts';

export interface TreeHead {
  readonly size: number;
  readonly root: Hash;
  /** Unix time in nanoseconds, below 2^64. */
  readonly timestampNs: bigint;
}

/** A signed head as in the specification. `timestamp_ns` is a double that holds its integer exactly. */
export interface SignedHeadJson {
  readonly tree_size: number;
  readonly root_hash: string;
  readonly timestamp_ns: number;
  readonly signature: string;
  readonly signer_key_id: string;
}

export const headBytes = 48;
export const signatureBytes = 64;

/**
 * Timestamps are multiples of this: doubles between 2^60 and 2^63 (the years 2006 to 2262) are spaced 256 to
 * 1024 apart, so every JSON reader holds them exactly.
 */
export const timestampStepNs = 1024n;

export function encodeHead(head: TreeHead): Uint8Array<ArrayBuffer> {
  checkSize(head.size);
  checkHash(head.root, 'root hash');
  checkTimestamp(head.timestampNs);
  const bytes = new Uint8Array(headBytes);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, BigInt(head.size));
  bytes.set(head.root, 8);
  view.setBigUint64(8 + hashBytes, head.timestampNs);
  return bytes;
}

export function decodeHead(bytes: Uint8Array): TreeHead {
  if (bytes.length !== headBytes) throw new TlogError('bad_size', `the head has ${bytes.length} bytes, not 48`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = Number(view.getBigUint64(0));
  checkSize(size);
  return { size, root: bytes.slice(8, 8 + hashBytes), timestampNs: view.getBigUint64(8 + hashBytes) };
}

/** Returns the signed content of the JSON form, after checking sizes, hex and timestamp. */
export function headFromJson(json: Pick<SignedHeadJson, 'tree_size' | 'root_hash' | 'timestamp_ns'>): TreeHead {
  checkSize(json.tree_size);
  return {
    size: json.tree_size,
    root: hexToBytes(json.root_hash, hashBytes),
    timestampNs: timestampFromNumber(json.timestamp_ns),
  };
}

export function headToJson(head: TreeHead, signature: Uint8Array, signerKeyId: string): SignedHeadJson {
  return {
    tree_size: head.size,
    root_hash: bytesToHex(head.root),
    timestamp_ns: timestampToNumber(head.timestampNs),
    signature: bytesToHex(signature),
    signer_key_id: signerKeyId,
  };
}

/**
 * Returns the integer that a JSON number holds. Above 2^53, accepts only multiples of 1024, because other numbers may
 * have been rounded.
 */
export function timestampFromNumber(timestamp: number): bigint {
  if (!Number.isInteger(timestamp)) throw new TlogError('bad_timestamp', `timestamp ${timestamp} is not an integer`);
  const ns = BigInt(timestamp);
  checkTimestamp(ns);
  if (!Number.isSafeInteger(timestamp) && ns % timestampStepNs !== 0n) {
    throw new TlogError(
      'bad_timestamp',
      `timestamp ${ns} is above 2^53 and not a multiple of 1024; read it as an integer`,
    );
  }
  return ns;
}

/** Returns the double that holds this integer exactly; bad_timestamp if no double does. */
export function timestampToNumber(ns: bigint): number {
  checkTimestamp(ns);
  const timestamp = Number(ns);
  if (BigInt(timestamp) !== ns) throw new TlogError('bad_timestamp', `timestamp ${ns} is not exact as a double`);
  return timestamp;
}

function checkTimestamp(ns: bigint): void {
  if (ns < 0n || ns >= 1n << 64n) throw new TlogError('bad_timestamp', `timestamp ${ns} doesn't fit 64 bits`);
}
