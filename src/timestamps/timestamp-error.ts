/** Reasons to reject a token, or an authority's response. */
export type TimestampFault =
  /** Not a TimeStampResp or TimeStampToken in DER, or a required part is missing. */
  | 'malformed'
  /** The authority rejected the request: its status is neither granted nor grantedWithMods. */
  | 'not_granted'
  /** The token is for a different hash. */
  | 'wrong_hash'
  /** The token is for a different request. */
  | 'wrong_nonce'
  /** The signature, or an attribute that it must cover, is wrong. */
  | 'bad_signature'
  /** The certificate is not for timestamping, or was not valid at the time of the timestamp. */
  | 'bad_certificate'
  /** The authority's certificate does not chain to a trusted certificate. */
  | 'untrusted'
  /** The HTTP response is not a timestamp. */
  | 'refused'
  | 'too_large'
  | 'timeout'
  | 'unreachable';

export class TimestampError extends Error {
  override readonly name = 'TimestampError';
  readonly fault: TimestampFault;

  constructor(fault: TimestampFault, message: string) {
    super(message);
    this.fault = fault;
  }
}
