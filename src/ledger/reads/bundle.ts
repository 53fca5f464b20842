import { sha256 } from '../../crypto/sha256.ts';
import { caught, ServiceError } from '../../errors.ts';
import { hexToBytes } from '../../tlog/hex.ts';
import { noteKeyId, parseNote, signatureTypes } from '../../tlog/note.ts';
import { formatTlogProof } from '../../tlog/tlog-proof.ts';
import { hashBytes } from '../../tlog/tree.ts';
import { toJson } from '../heads.ts';
import { published } from '../keys/key-file.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { BundleCheckpoint, LeafQuery, ProofBundle, PublicJwk, StoredLeaf } from '../ledger.ts';
import type { LedgerStorage, SignedHead } from '../storage/storage.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { Prover } from './prover.ts';
import { timestampsAround } from './timestamps.ts';
import type { VerifiedNodes } from './verified-nodes.ts';

export interface BundleParts {
  readonly storage: LedgerStorage;
  readonly nodes: VerifiedNodes;
  readonly prover: Prover;
  readonly checkpoints: Checkpoints;
  readonly keys: KeyRing;
}

/** Checkpoint notes. The bundle contains the first note that covers the leaf. */
export interface BundleNotes {
  /** The note that `/checkpoint` serves. */
  readonly published?: string | undefined;
  /** Returns a note that the log signs for the bundle. Called only if the published note does not cover the leaf. */
  signed?(): string | undefined;
}

/** Returns the leaf with everything that an offline verifier needs, as of this head. */
export function makeBundle(parts: BundleParts, query: LeafQuery, head: SignedHead, notes: BundleNotes): ProofBundle {
  const { prover, keys } = parts;
  const { leaf_index, audit_path } = prover.inclusion(query, head.size);
  const leaf = prover.leafAt(leaf_index);
  const checkpoint = checkpointFor(parts, leaf_index, head.size, notes);
  const needed = [head.keyId, keyOf(leaf), ...(checkpoint === undefined ? [] : signersOf(checkpoint.note, keys))];
  return {
    leaf,
    audit_path,
    head: toJson(head),
    keys: needed.flatMap((kid) => publicKey(keys, kid)),
    ...(checkpoint && { checkpoint: checkpoint.part }),
    timestamps: timestampsAround(parts, leaf_index, head.size),
  };
}

/** Returns the checkpoint that covers the leaf, with its proof; undefined if no note covers the leaf. */
function checkpointFor(
  parts: BundleParts,
  leafIndex: number,
  size: number,
  notes: BundleNotes,
): { note: string; part: BundleCheckpoint } | undefined {
  const { prover } = parts;
  let chosen = notes.published;
  let covered = coveredSize(parts, chosen);
  const isPublished = covered > leafIndex;
  if (!isPublished) {
    chosen = notes.signed?.();
    covered = coveredSize(parts, chosen);
  }
  if (chosen === undefined || covered <= leafIndex) return undefined;
  const path = prover
    .inclusion({ leaf_index: leafIndex }, covered)
    .audit_path.map((hash) => hexToBytes(hash, hashBytes));
  const part = {
    tlog_proof: formatTlogProof({ leafIndex, path, note: chosen }),
    published: isPublished,
    consistency: covered === size ? [] : prover.consistency(covered, size).audit_path,
  };
  return { note: chosen, part };
}

/**
 * Returns the size of the note's tree. Returns 0 if the note is not a checkpoint of this tree under the log's current
 * name, or if only revoked keys signed it.
 */
function coveredSize({ checkpoints, keys }: BundleParts, note: string | undefined): number {
  if (note === undefined) return 0;
  return caught(ServiceError, 0, () => {
    const size = checkpoints.sizeOf(note);
    return signersOf(note, keys).some((kid) => keys.get(kid)?.state !== 'revoked') ? size : 0;
  });
}

function keyOf({ canonical }: StoredLeaf): string {
  return (JSON.parse(Buffer.from(canonical).toString('utf8')) as { key_id: string }).key_id;
}

/** Returns the checkpoint keys of this log that signed the note. */
function signersOf(note: string, keys: KeyRing): string[] {
  const { signatures } = parseNote(note);
  return keys.all().flatMap(({ kid, purpose, publicKey: key, file: { svc_origin: origin } }) => {
    if (purpose !== 'checkpoint' || origin === undefined) return [];
    const keyId = noteKeyId(sha256, origin, signatureTypes.ed25519, key);
    return signatures.some((one) => one.name === origin && one.keyId === keyId) ? [kid] : [];
  });
}

function publicKey(keys: KeyRing, kid: string): PublicJwk[] {
  const key = keys.get(kid);
  return key === undefined ? [] : [published(key.file)];
}
