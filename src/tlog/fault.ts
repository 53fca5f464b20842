/** Faults in untrusted numbers, hashes, proofs, heads and notes. */
export type TlogFault =
  /** A tree size that is not a safe integer or is out of range, or a head that is not 48 bytes. */
  | 'bad_size'
  /** A leaf index that is not a safe integer, or not below the tree size. */
  | 'bad_index'
  /** A hash that is not 32 bytes. */
  | 'bad_hash'
  /** Text that is not the hexadecimal form of the expected number of bytes. */
  | 'bad_hex'
  /** A timestamp that is not an integer, is out of range, or may be inexact as a double. */
  | 'bad_timestamp'
  /** A proof with too many or too few hashes for its sizes. */
  | 'bad_path_length'
  /** The proof leads to a root other than the head's; for a consistency proof, other than the second head's. */
  | 'root_mismatch'
  /** The consistency proof leads to a first root other than the first head's. */
  | 'first_root_mismatch'
  /** Text that is not canonical base64. */
  | 'bad_base64'
  /**
   * Text that is not a signed note, or cannot be part of a note: its end, its lines, a character or its length is
   * invalid.
   */
  | 'bad_note'
  /** A key name that is empty or contains white space, a plus, a control character or a lone surrogate. */
  | 'bad_key_name'
  /** A key id that is not a 32-bit number, or does not match name, type and key. */
  | 'bad_key_id'
  /** An unsupported signature type. */
  | 'bad_key_type'
  /** Text that is not a verifier key, or a key that is not 32 bytes long. */
  | 'bad_verifier_key'
  /** An invalid signature of a known key on a note. */
  | 'bad_note_signature'
  /** The text of a note that is not a checkpoint. */
  | 'bad_checkpoint'
  /** Bytes that are not a cosignature. */
  | 'bad_cosignature'
  /** Text that does not have the form of C2SP tlog-proof. */
  | 'bad_tlog_proof'
  /** An invalid path or address of a tile. */
  | 'bad_tile'
  /**
   * Bytes that are not the expected number of length-prefixed entries, or entries that cannot form a bundle.
   */
  | 'bad_entry_bundle';

/**
 * Invalid input: an expected failure, identified by its fault. Errors in the computation itself are plain
 * `Error`s and bugs.
 */
export class TlogError extends Error {
  override readonly name = 'TlogError';
  readonly fault: TlogFault;

  constructor(fault: TlogFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

/** Throws an error for a bug in the computation: a state that no input may cause. */
export function panic(message: string): never {
  throw new Error(`tlog: ${message}`);
}
