/** The reasons for which an answer of an authority, or a token, is refused. */
export type TimestampFault =
  /** Not a TimeStampResp or a TimeStampToken in DER, or one without a part that it must have. */
  | 'malformed'
  /** The authority refused the request: its status is neither granted nor granted with modifications. */
  | 'not_granted'
  /** The token is over another hash. */
  | 'wrong_hash'
  /** The token answers another request. */
  | 'wrong_nonce'
  /** The signature, or something that it has to cover, is wrong. */
  | 'bad_signature'
  /** The certificate is not one for timestamping, or was not valid at that time. */
  | 'bad_certificate'
  /** No given certificate vouches for the authority's. */
  | 'untrusted'
  /** The HTTP answer is not a timestamp. */
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
