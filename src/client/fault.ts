/**
 * Everything that a log's answers can get wrong, one code for one fault.
 *
 * `unavailable`: nothing was learned; try again. `refused`: the answer can't be accepted, but may be a mistake of
 * the service, of the caller, or the work of a proxy in between. `misbehaviour`: two statements under trusted keys
 * contradict each other; irrecoverable, and the pin is kept as it is.
 */
export const faultCodes = {
  UNREACHABLE: { kind: 'unavailable', means: 'the service could not be reached, or broke off its answer' },
  UNAVAILABLE: { kind: 'unavailable', means: 'the service says that it can not answer now' },
  HTTP_REFUSED: { kind: 'refused', means: 'the service refused the request' },
  MALFORMED_HEAD: { kind: 'refused', means: 'the tree head is not of the agreed form' },
  MALFORMED_KEYS: { kind: 'refused', means: 'the key set is not of the agreed form' },
  MALFORMED_PROOF: { kind: 'refused', means: 'the proof is not of the agreed form, or is for other sizes' },
  MALFORMED_LEAF: { kind: 'refused', means: 'the log entry is not of the agreed form' },
  MALFORMED_BUNDLE: { kind: 'refused', means: 'the bundle is not of the agreed form' },
  MALFORMED_PIN: { kind: 'refused', means: 'the pin file is not of the agreed form' },
  MALFORMED_CHECKPOINT: {
    kind: 'refused',
    means: 'the checkpoint is not of the form of C2SP tlog-checkpoint',
  },
  MALFORMED_TILE: { kind: 'refused', means: 'the tile or the bundle of entries is not of the agreed form' },
  MALFORMED_RECEIPT: { kind: 'refused', means: 'the receipt is not of the agreed form' },
  MALFORMED_EVENT_PROOF: { kind: 'refused', means: 'the proof of an event is not of the agreed form' },
  MALFORMED_EVIDENCE: { kind: 'refused', means: 'the evidence is not of the agreed form' },
  MALFORMED_ARCHIVE: { kind: 'refused', means: 'the archive is not of the agreed form, or is cut off' },
  OTHER_LOG: { kind: 'refused', means: 'the pin is of another log' },
  UNKNOWN_KEY: { kind: 'refused', means: 'the key set lacks the key that is named as signer' },
  WRONG_KEY_PURPOSE: { kind: 'refused', means: 'the signer is a key for something else' },
  KEY_PENDING: { kind: 'refused', means: 'the signer is not in use yet' },
  KEY_REVOKED: { kind: 'refused', means: 'the signer was revoked' },
  KEY_OUT_OF_RANGE: { kind: 'refused', means: 'the signer was not in use at this tree size, or this index' },
  UNVOUCHED_KEY: {
    kind: 'refused',
    means:
      'no rotation that the pinned key signed leads to the key; accept its fingerprint explicitly, or not at all',
  },
  NEW_LIFE: {
    kind: 'refused',
    means: 'the log was restored or lost entries, and continues under new keys, as its first new entry says',
  },
  NEW_LOG: { kind: 'refused', means: 'the log was begun again under new keys, as its first new entry says' },
  WEAK_KEY: { kind: 'refused', means: 'the signer is no acceptable Ed25519 key' },
  BAD_SIGNATURE: { kind: 'refused', means: 'the signature of the tree head is wrong' },
  WRONG_ORIGIN: {
    kind: 'refused',
    means: 'the checkpoint is of another log, or the log has another name now',
  },
  UNSIGNED_CHECKPOINT: { kind: 'refused', means: 'the checkpoint is not signed by the key of its log' },
  BAD_COSIGNATURE: { kind: 'refused', means: 'a cosignature under the key of a trusted witness is wrong' },
  QUORUM_MISSED: { kind: 'refused', means: 'fewer witnesses than wanted have cosigned the checkpoint' },
  BAD_TIMESTAMP: {
    kind: 'refused',
    means: 'the timestamp is malformed, wrongly signed, or of something else',
  },
  UNTRUSTED_TIMESTAMP: {
    kind: 'refused',
    means: 'no given certificate vouches for the timestamping authority',
  },
  BAD_ENTRY_SIGNATURE: { kind: 'refused', means: 'the signature of the log entry is wrong' },
  NOT_CANONICAL: { kind: 'refused', means: 'the bytes of the entry are not its canonical form (RFC 8785)' },
  WRONG_LEAF: { kind: 'refused', means: 'the leaf is not the one that was asked for' },
  NO_SUCH_RANGE: { kind: 'refused', means: 'the log has no such range of entries' },
  NOT_INCLUDED: { kind: 'refused', means: 'the inclusion proof leads to another root' },
  WRONG_PROOF: {
    kind: 'refused',
    means: 'the consistency proof leads to other roots, but the tiles of the log show that it only grew',
  },
  WRONG_TILE: { kind: 'refused', means: 'a tile has another hash than the entries give' },
  WRONG_ROOT: { kind: 'refused', means: 'the entries give another root than the signed one' },
  UNSIGNED_RECEIPT: { kind: 'refused', means: 'the receipt has neither a signature nor a place in the log' },
  BAD_RECEIPT_SIGNATURE: { kind: 'refused', means: 'the signature of the receipt is wrong' },
  WRONG_BODY: { kind: 'refused', means: 'the receipt is for another body' },
  WRONG_EVENT: {
    kind: 'refused',
    means: 'an event differs from the one that an entry commits to',
  },
  BACKDATED: { kind: 'refused', means: 'an entry is dated long before the head that first covers it' },
  FUTURE: { kind: 'refused', means: 'an entry is dated after the head that first covers it' },
  DUPLICATE_ENTRY: { kind: 'refused', means: 'two entries have the same id' },
  OLD_HEAD: {
    kind: 'refused',
    means: 'the tree head is older than the pinned one: an old answer came again',
  },
  LOG_EMPTY: { kind: 'refused', means: 'the log had entries, and the answer says that it has none' },
  HEAD_MISSING: { kind: 'refused', means: 'a signed tree head is missing from the history of heads' },
  PROOF_WITHHELD: { kind: 'refused', means: 'the log gives no usable proof that it only grew' },
  CHECKPOINT_WITHHELD: { kind: 'refused', means: 'the log served a checkpoint before, and serves none now' },
  UNPROVEN: {
    kind: 'refused',
    means: 'two signed statements contradict each other, but a signer is neither pinned nor vouched for',
  },
  STALE_HEAD: { kind: 'refused', means: 'the tree head is older than allowed' },
  HEAD_FROM_FUTURE: { kind: 'refused', means: 'the tree head is dated later than now' },
  KEY_WITHDRAWN: { kind: 'refused', means: 'a pinned key is no longer published' },
  KEY_CHANGED: {
    kind: 'refused',
    means: 'a pinned key is published with another value, purpose, name or state',
  },
  ROLLBACK: { kind: 'misbehaviour', means: 'a smaller tree was signed with a later time' },
  FORK: { kind: 'misbehaviour', means: 'two different roots were signed for one size' },
  INCONSISTENT: { kind: 'misbehaviour', means: 'the log is no extension of what it was' },
  TIME_WENT_BACK: { kind: 'misbehaviour', means: 'a later tree head carries an earlier time' },
} as const satisfies Record<string, { kind: 'unavailable' | 'refused' | 'misbehaviour'; means: string }>;

export type FaultCode = keyof typeof faultCodes;

/** An expected answer, not an exception: functions return `T | Fault`. */
export class Fault {
  readonly code: FaultCode;
  /** What came, and what was wanted. */
  readonly message: string;

  constructor(code: FaultCode, message: string) {
    this.code = code;
    this.message = message;
  }

  get kind(): (typeof faultCodes)[FaultCode]['kind'] {
    return faultCodes[this.code].kind;
  }
}
