import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Type } from 'typebox';
import type { Static } from '../contract/resources/common.ts';
import { list, optional, shape, text, timestamp, uuid } from '../contract/resources/fields.ts';
import { SignedTreeHead } from '../contract/resources/transparency.ts';
import { validate } from '../contract/validate.ts';
import { restoreMark } from '../files/data-folder.ts';
import { replaceFile } from '../files/durable-file.ts';
import { BackupError } from './backup-error.ts';

/**
 * The state of a restore in progress. Its file is in the data folder from before the first rename until the
 * log has the entry. After a crash, a later run continues from this state with the verified copy in
 * `restoring/`.
 */
const RestoreMarker = shape('RestoreMarker', {
  format: Type.Literal(1),
  backup_id: uuid('Id of the backup.'),
  from: text('Folder of the backup.'),
  entry_id: uuid('Id of the log entry that records the restore.'),
  started_at: timestamp('Start of the restore, and time of the log entry.'),
  aside: text('Name of the folder in the data folder that receives the replaced files.'),
  names: list(text('Name in the data folder.'), 'Replaced files and folders.'),
  anchor_path: text('Path of the anchor of the log.'),
  sth: optional(SignedTreeHead),
  replaced: optional(SignedTreeHead),
});
export type RestoreMarker = Static<typeof RestoreMarker>;

export async function readMarker(dataDir: string): Promise<RestoreMarker | undefined> {
  const path = join(dataDir, restoreMark);
  try {
    return validate(RestoreMarker, JSON.parse(await readFile(path, 'utf8')), 'marker');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new BackupError(
      `${path} is damaged (${(error as Error).message}): the progress of the interrupted restore is unknown`,
    );
  }
}

/**
 * Writes the marker. JSON numbers are exact for the heads in the marker: timestamps are multiples of 1024 ns,
 * which a double represents exactly.
 */
export function writeMarker(dataDir: string, marker: Omit<RestoreMarker, 'format'>): Promise<void> {
  return replaceFile(join(dataDir, restoreMark), `${JSON.stringify({ format: 1, ...marker })}\n`, {
    mode: 0o600,
  });
}
