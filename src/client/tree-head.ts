import { encodeHead, type TreeHead } from '../tlog/head.ts';
import { bytesToHex } from '../tlog/hex.ts';
import { type Exact, hex, members, parseExact, safeInteger, string, uuidPattern } from './exact-json.ts';
import { AuditFault } from './fault.ts';

/** A tree head with its signature, not verified. */
export interface SignedHead extends TreeHead {
  /** 64 bytes. */
  readonly signature: Uint8Array;
  /** UUID of a key with the purpose `transparency-sth`. */
  readonly signerKeyId: string;
}

/** Parses a tree head from JSON: exact integers, hex of the exact length, all members required. */
export function parseTreeHead(text: string): SignedHead | AuditFault {
  return readTreeHead(parseExact(text));
}

/** Reads a tree head from JSON that `parseExact` parsed. */
export function readTreeHead(json: Exact | undefined): SignedHead | AuditFault {
  const fields = members(json);
  if (fields === undefined) return malformed('it is not a JSON object');
  const size = safeInteger(fields.tree_size);
  if (size === undefined || size === 0) return malformed('tree_size is not an integer from 1 to 2^53 − 1');
  const root = hex(fields.root_hash, 32);
  if (root === undefined) return malformed('root_hash is not 32 bytes in hex');
  const timestampNs = fields.timestamp_ns;
  if (typeof timestampNs !== 'bigint' || timestampNs < 0n || timestampNs >= 1n << 64n) {
    return malformed('timestamp_ns is not an unsigned 64-bit integer');
  }
  const signature = hex(fields.signature, 64);
  if (signature === undefined) return malformed('signature is not 64 bytes in hex');
  const signerKeyId = string(fields.signer_key_id);
  if (signerKeyId === undefined || !uuidPattern.test(signerKeyId)) return malformed('signer_key_id is not a UUID');
  return { size, root, timestampNs, signature, signerKeyId };
}

/** Serializes the tree head as JSON. */
export function writeTreeHead(head: SignedHead): string {
  return (
    `{"tree_size":${head.size},"root_hash":"${bytesToHex(head.root)}","timestamp_ns":${head.timestampNs},` +
    `"signature":"${bytesToHex(head.signature)}","signer_key_id":"${head.signerKeyId}"}`
  );
}

/** Returns the 48 signed bytes: u64be size ‖ root ‖ u64be timestamp. */
export function signedBytes(head: SignedHead): Uint8Array {
  return encodeHead(head);
}

function malformed(reason: string): AuditFault {
  return new AuditFault('MALFORMED_HEAD', `the tree head is malformed: ${reason}`);
}
