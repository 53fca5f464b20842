import { parseCheckpoint } from '../tlog/checkpoint.ts';
import { parseNote } from '../tlog/note.ts';
import { parseTlogProof, type TlogProof } from '../tlog/tlog-proof.ts';
import { equalHashes, type Hash } from '../tlog/tree.ts';
import { type CheckpointPolicy, type SignedCheckpoint, verifyCheckpoint } from './checkpoint.ts';
import { base64, type Exact, members, parseExact, string } from './exact-json.ts';
import { AuditFault, catchFault, orFault, unwrap } from './fault.ts';
import { canAccuse, type KeySet } from './key-set.ts';
import {
  type Bundle,
  type LogLeaf,
  readEntry,
  readLeaf,
  readPath,
  verifyConsistency,
  verifyInclusion,
} from './verify.ts';

/** An RFC 3161 token for the SHA-256 of a checkpoint. */
export interface TimestampClaim {
  /** URL of the authority, as logged. */
  readonly authority: string;
  /** The complete note. */
  readonly checkpoint: string;
  /** TimeStampToken in DER. */
  readonly token: Uint8Array;
}

/** The optional parts of a bundle, which bundles of earlier versions lack. */
export interface BundleProofs {
  readonly checkpoint?: {
    readonly proof: TlogProof;
    /** The tlog-proof as text, as in the bundle. */
    readonly text: string;
    /**
     * Whether the checkpoint is the published one. False if the log signed it for this bundle, because the published
     * checkpoint did not cover the entry.
     */
    readonly published: boolean;
    /** Consistency proof between the trees of checkpoint and head, from the smaller to the larger. */
    readonly consistency: readonly Hash[];
  };
  readonly notBefore: readonly { readonly leaf: LogLeaf; readonly path: readonly Hash[] }[];
  readonly notAfter: readonly (TimestampClaim & { readonly path: readonly Hash[] })[];
}

export interface ProofOptions {
  /** Required signatures of the checkpoint. If given, a bundle without a checkpoint is rejected. */
  readonly policy?: CheckpointPolicy | undefined;
  /**
   * Whether the keys come from a source other than the file. Only then do two signed roots prove
   * misbehaviour.
   */
  readonly trustedKeys?: boolean;
}

export interface VerifiedProofs {
  readonly checkpoint?: SignedCheckpoint & { readonly published: boolean };
  /**
   * Tokens that were logged before the entry. Their link to the entry is verified, the tokens themselves are
   * not.
   */
  readonly notBefore: readonly TimestampClaim[];
  /** Tokens for checkpoints that cover the entry, verified like `notBefore`. */
  readonly notAfter: readonly TimestampClaim[];
}

/** Maximum timestamps in a bundle. The service writes fewer: one per authority. */
const maxTimestamps = 64;

/** Parses `{tlog_proof, checkpoint_published, checkpoint_consistency, timestamps}` of a bundle. */
export function parseBundleProofs(text: string): BundleProofs | AuditFault {
  return catchFault(() => {
    const fields = members(parseExact(text));
    const checkpoint = readCheckpointPart(fields ?? {});
    const timestamps = members(fields?.timestamps);
    if (fields?.timestamps !== undefined && timestamps === undefined) throw malformed('timestamps: must be an object');
    const notBefore = readList(timestamps?.not_before, 'not_before', readBefore);
    const notAfter = readList(timestamps?.not_after, 'not_after', readAfter);
    return { ...(checkpoint && { checkpoint }), notBefore, notAfter };
  });
}

/**
 * Verifies that the checkpoint is signed, has the same leaf, and is consistent with the head, and that the
 * timestamps are linked to the entry. The bundle itself must have passed `verifyBundle` with the same keys.
 * RFC 3161 tokens must be verified by the caller, because that requires X.509.
 */
export function verifyBundleProofs(
  bundle: Bundle,
  proofs: BundleProofs,
  keys: KeySet,
  options: ProofOptions = {},
): VerifiedProofs | AuditFault {
  const checkpoint = verifyCheckpointPart(bundle, proofs, keys, options);
  if (checkpoint instanceof AuditFault) return checkpoint;
  const notBefore: TimestampClaim[] = [];
  for (const { leaf, path } of proofs.notBefore) {
    const claim = loggedBefore(bundle, leaf, path);
    if (claim instanceof AuditFault) return claim;
    notBefore.push(claim);
  }
  for (const claim of proofs.notAfter) {
    const notCovered = coveredBy(bundle.leaf, claim);
    if (notCovered !== undefined) return notCovered;
  }
  return { ...(checkpoint && { checkpoint }), notBefore, notAfter: proofs.notAfter };
}

function verifyCheckpointPart(
  { leaf, head }: Bundle,
  { checkpoint: part }: BundleProofs,
  keys: KeySet,
  { policy, trustedKeys = false }: ProofOptions,
): VerifiedProofs['checkpoint'] | AuditFault {
  if (part === undefined)
    return policy && new AuditFault('UNSIGNED_CHECKPOINT', 'the bundle has no tlog_proof and thus no checkpoint');
  const { proof, published, consistency } = part;
  const checkpoint = verifyCheckpoint(proof.note, keys, policy);
  if (checkpoint instanceof AuditFault) return checkpoint;
  if (proof.leafIndex !== leaf.leafIndex)
    return new AuditFault('WRONG_LEAF', `the tlog_proof is for leaf ${proof.leafIndex}, not ${leaf.leafIndex}`);
  const included = verifyInclusion(leaf, proof.path, checkpoint);
  if (included instanceof AuditFault) return included;
  const [smaller, larger] = checkpoint.size <= head.size ? [checkpoint, head] : [head, checkpoint];
  if (smaller.size === larger.size && !equalHashes(smaller.root, larger.root)) {
    const message = `head and checkpoint have different roots for size ${head.size}`;
    const provesFork = trustedKeys && canAccuse(keys, head.signerKeyId, checkpoint.key);
    return new AuditFault(provesFork ? 'FORK' : 'WRONG_ROOT', message);
  }
  const inconsistent = verifyConsistency(smaller, larger, consistency);
  if (inconsistent !== undefined)
    return malformed(`checkpoint_consistency does not connect sizes ${smaller.size} and ${larger.size}`);
  return { ...checkpoint, published };
}

/** Returns the token of a checkpoint.timestamped entry that precedes the bundle's entry in the same tree. */
function loggedBefore({ leaf, head }: Bundle, earlier: LogLeaf, path: readonly Hash[]): TimestampClaim | AuditFault {
  if (earlier.leafIndex >= leaf.leafIndex)
    return malformed(`not_before: leaf ${earlier.leafIndex} is not before leaf ${leaf.leafIndex}`);
  const included = verifyInclusion(earlier, path, head);
  if (included instanceof AuditFault) return included;
  const read = readEntry(earlier.canonical);
  if (read instanceof AuditFault) return read;
  const data = members(read.entry.data as Exact);
  const claim = readClaim(data);
  if (read.entry.kind !== 'checkpoint.timestamped' || claim === undefined)
    return malformed(`not_before: entry ${earlier.leafIndex} has no timestamp`);
  return claim;
}

function coveredBy(leaf: LogLeaf, { checkpoint, path }: BundleProofs['notAfter'][number]): AuditFault | undefined {
  const included = orFault('MALFORMED_CHECKPOINT', 'not_after', () =>
    verifyInclusion(leaf, path, parseCheckpoint(parseNote(checkpoint).text)),
  );
  return included instanceof AuditFault ? included : undefined;
}

function readCheckpointPart(fields: Readonly<Record<string, Exact | undefined>>): BundleProofs['checkpoint'] {
  const { tlog_proof: text, checkpoint_published: published } = fields;
  if (text === undefined) return undefined;
  if (typeof text !== 'string' || typeof published !== 'boolean')
    throw malformed('tlog_proof: must be a string, with a boolean checkpoint_published');
  const consistency = unwrap(readPath(fields.checkpoint_consistency));
  return { proof: unwrap(readTlogProof(text)), text, published, consistency };
}

/** Parses a C2SP tlog-proof without verifying it. */
export function readTlogProof(text: string): TlogProof | AuditFault {
  return orFault('MALFORMED_PROOF', 'tlog_proof', () => parseTlogProof(text));
}

function readList<T>(json: Exact | undefined, name: string, read: (json: Exact) => T): T[] {
  if (json === undefined) return [];
  if (!Array.isArray(json) || json.length > maxTimestamps)
    throw malformed(`timestamps.${name}: must be a list of at most ${maxTimestamps}`);
  return json.map((item) => read(item));
}

function readBefore(json: Exact): BundleProofs['notBefore'][number] {
  return { leaf: unwrap(readLeaf(json)), path: unwrap(readPath(members(json)?.audit_path)) };
}

function readAfter(json: Exact): BundleProofs['notAfter'][number] {
  const claim = readClaim(members(json));
  if (claim === undefined) throw malformed('timestamps.not_after: authority, checkpoint or token is missing');
  return { ...claim, path: unwrap(readPath(members(json)?.audit_path)) };
}

/** Returns the timestamp in these members; undefined if a member is missing or has the wrong type. */
export function readClaim(fields: Readonly<Record<string, Exact | undefined>> | undefined): TimestampClaim | undefined {
  const [authority, checkpoint] = [string(fields?.authority), string(fields?.checkpoint)];
  const token = base64(fields?.token);
  return authority === undefined || checkpoint === undefined || token === undefined
    ? undefined
    : { authority, checkpoint, token };
}

function malformed(reason: string): AuditFault {
  return new AuditFault('MALFORMED_BUNDLE', reason);
}
