/**
 * Everything that a log's answers can get wrong, one code for one fault.
 *
 * `unavailable`: nothing was learned; try again. `refused`: the answer can't be accepted, but may be a mistake of
 * the service, of the way to it, or of the one who asks. `misbehaviour`: the log contradicts what it signed before;
 * irrecoverable, and the pin is kept as it is.
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
  OTHER_LOG: { kind: 'refused', means: 'the pin is of another log' },
  UNKNOWN_KEY: { kind: 'refused', means: 'the key set lacks the key that is named as signer' },
  WRONG_KEY_PURPOSE: { kind: 'refused', means: 'the signer is a key for something else' },
  KEY_PENDING: { kind: 'refused', means: 'the signer is not in use yet' },
  KEY_REVOKED: { kind: 'refused', means: 'the signer was revoked' },
  KEY_OUT_OF_RANGE: { kind: 'refused', means: 'the signer was not in use at this tree size' },
  WEAK_KEY: { kind: 'refused', means: 'the signer is no acceptable Ed25519 key' },
  BAD_SIGNATURE: { kind: 'refused', means: 'the signature of the tree head is wrong' },
  BAD_ENTRY_SIGNATURE: { kind: 'refused', means: 'the signature of the log entry is wrong' },
  NOT_CANONICAL: { kind: 'refused', means: 'the bytes of the entry are not its canonical form (RFC 8785)' },
  WRONG_LEAF: { kind: 'refused', means: 'the leaf is not the one that was asked for' },
  NOT_INCLUDED: { kind: 'refused', means: 'the inclusion proof leads to another root' },
  STALE_HEAD: { kind: 'refused', means: 'the tree head is older than allowed' },
  HEAD_FROM_FUTURE: { kind: 'refused', means: 'the tree head is dated later than now' },
  KEY_WITHDRAWN: { kind: 'misbehaviour', means: 'a key that was published is published no more' },
  KEY_CHANGED: { kind: 'misbehaviour', means: 'a key that was published has another value now' },
  ROLLBACK: { kind: 'misbehaviour', means: 'the log is smaller than it was' },
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
