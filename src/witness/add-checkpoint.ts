/**
 * The body of `add-checkpoint` (C2SP tlog-witness): how far the witness is, the proof from there, the new checkpoint.
 *
 *     old 20852014
 *     PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=        63 lines of proof at most
 *     …
 *                                                         the first empty line
 *     example.com/log                                     a note
 *     …
 */
import { base64ToBytes, toBase64 } from '../tlog/base64.ts';
import { TlogError } from '../tlog/fault.ts';
import { checkHash, checkSize, type Hash } from '../tlog/tree.ts';

export interface AddCheckpoint {
  readonly oldSize: number;
  readonly proof: readonly Hash[];
  /** The checkpoint as a signed note. */
  readonly note: string;
}

/** As many as a proof over 2^63 leaves can have. */
const maxProofLines = 63;

/** The type of the body that a 409 tells the witness's size with. */
export const sizeContentType = 'text/x.tlog.size';

export function formatAddCheckpoint({ oldSize, proof, note }: AddCheckpoint): string {
  return `old ${oldSize}\n${proof.map((hash) => `${toBase64(hash)}\n`).join('')}\n${note}`;
}

/** The note is not looked into. Faults: bad_size, bad_path_length, bad_base64, bad_hash, bad_note without an empty line. */
export function parseAddCheckpoint(body: string): AddCheckpoint {
  const end = body.indexOf('\n\n');
  if (end < 0) throw new TlogError('bad_note', 'no empty line between proof and checkpoint');
  const [first = '', ...lines] = body.slice(0, end).split('\n');
  if (lines.length > maxProofLines) {
    throw new TlogError('bad_path_length', `${lines.length} lines of proof, wanted ${maxProofLines} at most`);
  }
  return { oldSize: parseOldSize(first), proof: lines.map(parseHash), note: body.slice(end + 2) };
}

function parseOldSize(line: string): number {
  const digits = /^old (0|[1-9][0-9]{0,15})$/.exec(line)?.[1];
  if (digits === undefined) throw new TlogError('bad_size', 'the first line is not old and a tree size');
  const size = Number(digits);
  checkSize(size);
  return size;
}

function parseHash(line: string): Hash {
  const hash = base64ToBytes(line, 'a line of the proof');
  checkHash(hash, 'a line of the proof');
  return hash;
}
