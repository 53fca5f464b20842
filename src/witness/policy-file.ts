import { limits } from '../limits.ts';
import { readFile, UnreadableFile } from '../read-file.ts';
import { sha256 } from '../sha256.ts';
import { PolicyError, parsePolicy } from './parse-policy.ts';
import { isQuorum, type Policy } from './policy.ts';

/**
 * A policy that a service can't use. The message may show some of the file, for whoever may read the file; `place`
 * says the same without: line and kind of the fault.
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
 * The policy of a file, for a service that has its checkpoints cosigned by it.
 *
 * @throws PolicyFileError with one clear line where it can't be read, is none, or has a quorum that the witnesses with
 * an address can never make: such a service would wait for ever
 */
export function loadPolicy(path: string): Policy {
  const policy = readPolicy(path);
  const reachable = policy.witnesses.filter(({ url }) => url !== undefined);
  if (!isQuorum(policy, new Set(reachable))) {
    throw new PolicyFileError(
      `the policy of witnesses ${path} can not be met: ${reachable.length} of its ${policy.witnesses.length} ` +
        'witnesses have an address, and they make no quorum',
    );
  }
  return policy;
}

function readPolicy(path: string): Policy {
  try {
    return parsePolicy(sha256, readFile(path, limits.maxPolicyBytes).bytes);
  } catch (error) {
    if (error instanceof UnreadableFile)
      throw new PolicyFileError(`the policy of witnesses ${path} can not be read: ${error.message}`);
    if (!(error instanceof PolicyError)) throw error;
    const unusable = `the policy of witnesses ${path} can not be used`;
    throw new PolicyFileError(`${unusable}: ${error.message}`, `${unusable}: ${error.place}`);
  }
}
