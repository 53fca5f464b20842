/**
 * How asking a witness for a cosignature (C2SP tlog-witness) can fail, each told apart because each wants something else
 * of the operator; in words that follow the witness's name.
 */
export const witnessFailures = {
  /** No connection, or one that broke off. */
  unreachable: 'could not be reached',
  timeout: 'did not answer in time',
  /** 429 and 5xx. */
  unavailable: 'can not answer now',
  /** 404. */
  unknown_log: 'does not know this log',
  /** 403. */
  unknown_key: 'does not accept the signature of this log',
  /** Any other answer that the protocol has no place for, and a 409 that asks for the size that was sent. */
  refused: 'refused the request',
  /** 422, or a 409 without a size. */
  inconsistent: 'says that the log contradicts what it cosigned before',
  /** A 409 with a size beyond ours. */
  ahead: 'has cosigned a larger tree than this log has now',
  /** 200 or 409 with a body that is none, or too long. */
  malformed: 'answered with garbage',
  bad_signature: 'answered with a signature that is not its own',
  bad_time: 'dated its cosignature far from now',
} as const;

export type WitnessFailure = keyof typeof witnessFailures;

export const witnessFailureKinds = Object.keys(witnessFailures) as WitnessFailure[];
