/**
 * All faults in the answers of a log, each with its code.
 *
 * `unavailable`: the result is unknown; try again. `refused`: the answer can't be accepted, but the cause may
 * be a bug of the service, a mistake of the caller, or a proxy. `misbehaviour`: two statements under trusted
 * keys contradict each other; irrecoverable, and the pin is not changed.
 */
export const faultCodes = {
  UNREACHABLE: { kind: 'unavailable', means: 'the service is unreachable, or truncated its response' },
  UNAVAILABLE: { kind: 'unavailable', means: 'the service reports that it cannot answer now' },
  HTTP_REFUSED: { kind: 'refused', means: 'the service rejected the request' },
  MALFORMED_HEAD: { kind: 'refused', means: 'the tree head has an invalid format' },
  MALFORMED_KEYS: { kind: 'refused', means: 'the key set has an invalid format' },
  MALFORMED_PROOF: { kind: 'refused', means: 'the proof has an invalid format, or is for other sizes' },
  MALFORMED_LEAF: { kind: 'refused', means: 'the log entry has an invalid format' },
  MALFORMED_BUNDLE: { kind: 'refused', means: 'the bundle has an invalid format' },
  MALFORMED_PIN: { kind: 'refused', means: 'the pin file has an invalid format' },
  MALFORMED_CHECKPOINT: {
    kind: 'refused',
    means: 'the checkpoint does not have the format of C2SP tlog-checkpoint',
  },
  MALFORMED_TILE: { kind: 'refused', means: 'the tile or entry bundle has an invalid format' },
  MALFORMED_RECEIPT: { kind: 'refused', means: 'the receipt has an invalid format' },
  MALFORMED_EVENT_PROOF: { kind: 'refused', means: 'the proof of an event has an invalid format' },
  MALFORMED_EVIDENCE: { kind: 'refused', means: 'the evidence has an invalid format' },
  MALFORMED_ARCHIVE: { kind: 'refused', means: 'the archive has an invalid format, or is truncated' },
  OTHER_LOG: { kind: 'refused', means: 'the pin belongs to another log' },
  UNKNOWN_KEY: { kind: 'refused', means: 'the key set lacks the key of the signer' },
  WRONG_KEY_PURPOSE: { kind: 'refused', means: 'the signer is a key for another purpose' },
  KEY_PENDING: { kind: 'refused', means: 'the signer is not in use yet' },
  KEY_REVOKED: { kind: 'refused', means: 'the signer was revoked' },
  KEY_OUT_OF_RANGE: { kind: 'refused', means: 'the signer was not in use at this tree size or index' },
  UNVOUCHED_KEY: {
    kind: 'refused',
    means:
      'no signed rotations connect the key with a pinned key; accept its fingerprint only after confirming it',
  },
  NEW_LIFE: {
    kind: 'refused',
    means: 'the log was restored or lost entries, and its first new entry names new keys',
  },
  NEW_LOG: { kind: 'refused', means: 'a new log was started with new keys according to its first entry' },
  WEAK_KEY: { kind: 'refused', means: 'the signer is not a valid Ed25519 key' },
  BAD_SIGNATURE: { kind: 'refused', means: 'the signature of the tree head is invalid' },
  WRONG_ORIGIN: {
    kind: 'refused',
    means: 'the checkpoint belongs to another log, or the log has a new origin',
  },
  UNSIGNED_CHECKPOINT: { kind: 'refused', means: 'the checkpoint is not signed by the key of its log' },
  BAD_COSIGNATURE: { kind: 'refused', means: 'a cosignature under the key of a trusted witness is invalid' },
  QUORUM_MISSED: { kind: 'refused', means: 'too few witnesses have cosigned the checkpoint' },
  BAD_TIMESTAMP: {
    kind: 'refused',
    means: 'the timestamp is malformed, wrongly signed, or for other data',
  },
  UNTRUSTED_TIMESTAMP: {
    kind: 'refused',
    means: 'no trusted certificate vouches for the timestamping authority',
  },
  BAD_ENTRY_SIGNATURE: { kind: 'refused', means: 'the signature of the log entry is invalid' },
  NOT_CANONICAL: { kind: 'refused', means: 'the bytes of the entry are not its canonical form (RFC 8785)' },
  WRONG_LEAF: { kind: 'refused', means: 'the leaf is not the requested one' },
  NO_SUCH_RANGE: { kind: 'refused', means: 'the log has no such range of entries' },
  NOT_INCLUDED: { kind: 'refused', means: 'the inclusion proof results in a different root' },
  WRONG_PROOF: {
    kind: 'refused',
    means: 'the consistency proof results in other roots, but the tiles show that the log is append-only',
  },
  WRONG_TILE: { kind: 'refused', means: 'a tile differs from the entries' },
  WRONG_ROOT: { kind: 'refused', means: 'the entries result in a different root than the signed one' },
  UNSIGNED_RECEIPT: { kind: 'refused', means: 'the receipt has neither a signature nor an inclusion proof' },
  BAD_RECEIPT_SIGNATURE: { kind: 'refused', means: 'the signature of the receipt is invalid' },
  WRONG_BODY: { kind: 'refused', means: 'the receipt is for a different body' },
  WRONG_EVENT: {
    kind: 'refused',
    means: 'an event differs from the one that the entry commits to',
  },
  BACKDATED: { kind: 'refused', means: 'an entry is dated long before the head that first covers it' },
  FUTURE: { kind: 'refused', means: 'an entry is dated after the head that first covers it' },
  DUPLICATE_ENTRY: { kind: 'refused', means: 'two entries have the same id' },
  OLD_HEAD: {
    kind: 'refused',
    means: 'the tree head is older than the pinned one, as from a cache',
  },
  LOG_EMPTY: { kind: 'refused', means: 'the log had entries, but now reports that it is empty' },
  HEAD_MISSING: { kind: 'refused', means: 'a signed tree head is missing from the history of heads' },
  PROOF_WITHHELD: { kind: 'refused', means: 'the log provides no usable proof that it is append-only' },
  CHECKPOINT_WITHHELD: { kind: 'refused', means: 'the log served a checkpoint before, but serves none now' },
  UNPROVEN: {
    kind: 'refused',
    means: 'two signed statements contradict each other, but a signer is not trusted',
  },
  STALE_HEAD: { kind: 'refused', means: 'the tree head is older than allowed' },
  HEAD_FROM_FUTURE: { kind: 'refused', means: 'the tree head is dated in the future' },
  KEY_WITHDRAWN: { kind: 'refused', means: 'a pinned key is no longer published' },
  KEY_CHANGED: {
    kind: 'refused',
    means: 'a pinned key is published with a different value, purpose, name or state',
  },
  ROLLBACK: { kind: 'misbehaviour', means: 'a smaller tree was signed with a later time' },
  FORK: { kind: 'misbehaviour', means: 'two different roots were signed for one size' },
  INCONSISTENT: { kind: 'misbehaviour', means: 'the log does not extend its earlier tree' },
  TIME_WENT_BACK: { kind: 'misbehaviour', means: 'a larger tree head has an earlier time' },
} as const satisfies Record<string, { kind: 'unavailable' | 'refused' | 'misbehaviour'; means: string }>;

export type FaultCode = keyof typeof faultCodes;

/** An expected failure: functions return `T | Fault` instead of throwing. */
export class Fault {
  readonly code: FaultCode;
  /** The found and the expected value. */
  readonly message: string;

  constructor(code: FaultCode, message: string) {
    this.code = code;
    this.message = message;
  }

  get kind(): (typeof faultCodes)[FaultCode]['kind'] {
    return faultCodes[this.code].kind;
  }
}
