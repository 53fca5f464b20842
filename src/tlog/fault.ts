/** What can be wrong with numbers, hashes, proofs and heads that come from outside. One name for one fault. */
export type TlogFault =
  /** A tree size that is no safe integer, or not in the range asked for. */
  | 'bad_size'
  /** A leaf index that is no safe integer, or not below the tree size. */
  | 'bad_index'
  /** A hash that is not 32 bytes. */
  | 'bad_hash'
  /** Text that is not the hexadecimal form of the wanted number of bytes. */
  | 'bad_hex'
  /** A timestamp that no JSON reader with doubles can hold exactly, or that doesn't fit 64 bits. */
  | 'bad_timestamp'
  /** More or fewer hashes in a proof than its sizes call for. */
  | 'bad_path_length'
  /** The proof leads to another root than the (second) head's. */
  | 'root_mismatch'
  /** The consistency proof leads to another first root than the pinned one. */
  | 'first_root_mismatch'
  /** Text that is not the one base64 spelling of its bytes. */
  | 'bad_base64'
  /** Text that is no signed note, or that can't be part of one: its end, its lines, a character, its length. */
  | 'bad_note'
  /** A key name that is empty or holds a space, a plus or a control character. */
  | 'bad_key_name'
  /** A key id that is no 32-bit number, or not the one that name, type and key have. */
  | 'bad_key_id'
  /** A signature type that isn't spoken here. */
  | 'bad_key_type'
  /** Text that is no verifier key, or a key of another length than 32 bytes. */
  | 'bad_verifier_key'
  /** A note's signature that names a known key and doesn't verify. */
  | 'bad_note_signature'
  /** The text of a note that is no checkpoint. */
  | 'bad_checkpoint'
  /** Bytes that are no cosignature. */
  | 'bad_cosignature'
  /** Text that is not of the form of C2SP tlog-proof. */
  | 'bad_tlog_proof'
  /** A path or an address that no tile can have. */
  | 'bad_tile'
  /** Bytes that are not as many entries as wanted, each behind its length; or entries that make no bundle. */
  | 'bad_entry_bundle';

/** Bad input: an expected failure, named by its fault. Bad mathematics is a plain `Error` and a bug of ours. */
export class TlogError extends Error {
  override readonly name = 'TlogError';
  readonly fault: TlogFault;

  constructor(fault: TlogFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

/** Ends a computation that can't be right whatever the input was. */
export function panic(message: string): never {
  throw new Error(`tlog: ${message}`);
}
