/**
 * C2SP tlog-checkpoint: a tree head as the text of a note.
 *
 *     example.com/log                                    origin: identifies the log
 *     20852163                                           tree size
 *     CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=       root
 *     …                                                  extension lines, if any
 */
import { base64ToBytes, toBase64 } from './base64.ts';
import { TlogError } from './fault.ts';
import { checkNoteText } from './note.ts';
import { checkHash, checkSize, type Hash } from './tree.ts';

export interface Checkpoint {
  readonly origin: string;
  readonly size: number;
  readonly root: Hash;
  /** Opaque lines. Checkpoints of this program have no extension lines, because auditors cannot verify them. */
  readonly extensions: readonly string[];
}

/**
 * Parses a checkpoint. Faults: bad_note if the text cannot be the text of a note; bad_checkpoint, bad_size, bad_base64,
 * bad_hash.
 */
export function parseCheckpoint(text: string): Checkpoint {
  checkNoteText(text);
  const lines = text.slice(0, -1).split('\n');
  checkLines(lines);
  const [origin = '', size = '', root = '', ...extensions] = lines;
  const checkpoint = {
    origin,
    size: parseSize(size),
    root: base64ToBytes(root, 'the root of the checkpoint'),
    extensions,
  };
  checkHash(checkpoint.root, 'the root of the checkpoint');
  return checkpoint;
}

/** Formats a checkpoint; the inverse of `parseCheckpoint`. Faults: bad_note, bad_checkpoint, bad_size, bad_hash. */
export function formatCheckpoint({ origin, size, root, extensions }: Checkpoint): string {
  checkSize(size);
  checkHash(root, 'the root of the checkpoint');
  const lines = [origin, String(size), toBase64(root), ...extensions];
  if (lines.some((line) => line.includes('\n'))) throw new TlogError('bad_checkpoint', 'a line contains a newline');
  checkLines(lines);
  const text = `${lines.join('\n')}\n`;
  checkNoteText(text);
  return text;
}

function checkLines(lines: readonly string[]): void {
  if (lines.length < 3) throw new TlogError('bad_checkpoint', `it has ${lines.length} lines and needs at least 3`);
  if (lines.includes('')) throw new TlogError('bad_checkpoint', 'it has an empty line');
}

/** Parses a canonical decimal. A number above 2^53 − 1 is rejected rather than rounded. */
function parseSize(text: string): number {
  if (!/^(0|[1-9][0-9]*)$/.test(text)) throw new TlogError('bad_size', 'the tree size is not a canonical decimal');
  const size = Number(text);
  checkSize(size);
  return size;
}
