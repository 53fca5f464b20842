import { TlogError } from '../tlog/fault.ts';

const unavailable = (means: string) => ({ kind: 'unavailable', means }) as const;
const refused = (means: string) => ({ kind: 'refused', means }) as const;
const misbehaviour = (means: string) => ({ kind: 'misbehaviour', means }) as const;

/**
 * All faults in the responses of a log, each with its code.
 *
 * `unavailable`: the result is unknown; try again. `refused`: the response can't be accepted, but the cause may be a
 * bug of the service, a mistake of the caller, or a proxy. `misbehaviour`: two statements under trusted keys contradict
 * each other; this is irrecoverable, and the pin is not changed.
 */
export const faultCodes = {
  UNREACHABLE: unavailable('the service is unreachable, or truncated its response'),
  UNAVAILABLE: unavailable('the service reports that it cannot answer now'),
  HTTP_REFUSED: refused('the service rejected the request'),
  MALFORMED_HEAD: refused('the tree head has an invalid format'),
  MALFORMED_KEYS: refused('the key set has an invalid format'),
  MALFORMED_PROOF: refused('the proof has an invalid format, or is for other sizes'),
  MALFORMED_LEAF: refused('the log entry has an invalid format'),
  MALFORMED_BUNDLE: refused('the bundle has an invalid format'),
  MALFORMED_PIN: refused('the pin file has an invalid format'),
  MALFORMED_CHECKPOINT: refused('the checkpoint does not have the format of C2SP tlog-checkpoint'),
  MALFORMED_TILE: refused('the tile or entry bundle has an invalid format'),
  MALFORMED_RECEIPT: refused('the receipt has an invalid format'),
  MALFORMED_EVENT_PROOF: refused('the proof of an event has an invalid format'),
  MALFORMED_EVIDENCE: refused('the evidence has an invalid format'),
  MALFORMED_ARCHIVE: refused('the archive has an invalid format, or is truncated'),
  OTHER_LOG: refused('the pin belongs to another log'),
  UNKNOWN_KEY: refused('the key set lacks the key of the signer'),
  WRONG_KEY_PURPOSE: refused('the signer is a key for another purpose'),
  KEY_PENDING: refused('the signer is not in use yet'),
  KEY_REVOKED: refused('the signer was revoked'),
  KEY_OUT_OF_RANGE: refused('the signer was not in use at this tree size, index or time'),
  UNVOUCHED_KEY: refused(
    'no signed rotations connect the key with a pinned key; accept its fingerprint only after confirming it',
  ),
  NEW_LIFE: refused('the log was restored or lost entries, and its first new entry names new keys'),
  NEW_LOG: refused('a new log was started with new keys according to its first entry'),
  WEAK_KEY: refused('the signer is not a valid Ed25519 key'),
  BAD_SIGNATURE: refused('the signature of the tree head is invalid'),
  WRONG_ORIGIN: refused('the checkpoint belongs to another log, or the log has a new origin'),
  UNSIGNED_CHECKPOINT: refused('the checkpoint is not signed by the key of its log'),
  BAD_COSIGNATURE: refused('a cosignature under the key of a trusted witness is invalid'),
  QUORUM_MISSED: refused('too few witnesses have cosigned the checkpoint'),
  BAD_TIMESTAMP: refused('the timestamp is malformed, wrongly signed, or for other data'),
  UNTRUSTED_TIMESTAMP: refused('the certificate of the timestamping authority does not chain to a trusted one'),
  BAD_ENTRY_SIGNATURE: refused('the signature of the log entry is invalid'),
  NOT_CANONICAL: refused('the bytes of the entry are not its canonical form (RFC 8785)'),
  WRONG_LEAF: refused('the leaf is not the requested one'),
  NO_SUCH_RANGE: refused('the log has no such range of entries'),
  NOT_INCLUDED: refused('the inclusion proof results in a different root'),
  WRONG_PROOF: refused('the consistency proof results in other roots, but the tiles show that the log is append-only'),
  WRONG_TILE: refused('a tile differs from the entries'),
  WRONG_ROOT: refused('the entries result in a different root than the signed one'),
  UNSIGNED_RECEIPT: refused('the receipt has neither a signature nor an inclusion proof'),
  BAD_RECEIPT_SIGNATURE: refused('the signature of the receipt is invalid'),
  WRONG_BODY: refused('the receipt is for a different body'),
  WRONG_EVENT: refused('an event differs from the one that the entry commits to'),
  BACKDATED: refused('an entry is dated long before the head that first covers it'),
  FUTURE: refused('an entry is dated after the head that first covers it'),
  DUPLICATE_ENTRY: refused('two entries have the same id'),
  OLD_HEAD: refused('the tree head is older than the pinned head and may come from a cache'),
  LOG_EMPTY: refused('the log had entries, but now reports that it is empty'),
  HEAD_MISSING: refused('a signed tree head is missing from the history of heads'),
  PROOF_WITHHELD: refused('the log provides no usable proof that it is append-only'),
  CHECKPOINT_WITHHELD: refused('the log serves no checkpoint, but served one before, or the caller requires one'),
  UNPROVEN: refused('two signed statements contradict each other, but a signer is not trusted'),
  STALE_HEAD: refused('the tree head is older than allowed'),
  HEAD_FROM_FUTURE: refused('the tree head is dated in the future'),
  KEY_WITHDRAWN: refused('a pinned key is no longer published'),
  KEY_CHANGED: refused('a pinned key is published with a different value or purpose, or is no longer revoked'),
  ROLLBACK: misbehaviour('a smaller tree was signed with a later time'),
  FORK: misbehaviour('two different roots were signed for one size'),
  INCONSISTENT: misbehaviour('the log does not extend its earlier tree'),
  TIME_WENT_BACK: misbehaviour('a larger tree head has an earlier time'),
} as const;

export type FaultCode = keyof typeof faultCodes;

/**
 * An expected failure: exported functions return `T | AuditFault` instead of throwing. Readers of parts of a file throw
 * it, and the exported function that reads the file returns it (`catchFault`).
 */
export class AuditFault {
  readonly code: FaultCode;
  /** Description of the failure, with the actual and the expected value where both exist. */
  readonly message: string;
  /** Fingerprint of the key that `AuditOptions.acceptedKeys` accepts once the operator has confirmed it. */
  readonly fingerprint: string | undefined;

  constructor(code: FaultCode, message: string, fingerprint?: string) {
    this.code = code;
    this.message = message;
    this.fingerprint = fingerprint;
  }

  get kind(): (typeof faultCodes)[FaultCode]['kind'] {
    return faultCodes[this.code].kind;
  }
}

/** Returns the result of `read`, or the fault that it throws. Other errors are thrown. */
export function catchFault<T>(read: () => T): T | AuditFault {
  try {
    return read();
  } catch (error) {
    if (error instanceof AuditFault) return error;
    throw error;
  }
}

/** Returns the result of `read`, or a fault about the `TlogError` that it throws. Other errors are thrown. */
export function orFault<T>(code: FaultCode, about: string, read: () => T): T | AuditFault {
  try {
    return read();
  } catch (error) {
    if (error instanceof TlogError) return new AuditFault(code, `${about}: ${error.message}`);
    throw error;
  }
}

/**
 * Returns the value, or throws the fault that it is. For functions whose caller catches faults, such as `catchFault`.
 *
 * @param asPart - returns the fault of the whole from the message about its part
 */
export function unwrap<T>(value: T | AuditFault, asPart?: (message: string) => AuditFault): T {
  if (value instanceof AuditFault) throw asPart?.(value.message) ?? value;
  return value;
}
