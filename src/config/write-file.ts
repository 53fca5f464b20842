import { realpath, stat } from 'node:fs/promises';
import { ServiceError } from '../errors.ts';
import { replaceFile } from '../files/durable-file.ts';
import { writeRefusal } from '../files/write-errors.ts';
import { type ConfigFile, type ConfigText, identityOf } from './config-file.ts';

/** The file in the data folder may contain secrets. A file named by CANDOR_CONFIG keeps its mode. */
const privateMode = 0o600;

class ChangedMeanwhile extends Error {}

/**
 * Replaces the file that was read. Returns false and changes nothing if the file has changed since.
 *
 * @throws CONFLICT if the file cannot be replaced as it is; UNAVAILABLE if the disk is full or fails
 */
export async function writeConfigFile(file: ConfigFile, before: ConfigText, text: string): Promise<boolean> {
  try {
    // A link is kept, and its target is replaced.
    const path = before.identity === undefined ? file.path : await realpath(file.path);
    const written = async () => {
      const found = await stat(file.path, { bigint: true }).catch(() => undefined);
      if ((found && identityOf(found)) !== before.identity) throw new ChangedMeanwhile();
    };
    const mode = file.named ? before.mode : privateMode;
    await replaceFile(path, text, { mode, exactMode: true, written });
    return true;
  } catch (error) {
    if (error instanceof ChangedMeanwhile) return false;
    const refusal = writeRefusal(error);
    if (refusal === undefined) throw error;
    const { code, reason } = refusal;
    throw new ServiceError(code, `nothing was stored: ${file.path} cannot be written (${reason})`);
  }
}
