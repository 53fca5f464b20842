/**
 * Candor's verifier as a library: checks what a transparency log says without trusting it. Runs wherever there is
 * JavaScript of 2023 or later (Node 20, browsers), with `TextEncoder` and `atob`:
 * nothing of Node, no WebCrypto. What asks a log also needs `fetch`, `AbortController` and `setTimeout`.
 *
 *     const bundle = parseBundle(text);                       // the answer of GET /api/transparency/proof, or a file
 *     const verified = bundle instanceof Fault ? bundle : verifyBundle(bundle);
 *     if (verified instanceof Fault) throw new Error(`${verified.code}: ${verified.message}`);
 *     console.log(verified.entry, fingerprint(verified.headKey));
 *
 * Whatever a log or a file says, the answer is a value: what verified, or a `Fault` with a code of `faultCodes`.
 * Nothing throws for it. Who holds keys from elsewhere passes those; keys that came with the thing itself show that
 * it is consistent, and their fingerprints are to be compared with ones that were told another way.
 *
 * Formats: tree heads, proofs and leaves of RFC 6962; keys of RFC 8037; entries in the form of RFC 8785; checkpoints,
 * cosignatures and tiles of C2SP (tlog-checkpoint, signed-note, tlog-cosignature, tlog-tiles). Ed25519 of RFC 8032,
 * canonical encodings only, no keys of low order. Sizes and indices are integers below 2^53.
 */

/** Archives of `candor export`: `verifyArchive` takes them line by line. */
export { maxArchiveLine } from './archive.ts';
export { type ArchiveOptions, type VerifiedArchive, verifyArchive } from './archive-verify.ts';
/** Holds a log to a pin that the caller keeps (`parsePin`, `writePin`). */
export { type AuditOptions, type AuditResult, audit } from './auditor.ts';
/** The checkpoint and the timestamps of a bundle; RFC 3161 tokens themselves are left to the caller. */
export {
  type BundleProofs,
  parseBundleProofs,
  type TimestampClaim,
  type VerifiedProofs,
  verifyBundleProofs,
} from './bundle-proofs.ts';
/** Checkpoints: `parseCheckpointKey` reads the verifier key of a log or a witness (`name+id+base64`). */
export {
  type CheckpointPolicy,
  parseCheckpointKey,
  type SignedCheckpoint,
  verifyCheckpoint,
} from './checkpoint.ts';
/** When the trees of evidence existed, by witnesses and authorities that the caller trusts: for `judge`. */
export { type CorroborationPolicy, type DatedRoot, datedRoots } from './corroboration.ts';
/** Fetches and checks every entry from a size on, and the tiles over them. */
export { auditEntries, type CheckedRange, type EntriesOptions, WrongRoot } from './entries.ts';
/** Stored events: `verifySealedEvent` checks that an entry, which `verifyBundle` verified, covers the event of a file. */
export {
  type EventProofFile,
  looksLikeEventProof,
  parseEventProof,
  type SealedEvent,
  verifySealedEvent,
} from './event-proof.ts';
/** Evidence that a log contradicted itself; `judge`, below, derives the verdict from it alone. */
export { type Evidence, parseEvidence } from './evidence.ts';
/** One value for each thing that can be wrong. */
export { Fault, type FaultCode, faultCodes } from './fault.ts';
/** Keys: `parseKeySet` reads /.well-known/jwks.json; `fingerprint` is what the service prints at its start. */
export { anchored, fingerprint, type KeySet, type LogKey, parseKeySet, writeKeySet } from './key-set.ts';
/** The latest head, checkpoint and keys of a log, their signatures verified. */
export { fetchAllKeys, fetchCheckpoint, fetchHead, fetchKeys, type HeadWithKeys } from './latest.ts';
/** How a log is asked: `httpLog`, or any other `LogSource`. */
export { EmptyLog, type HttpLogOptions, httpLog, type LogSource } from './log-source.ts';
export { type CheckedEntries, type Pin, parsePin, writePin } from './pin.ts';
/** Looks one entry up, by its position, its id or its bytes, and verifies all of it. */
export { type EntryQuery, type ProvenEntry, proveEntry } from './proven-entry.ts';
/** Tree heads in the specification's shape. */
export { parseTreeHead, type SignedHead, writeTreeHead } from './tree-head.ts';
export { judge, trustedKeys, type Verdict } from './verdict.ts';
/**
 * Entries and proofs. `verifyBundle` checks the signature of the head, the place of the entry in its tree and the
 * entry's own signature; the others check one of these. `verifyConsistency` tells whether a tree begins with another.
 */
export {
  type Bundle,
  type EntryFields,
  type LogLeaf,
  parseBundle,
  type VerifiedEntry,
  verifyBundle,
  verifyConsistency,
  verifyEntry,
  verifyHead,
  verifyInclusion,
  writeBundle,
} from './verify.ts';
