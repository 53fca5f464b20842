import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Type } from 'typebox';
import type { Static } from '../contract/resources/common.ts';
import { list, optional, shape, text, timestamp, uuid } from '../contract/resources/fields.ts';
import { SignedTreeHead } from '../contract/resources/transparency.ts';
import { validate } from '../contract/validate.ts';
import { restoreMark } from '../data-folder.ts';
import { replaceFile } from '../durable-file.ts';
import { BackupError } from './backup-error.ts';

/**
 * What a restore has set out to do. It lies in the data folder from when the first file moves until the log has its
 * entry: whoever finds it goes on from there, with what was checked before and lies in `restoring/`.
 */
const Mark = shape('RestoreMark', {
  format: Type.Literal(1),
  backup_id: uuid('The backup.'),
  from: text('Its folder.'),
  entry_id: uuid('Of the log entry that tells of the restore.'),
  started_at: timestamp('Also that of the entry.'),
  aside: text('Folder in the data folder for what was there.'),
  names: list(text('In the data folder.'), 'What was there.'),
  anchor_path: text('Where the anchor of the log lies.'),
  sth: optional(SignedTreeHead),
  replaced: optional(SignedTreeHead),
});
export type Mark = Static<typeof Mark>;

export async function readMark(dataDir: string): Promise<Mark | undefined> {
  const path = join(dataDir, restoreMark);
  try {
    return validate(Mark, JSON.parse(await readFile(path, 'utf8')), 'mark');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new BackupError(
      `${path} is damaged (${(error as Error).message}): nobody can tell how far that restore came`,
    );
  }
}

/** Heads survive: their timestamps are multiples of 1024 ns, which a double holds exactly. */
export function writeMark(dataDir: string, mark: Omit<Mark, 'format'>): Promise<void> {
  return replaceFile(join(dataDir, restoreMark), `${JSON.stringify({ format: 1, ...mark })}\n`, {
    mode: 0o600,
  });
}
