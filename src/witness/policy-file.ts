import { sha256 } from '../crypto/sha256.ts';
import { readFileLater, UnreadableFile } from '../files/read-file.ts';
import { limits } from '../limits.ts';
import { PolicyError, parsePolicy } from './parse-policy.ts';
import { isQuorum, type Policy } from './policy.ts';

/**
 * A policy file that the service can't use. The message may quote the file, for readers with access to it; `place` has
 * only the line and kind of the fault.
 */
export class PolicyFileError extends Error {
  override readonly name = 'PolicyFileError';
  readonly place: string;

  constructor(message: string, place = message) {
    super(message);
    this.place = place;
  }
}

/**
 * Loads a policy for the cosigner of a service.
 *
 * @throws PolicyFileError if the file can't be read or is not a valid policy, or if the witnesses with a URL can't meet
 * its quorum, because the service would wait forever
 */
export async function loadPolicy(path: string): Promise<Policy> {
  const policy = await readPolicy(path);
  const reachable = policy.witnesses.filter(({ url }) => url !== undefined);
  if (!isQuorum(policy, new Set(reachable))) {
    throw new PolicyFileError(
      `witness policy ${path}: its quorum cannot be met, because only ${reachable.length} of its ${policy.witnesses.length} ` +
        'witnesses have a URL',
    );
  }
  return policy;
}

async function readPolicy(path: string): Promise<Policy> {
  try {
    return parsePolicy(sha256, (await readFileLater(path, limits.maxPolicyBytes)).bytes);
  } catch (error) {
    if (error instanceof UnreadableFile)
      throw new PolicyFileError(`witness policy ${path} cannot be read: ${error.message}`);
    if (!(error instanceof PolicyError)) throw error;
    const unusable = `witness policy ${path} is not valid`;
    throw new PolicyFileError(`${unusable}: ${error.message}`, `${unusable}: ${error.place}`);
  }
}
