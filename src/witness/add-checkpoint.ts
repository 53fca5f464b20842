/**
 * The body of `add-checkpoint` (C2SP tlog-witness): the size last cosigned, a consistency proof from it, and
 * the new checkpoint.
 *
 *     old 20852014
 *     PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=        at most 63 proof lines
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

/** The longest possible proof, for 2^63 leaves. */
const maxProofLines = 63;

/** Content type of a 409 response body that holds the witness's size. */
export const sizeContentType = 'text/x.tlog.size';

export function formatAddCheckpoint({ oldSize, proof, note }: AddCheckpoint): string {
  return `old ${oldSize}\n${proof.map((hash) => `${toBase64(hash)}\n`).join('')}\n${note}`;
}

/**
 * Parses the body without parsing the note.
 *
 * @throws TlogError bad_size, bad_path_length, bad_base64, bad_hash; bad_note without an empty line
 */
export function parseAddCheckpoint(body: string): AddCheckpoint {
  const end = body.indexOf('\n\n');
  if (end < 0) throw new TlogError('bad_note', 'missing empty line between proof and checkpoint');
  const [first = '', ...lines] = body.slice(0, end).split('\n');
  if (lines.length > maxProofLines) {
    throw new TlogError('bad_path_length', `${lines.length} proof lines; the limit is ${maxProofLines}`);
  }
  return { oldSize: parseOldSize(first), proof: lines.map(parseHash), note: body.slice(end + 2) };
}

function parseOldSize(line: string): number {
  const digits = /^old (0|[1-9][0-9]{0,15})$/.exec(line)?.[1];
  if (digits === undefined) throw new TlogError('bad_size', 'the first line must be "old" and a tree size');
  const size = Number(digits);
  checkSize(size);
  return size;
}

function parseHash(line: string): Hash {
  const hash = base64ToBytes(line, 'a proof line');
  checkHash(hash, 'a proof line');
  return hash;
}
