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
  | 'first_root_mismatch';

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
