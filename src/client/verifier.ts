/**
 * Candor's verifier as a library: verifies the statements of a transparency log without trusting the log. Requires
 * JavaScript of 2023 or later (Node 20, browsers) with `TextEncoder` and `atob`, but no Node modules or WebCrypto.
 * Functions that query a log also need `fetch`, `AbortController` and `setTimeout`.
 *
 *     const bundle = parseBundle(text); // a response of GET /api/transparency/proof, or a file
 *     const verified = bundle instanceof AuditFault ? bundle : verifyBundle(bundle);
 *     if (verified instanceof AuditFault) throw new Error(`${verified.code}: ${verified.message}`);
 *     console.log(verified.entry, fingerprint(verified.headKey));
 *
 * Functions don't throw for invalid input: they return the verified value, or an `AuditFault` with a code of `faultCodes`.
 * Pass keys from a trusted source if you have them. Keys in the verified file show only that the file is consistent;
 * compare their fingerprints with those from a trusted source.
 *
 * Formats: tree heads, proofs and leaves of RFC 6962; keys of RFC 8037; canonical entries of RFC 8785; checkpoints,
 * cosignatures and tiles of C2SP (tlog-checkpoint, signed-note, tlog-cosignature, tlog-tiles). Ed25519 of RFC 8032 with
 * canonical encodings only and no low-order keys. Sizes and indices are integers below 2^53.
 */

/** The events of an alert, as the API serves them, compared with the hashes in the alert's entry. */
export { type AlertDigest, eventHash, verifyAlertEvents } from './alert-events.ts';
/** Archives of `candor export`: `verifyArchive` reads them line by line. */
export { maxArchiveLine } from './archive.ts';
export { type ArchiveOptions, type VerifiedArchive, verifyArchive } from './archive-verify.ts';
/** Checks a log against a pin that the caller stores (`parsePin`, `writePin`). */
export { type AuditOptions, type AuditResult, audit } from './auditor.ts';
/** The checkpoint and the timestamps of a bundle; RFC 3161 tokens must be verified by the caller. */
export {
  type BundleProofs,
  parseBundleProofs,
  type TimestampClaim,
  type VerifiedProofs,
  verifyBundleProofs,
} from './bundle-proofs.ts';
/** Checkpoints: `parseCheckpointKey` parses the verifier key of a log or a witness (`name+id+base64`). */
export {
  type CheckpointPolicy,
  parseCheckpointKey,
  type SignedCheckpoint,
  verifyCheckpoint,
} from './checkpoint.ts';
/** Times of the trees in evidence, from witnesses and authorities that the caller trusts: for `judge`. */
export { type CorroborationPolicy, type DatedRoot, datedRoots } from './corroboration.ts';
/** Fetches and checks all entries from a given size on, and the tiles over them. */
export { auditEntries, type CheckedRange, type EntriesOptions, WrongRoot } from './entries.ts';
/**
 * Stored events: `verifySealedEvent` checks that an entry verified by `verifyBundle` covers the event in a
 * file.
 */
export {
  type EventProofFile,
  looksLikeEventProof,
  parseEventProof,
  type SealedEvent,
  verifySealedEvent,
} from './event-proof.ts';
/** Evidence that a log contradicted itself; `judge`, below, computes the verdict from it. */
export { type Evidence, parseEvidence } from './evidence.ts';
/** A fault has a code for each kind of failure. */
export { AuditFault, type FaultCode, faultCodes } from './fault.ts';
/** Keys: `parseKeySet` parses /.well-known/jwks.json; the service prints `fingerprint` at startup. */
export { anchored, fingerprint, type KeySet, type LogKey, parseKeySet, writeKeySet } from './key-set.ts';
/** The latest head, checkpoint and keys of a log, with verified signatures. */
export { fetchAllKeys, fetchCheckpoint, fetchHead, fetchKeys, type HeadWithKeys } from './latest.ts';
/** Access to a log: `httpLog`, or any other `LogSource`. */
export { EmptyLog, type HttpLogOptions, httpLog, type LogSource } from './log-source.ts';
export { type CheckedEntries, type Pin, parsePin, writePin } from './pin.ts';
/** Finds an entry by position, id or bytes, and verifies it completely. */
export { type EntryQuery, type ProvenEntry, proveEntry } from './proven-entry.ts';
/** Tree heads in JSON. */
export { parseTreeHead, type SignedHead, writeTreeHead } from './tree-head.ts';
export { judge, trustedKeys, type Verdict } from './verdict.ts';
/**
 * Entries and proofs. `verifyBundle` checks the signature of the head, the inclusion of the entry and the entry's own
 * signature; the other functions each perform one of these checks. `verifyConsistency` checks that a tree extends
 * another.
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
