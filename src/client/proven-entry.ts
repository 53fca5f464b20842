import { bytesToHex } from '../tlog/hex.ts';
import { leafHash } from '../tlog/tree.ts';
import { members, parseExact, safeInteger } from './exact-json.ts';
import { AuditFault } from './fault.ts';
import { anchored, type KeySet } from './key-set.ts';
import { fetchAllKeys } from './latest.ts';
import type { LogSource } from './log-source.ts';
import { sha256 } from './sha256.ts';
import type { SignedHead } from './tree-head.ts';
import { type Bundle, readLeaf, readPath, type VerifiedEntry, verifyBundle } from './verify.ts';

/** Identifies an entry by its position, id or bytes. */
export type EntryQuery =
  | { readonly leafIndex: number }
  | { readonly entryId: string }
  | { readonly canonical: Uint8Array };

/** A verified entry with its proof. */
export type ProvenEntry = VerifiedEntry & {
  readonly path: readonly Uint8Array[];
  readonly canonical: Uint8Array;
};

/**
 * Fetches the proof of an entry against this head and verifies it completely. If the caller does not have the
 * entry's bytes, they are fetched too; fetching them requires a role.
 */
export async function proveEntry(
  log: LogSource,
  query: EntryQuery,
  signed: { readonly head: SignedHead; readonly keys: KeySet },
): Promise<ProvenEntry | AuditFault> {
  const { head, keys } = signed;
  const which = parameterOf(query);
  const proof = await log.get(`/api/transparency/inclusion?${which}&tree_size=${head.size}`);
  if (proof instanceof AuditFault) return proof;
  const fields = members(parseExact(proof));
  const leafIndex = safeInteger(fields?.leaf_index);
  const requested = 'leafIndex' in query ? query.leafIndex : leafIndex;
  if (leafIndex === undefined || leafIndex !== requested || safeInteger(fields?.tree_size) !== head.size) {
    return new AuditFault(
      'MALFORMED_PROOF',
      `expected a proof for ${which} at tree_size ${head.size}, got leaf_index ${leafIndex} at tree_size ${fields?.tree_size}`,
    );
  }
  const path = readPath(fields?.audit_path);
  if (path instanceof AuditFault) return path;

  const canonical = 'canonical' in query ? query.canonical : await fetchCanonical(log, leafIndex);
  if (canonical instanceof AuditFault) return canonical;
  const bundle = { leaf: { leafIndex, canonical }, path, head, keys };
  const verified = await withAllKeys(log, bundle, verifyBundle(bundle));
  if (verified instanceof AuditFault) return verified;
  if ('entryId' in query && verified.entry.id !== query.entryId) {
    return new AuditFault('WRONG_LEAF', `expected entry ${query.entryId}, got ${verified.entry.id}`);
  }
  return { ...verified, path, canonical };
}

/**
 * After UNKNOWN_KEY, retries with all keys, because the key of an old entry is not a current key. The caller's
 * tree-head keys are still used.
 */
async function withAllKeys(
  log: LogSource,
  bundle: Bundle,
  verified: VerifiedEntry | AuditFault,
): Promise<VerifiedEntry | AuditFault> {
  if (!(verified instanceof AuditFault) || verified.code !== 'UNKNOWN_KEY') return verified;
  const all = await fetchAllKeys(log);
  return all instanceof AuditFault ? all : verifyBundle({ ...bundle, keys: anchored(all, bundle.keys) });
}

function parameterOf(query: EntryQuery): string {
  if ('leafIndex' in query) return `leaf_index=${query.leafIndex}`;
  if ('entryId' in query) return `entry_id=${encodeURIComponent(query.entryId)}`;
  return `leaf_hash=${bytesToHex(leafHash(sha256, query.canonical))}`;
}

async function fetchCanonical(log: LogSource, leafIndex: number): Promise<Uint8Array | AuditFault> {
  const text = await log.get(`/api/transparency/leaf?leaf_index=${leafIndex}`);
  if (text instanceof AuditFault) return text;
  const leaf = readLeaf(parseExact(text));
  if (leaf instanceof AuditFault) return leaf;
  if (leaf.leafIndex === leafIndex) return leaf.canonical;
  return new AuditFault('WRONG_LEAF', `expected leaf ${leafIndex}, got ${leaf.leafIndex}`);
}
