import { writeTreeHead } from '../contract/write-tree-head.ts';
import { ServiceError } from '../errors.ts';
import type { LogView, ProofBundle } from '../ledger/ledger.ts';
import { bufferOf } from './log-entries.ts';
import type { Services } from './services.ts';

/** Writes a bundle as JSON, with the exact digits of the head's timestamp. */
export function writeProofBundle({ leaf, audit_path, head, keys, checkpoint, timestamps }: ProofBundle): string {
  const texts = JSON.stringify({
    leaf_index: leaf.leaf_index,
    leaf_hash: leaf.leaf_hash,
    canonical: base64(leaf.canonical),
    tree_size: head.tree_size,
    audit_path,
    keys,
    tlog_proof: checkpoint?.tlog_proof,
    checkpoint_published: checkpoint?.published,
    checkpoint_consistency: checkpoint?.consistency,
    timestamps: {
      not_before: timestamps.not_before.map(({ leaf: { leaf_index, canonical }, audit_path: path }) => ({
        leaf_index,
        canonical: base64(canonical),
        audit_path: path,
      })),
      not_after: timestamps.not_after,
    },
  });
  return `${texts.slice(0, -1)},"head":${writeTreeHead(head)}}`;
}

/**
 * Returns the proof of an entry. Returns undefined while the log cannot prove the entry, and until the entry is in the
 * part of the log that the caller can see.
 */
export async function loggedProof(
  { proofBundles }: Pick<Services, 'proofBundles'>,
  entryId: string,
  view: LogView,
): Promise<ProofBundle | undefined> {
  try {
    return await proofBundles.get(view, { entry_id: entryId });
  } catch (error) {
    const isLater = error instanceof ServiceError && laterCodes.has(error.code);
    if (!isLater) throw error;
    return undefined;
  }
}

const laterCodes: ReadonlySet<string> = new Set(['NOT_FOUND', 'LOG_EMPTY', 'UNAVAILABLE']);

const base64 = (bytes: Uint8Array) => bufferOf(bytes).toString('base64');
