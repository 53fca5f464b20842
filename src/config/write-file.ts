import { realpathSync, statSync } from 'node:fs';
import { replaceFile } from '../durable-file.ts';
import { ServiceError } from '../errors.ts';
import { writeRefusal } from '../write-errors.ts';
import { type ConfigFile, type ConfigText, identityOf } from './config-file.ts';

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
    const refusal = writeRefusal(error);
    if (refusal === undefined) throw error;
    const { code, reason } = refusal;
    throw new ServiceError(code, `nothing was stored: ${file.path} cannot be written (${reason})`);
  }
}
