import { realpathSync, statSync } from 'node:fs';
import { replaceFile } from '../durable-file.ts';
import { type ErrorCode, ServiceError } from '../errors.ts';
import { type ConfigFile, type ConfigText, identityOf } from './config-file.ts';

/** What the operating system says of a file that cannot be replaced; anything else is a bug. */
const writeErrors: Readonly<Record<string, ErrorCode>> = {
  EROFS: 'CONFLICT',
  EACCES: 'CONFLICT',
  EPERM: 'CONFLICT',
  // A file that is mounted by itself cannot be replaced.
  EBUSY: 'CONFLICT',
  EXDEV: 'CONFLICT',
  EISDIR: 'CONFLICT',
  ENOENT: 'CONFLICT',
  ENOTDIR: 'CONFLICT',
  ENAMETOOLONG: 'CONFLICT',
  ELOOP: 'CONFLICT',
  ENOSPC: 'UNAVAILABLE',
  EDQUOT: 'UNAVAILABLE',
  EFBIG: 'UNAVAILABLE',
  EIO: 'UNAVAILABLE',
  EMFILE: 'UNAVAILABLE',
  ENFILE: 'UNAVAILABLE',
};

/** The file in the data folder may come to hold secrets. One that CANDOR_CONFIG names keeps the mode that it has. */
const privateMode = 0o600;

class ChangedMeanwhile extends Error {}

/**
 * Replaces the file that was read. False where somebody changed it since: then it is as they left it.
 *
 * @throws CONFLICT where it cannot be replaced as things are; UNAVAILABLE where the disk is full or fails.
 */
export async function writeConfigFile(file: ConfigFile, before: ConfigText, text: string): Promise<boolean> {
  try {
    // A link stays one: what it points to is replaced.
    const path = before.identity === undefined ? file.path : realpathSync(file.path);
    const written = () => {
      const stat = statSync(file.path, { bigint: true, throwIfNoEntry: false });
      if ((stat && identityOf(stat)) !== before.identity) throw new ChangedMeanwhile();
    };
    const mode = file.named ? before.mode : privateMode;
    await replaceFile(path, text, { mode, exactMode: true, written });
    return true;
  } catch (error) {
    if (error instanceof ChangedMeanwhile) return false;
    const { code = '' } = error as NodeJS.ErrnoException;
    const answer = writeErrors[code];
    if (answer === undefined) throw error;
    throw new ServiceError(answer, `nothing was stored: ${file.path} cannot be written (${code})`);
  }
}
