import { encodeHead, type TreeHead } from '../tlog/head.ts';
import { bytesToHex } from '../tlog/hex.ts';
import { type Exact, hex, members, parseExact, safeInteger, string, uuidPattern } from './exact-json.ts';
import { Fault } from './fault.ts';

/** A tree head with what its signer claims; nothing of it is verified yet. */
export interface SignedHead extends TreeHead {
  /** 64 bytes. */
  readonly signature: Uint8Array;
  /** UUID of a key with the purpose `transparency-sth`. */
  readonly signerKeyId: string;
}

/** Reads the specification's shape from JSON text: integers without loss, hex of the exact length, nothing missing. */
export function parseTreeHead(text: string): SignedHead | Fault {
  return readTreeHead(parseExact(text));
}

/** The same from JSON that `parseExact` read. */
export function readTreeHead(json: Exact | undefined): SignedHead | Fault {
  const fields = members(json);
  if (fields === undefined) return malformed('it is no JSON object');
  const size = safeInteger(fields.tree_size);
  if (size === undefined || size === 0) return malformed('tree_size is no integer from 1 to 2^53 − 1');
  const root = hex(fields.root_hash, 32);
  if (root === undefined) return malformed('root_hash is not 32 bytes in hex');
  const timestampNs = fields.timestamp_ns;
  if (typeof timestampNs !== 'bigint' || timestampNs < 0n || timestampNs >= 1n << 64n) {
    return malformed('timestamp_ns is no 64-bit integer');
  }
  const signature = hex(fields.signature, 64);
  if (signature === undefined) return malformed('signature is not 64 bytes in hex');
  const signerKeyId = string(fields.signer_key_id);
  if (signerKeyId === undefined || !uuidPattern.test(signerKeyId))
    return malformed('signer_key_id is no UUID');
  return { size, root, timestampNs, signature, signerKeyId };
}

/** The specification's shape as JSON text. */
export function writeTreeHead(head: SignedHead): string {
  return (
    `{"tree_size":${head.size},"root_hash":"${bytesToHex(head.root)}","timestamp_ns":${head.timestampNs},` +
    `"signature":"${bytesToHex(head.signature)}","signer_key_id":"${head.signerKeyId}"}`
  );
}

/** The 48 bytes that are signed: u64be size ‖ root ‖ u64be timestamp. */
export function signedBytes(head: SignedHead): Uint8Array {
  return encodeHead(head);
}

function malformed(reason: string): Fault {
  return new Fault('MALFORMED_HEAD', `the tree head is malformed: ${reason}`);
}
