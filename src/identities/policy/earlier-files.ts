import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { CriticalEvent } from '../../contract/critical-events.ts';
import type { PolicyChange, StoredPolicy } from '../store/policy.ts';
import type { FoundFile } from './rules-file.ts';

/**
 * A change in progress, in `policy.pending.json`. Earlier versions completed a change once it was in this
 * file, even after a crash.
 */
interface PendingChange {
  readonly entry_id: string;
  readonly event: CriticalEvent;
  readonly policy: StoredPolicy;
  /** Whether the change also had to write the editable policy file. */
  readonly writes_file: boolean;
}

const inEffect = 'policy.in-effect.json';
const pending = 'policy.pending.json';

/**
 * Reads the policy from the files of earlier versions of the program, and returns the change that stores it
 * in siem.mdb. A change that a crash interrupted is completed; its entry may already be in the outbox or in
 * the log.
 *
 * @param findFile - reads the editable policy file
 * @returns undefined if there are no such files
 * @throws Error with a one-line message if a file is damaged
 */
export async function readEarlierPolicy(
  dataDir: string,
  findFile: () => Promise<FoundFile>,
): Promise<PolicyChange | undefined> {
  const policy = await readOwn(join(dataDir, inEffect), isPolicy);
  const change = await readOwn(
    join(dataDir, pending),
    ({ entry_id, event, policy }: PendingChange) =>
      typeof entry_id === 'string' && typeof event?.kind === 'string' && isPolicy(policy),
  );
  if (change === undefined || change.policy.version <= (policy?.version ?? 0)) return policy && { policy };
  const overwrites = change.writes_file ? { overwrites: (await findFile()).sha256 } : {};
  return { policy: { ...change.policy, ...overwrites }, event: change.event, entryId: change.entry_id };
}

/** Removes the files of earlier versions. Must be called after the policy was stored in siem.mdb. */
export async function removeEarlierPolicy(dataDir: string): Promise<void> {
  for (const name of [pending, inEffect])
    for (const path of [join(dataDir, `${name}.new`), join(dataDir, name)]) await rm(path, { force: true });
}

const isPolicy = (policy: StoredPolicy | undefined): boolean =>
  typeof policy?.id === 'string' &&
  typeof policy.loaded_at === 'string' &&
  Number.isSafeInteger(policy.version) &&
  Array.isArray(policy.operations) &&
  Array.isArray(policy.rules) &&
  policy.rules.every((rule) => typeof rule?.operation === 'string' && Array.isArray(rule.roles));

async function readOwn<T>(path: string, isWhole: (value: T) => boolean): Promise<T | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`);
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && isWhole(value as T)) return value as T;
  } catch {
    // Invalid JSON is reported below, in the same way as JSON that is not a policy.
  }
  throw new Error(`${path} is damaged: restore it from a backup`);
}
