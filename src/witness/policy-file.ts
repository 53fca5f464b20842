import { readFileSync } from 'node:fs';
import { sha256 } from '../sha256.ts';
import { PolicyError, parsePolicy } from './parse-policy.ts';
import { isQuorum, type Policy } from './policy.ts';

/**
 * The policy of a file, for a service that has its checkpoints cosigned by it.
 *
 * @throws Error with one clear line where it can't be read, is none, or has a quorum that the witnesses with an
 * address can never make: such a service would wait for ever
 */
export function loadPolicy(path: string): Policy {
  let octets: Uint8Array;
  try {
    octets = readFileSync(path);
  } catch (error) {
    throw new Error(`the policy of witnesses can not be read: ${(error as Error).message}`);
  }
  let policy: Policy;
  try {
    policy = parsePolicy(sha256, octets);
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    throw new Error(`the policy of witnesses ${path} can not be used: ${error.message}`);
  }
  const reachable = policy.witnesses.filter(({ url }) => url !== undefined);
  if (!isQuorum(policy, new Set(reachable))) {
    throw new Error(
      `the policy of witnesses ${path} can not be met: ${reachable.length} of its ${policy.witnesses.length} ` +
        'witnesses have an address, and they make no quorum',
    );
  }
  return policy;
}
