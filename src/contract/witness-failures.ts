/**
 * Kinds of failed cosignature requests to a witness (C2SP tlog-witness), distinguished because each needs a
 * different action by the operator. The texts follow the name of the witness.
 */
export const witnessFailures = {
  /** The connection failed, or was lost. */
  unreachable: 'could not be reached',
  timeout: 'did not answer in time',
  /** Status 429 or 5xx. */
  unavailable: 'is temporarily unavailable',
  /** Status 404. */
  unknown_log: 'does not know this log',
  /** Status 403. */
  unknown_key: 'does not accept the signature of this log',
  /** Any other unexpected response, and a 409 with the size that was sent. */
  refused: 'refused the request',
  /** 422, or a 409 without a size. */
  inconsistent: 'reports that the log contradicts an earlier cosignature',
  /** A 409 with a size larger than the log. */
  ahead: 'has cosigned a larger tree than the current one',
  /** 200 or 409 with an invalid or too long body. */
  malformed: 'sent an invalid response',
  bad_signature: 'sent a signature that does not verify with its key',
  bad_time: 'sent a cosignature with a time far from the current time',
} as const;

export type WitnessFailure = keyof typeof witnessFailures;

export const witnessFailureKinds = Object.keys(witnessFailures) as WitnessFailure[];
