import { jcs } from '../contract/jcs.ts';
import { toBase64 } from '../tlog/base64.ts';
import { TlogError } from '../tlog/fault.ts';
import { bytesToHex } from '../tlog/hex.ts';
import type { Ed25519Verifier } from '../tlog/note.ts';
import * as proofs from '../tlog/proof.ts';
import { equalHashes, type Hash, leafHash } from '../tlog/tree.ts';
import { verifyEd25519 } from './ed25519.ts';
import { base64, type Exact, hex, members, parseExact, safeInteger, string } from './exact-json.ts';
import { AuditFault, catchFault, unwrap } from './fault.ts';
import { entrySigner, headSigner, type KeySet, type LogKey, readKeySet, writeKeys } from './key-set.ts';
import { sha256 } from './sha256.ts';
import { readTreeHead, type SignedHead, signedBytes, writeTreeHead } from './tree-head.ts';

/** An entry as stored in the log. */
export interface LogLeaf {
  readonly leafIndex: number;
  /** The exact bytes that are hashed. */
  readonly canonical: Uint8Array;
}

export interface EntryFields {
  readonly id: string;
  readonly kind: string;
  readonly key_id: string;
  readonly signature: string;
}

/** A verified entry, and the keys that verified it. */
export interface VerifiedEntry {
  readonly entry: EntryFields & Readonly<Record<string, unknown>>;
  readonly leafIndex: number;
  readonly leafHash: Hash;
  readonly head: SignedHead;
  readonly headKey: LogKey;
  readonly entryKey: LogKey;
}

/** All data that is needed to verify offline that an entry is in a log. */
export interface Bundle {
  readonly leaf: LogLeaf;
  readonly path: readonly Hash[];
  readonly head: SignedHead;
  readonly keys: KeySet;
}

/** Verifies that a head is signed by a key of the set that may sign it. */
export function verifyHead(head: SignedHead, keys: KeySet): LogKey | AuditFault {
  const key = headSigner(keys, head);
  if (key instanceof AuditFault) return key;
  if (verifyEd25519(key.publicKey, signedBytes(head), head.signature)) return key;
  return new AuditFault('BAD_SIGNATURE', `the head of size ${head.size} is not signed by key ${key.kid}`);
}

/** Verifies that the head's tree has the leaf at its index (RFC 6962 section 2.1.1). Returns the leaf hash. */
export function verifyInclusion(
  leaf: LogLeaf,
  path: readonly Hash[],
  head: Pick<SignedHead, 'size' | 'root'>,
): Hash | AuditFault {
  const hash = leafHash(sha256, leaf.canonical);
  try {
    const claim = { leafIndex: leaf.leafIndex, treeSize: head.size, leafHash: hash, path, root: head.root };
    proofs.verifyInclusion(sha256, claim);
    return hash;
  } catch (error) {
    if (!(error instanceof TlogError)) throw error;
    const code = error.fault === 'root_mismatch' ? 'NOT_INCLUDED' : 'MALFORMED_PROOF';
    return new AuditFault(code, `leaf ${leaf.leafIndex} in the tree of ${head.size}: ${error.message}`);
  }
}

/** Verifies that the later tree extends the earlier one (RFC 6962 section 2.1.2). */
export function verifyConsistency(
  earlier: Pick<SignedHead, 'size' | 'root'>,
  later: Pick<SignedHead, 'size' | 'root'>,
  path: readonly Hash[],
): AuditFault | undefined {
  try {
    const sizes = { firstSize: earlier.size, secondSize: later.size };
    proofs.verifyConsistency(sha256, { ...sizes, firstRoot: earlier.root, secondRoot: later.root, path });
    return undefined;
  } catch (error) {
    if (!(error instanceof TlogError)) throw error;
    // Sizes are valid here: a path of the wrong length fails like a path with wrong hashes.
    return new AuditFault('INCONSISTENT', `from size ${earlier.size} to size ${later.size}: ${error.message}`);
  }
}

/**
 * Verifies that the leaf's bytes are an entry in canonical form, signed by an event key of the set that was
 * in use at its index. `verify` replaces the default signature verification, under the same policy.
 */
export function verifyEntry(
  { leafIndex, canonical }: LogLeaf,
  keys: KeySet,
  verify: Ed25519Verifier = verifyEd25519,
): { entry: VerifiedEntry['entry']; key: LogKey } | AuditFault {
  const read = readEntry(canonical);
  if (read instanceof AuditFault) return read;
  const { entry, message } = read;
  const key = entrySigner(keys, entry.key_id, leafIndex);
  if (key instanceof AuditFault) return key;
  const signature = hex(entry.signature, 64);
  if (signature !== undefined && verify(key.publicKey, message, signature)) return { entry, key };
  return new AuditFault('BAD_ENTRY_SIGNATURE', `entry ${entry.id} is not signed by key ${key.kid}`);
}

/** Verifies in this order: the head's signature, the inclusion of the entry, the entry's own signature. */
export function verifyBundle(bundle: Bundle): VerifiedEntry | AuditFault {
  const headKey = verifyHead(bundle.head, bundle.keys);
  if (headKey instanceof AuditFault) return headKey;
  const hash = verifyInclusion(bundle.leaf, bundle.path, bundle.head);
  if (hash instanceof AuditFault) return hash;
  const signed = verifyEntry(bundle.leaf, bundle.keys);
  if (signed instanceof AuditFault) return signed;
  const { leafIndex } = bundle.leaf;
  return { entry: signed.entry, leafIndex, leafHash: hash, head: bundle.head, headKey, entryKey: signed.key };
}

/**
 * Parses `{leaf_index, canonical, audit_path, head, keys}`; `tree_size` may be given too and must match the
 * head.
 */
export function parseBundle(text: string): Bundle | AuditFault {
  return readBundle(parseExact(text));
}

export function readBundle(json: Exact | undefined): Bundle | AuditFault {
  const fields = members(json);
  if (fields === undefined) return new AuditFault('MALFORMED_BUNDLE', 'the bundle is not a JSON object');
  return catchFault(() => {
    const head = unwrap(readTreeHead(fields.head));
    const keys = unwrap(readKeySet(fields.keys));
    const leaf = unwrap(readLeaf(json));
    const path = unwrap(readPath(fields.audit_path));
    if (fields.tree_size !== undefined && safeInteger(fields.tree_size) !== head.size)
      throw new AuditFault('MALFORMED_BUNDLE', 'tree_size differs from the head');
    return { leaf, path, head, keys };
  });
}

export function writeBundle(bundle: Bundle): string {
  const path = JSON.stringify(bundle.path.map((hash) => bytesToHex(hash)));
  return (
    `{"leaf_index":${bundle.leaf.leafIndex},"canonical":"${toBase64(bundle.leaf.canonical)}","audit_path":${path},` +
    `"head":${writeTreeHead(bundle.head)},"keys":${writeKeys(bundle.keys.values())}}`
  );
}

/** Reads the members `leaf_index` and `canonical`; if there is a member `leaf_hash`, it must match. */
export function readLeaf(json: Exact | undefined): LogLeaf | AuditFault {
  const fields = members(json);
  const leafIndex = safeInteger(fields?.leaf_index);
  if (leafIndex === undefined)
    return new AuditFault('MALFORMED_LEAF', 'leaf_index is not an integer from 0 to 2^53 − 1');
  const canonical = base64(fields?.canonical);
  if (canonical === undefined) return new AuditFault('MALFORMED_LEAF', 'canonical is not valid base64');
  if (fields?.leaf_hash !== undefined) {
    const given = hex(fields.leaf_hash, 32);
    if (given === undefined || !equalHashes(given, leafHash(sha256, canonical))) {
      return new AuditFault('MALFORMED_LEAF', 'leaf_hash is not the hash of the canonical bytes');
    }
  }
  return { leafIndex, canonical };
}

export function readPath(json: Exact | undefined): Hash[] | AuditFault {
  if (!Array.isArray(json)) return new AuditFault('MALFORMED_PROOF', 'audit_path is not a list');
  const path: Hash[] = [];
  for (const item of json) {
    const hash = hex(item, 32);
    if (hash === undefined)
      return new AuditFault('MALFORMED_PROOF', `hash ${path.length} of audit_path is not 32 bytes in hex`);
    path.push(hash);
  }
  return path;
}

/** Parses an entry, which must be in canonical form, and computes the signed bytes. */
export function readEntry(canonical: Uint8Array): { entry: VerifiedEntry['entry']; message: Uint8Array } | AuditFault {
  let text: string;
  let entry: unknown;
  let canonicalText: string;
  let unsigned: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(canonical);
    entry = JSON.parse(text);
    canonicalText = jcs(entry);
    const { signature: _signature, ...rest } = Object(entry) as Record<string, unknown>;
    unsigned = jcs(rest);
  } catch {
    // JSON that is nested too deeply for the stack ends here too.
    return new AuditFault('NOT_CANONICAL', 'the bytes of the entry are not JSON in UTF-8');
  }
  if (canonicalText !== text)
    return new AuditFault('NOT_CANONICAL', 'the bytes of the entry are not its canonical form');
  const fields = members(entry as Exact);
  for (const name of ['id', 'kind', 'key_id', 'signature']) {
    if (string(fields?.[name]) === undefined) return new AuditFault('MALFORMED_LEAF', `the entry has no ${name}`);
  }
  return { entry: entry as VerifiedEntry['entry'], message: new TextEncoder().encode(unsigned) };
}
