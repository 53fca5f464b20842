import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { CriticalEvent } from '../../contract/critical-events.ts';
import type { AccessRule, Policy } from '../../contract/resources/policy.ts';
import { flushFolder, replaceFile } from '../../durable-file.ts';
import { ServiceError } from '../../errors.ts';
import { writeRefusal } from '../../write-errors.ts';
import type { PolicyDefaults } from './default-rules.ts';

/** The stored policy in effect, which matches the log. Only the service writes it. */
export interface KeptPolicy extends Policy {
  /** Identifier of the resource, the same for all versions. */
  readonly id: string;
  /** The operations that existed. A later version of the program adds default rules for new operations. */
  readonly operations: readonly string[];
  /** The settings at the last start; absent if an earlier version of the program wrote the policy. */
  readonly settings?: PolicyDefaults;
}

/** A pending change. Once it is on disk, it will be completed, even after a crash. */
export interface PendingChange {
  /** Identifier of the log entry. */
  readonly entry_id: string;
  readonly event: CriticalEvent;
  readonly policy: KeptPolicy;
  /** Whether to write the editable policy file too. */
  readonly writes_file: boolean;
  /** Whether the rules come from that file. */
  readonly takes_file?: boolean;
}

const inEffect = (dataDir: string) => join(dataDir, 'policy.in-effect.json');
const pending = (dataDir: string) => join(dataDir, 'policy.pending.json');
const mode = { mode: 0o600 } as const;

/** The editable policy file unless the settings name another one. */
export const ownRulesFile = (dataDir: string): string => join(dataDir, 'policy.json');

/**
 * Reads the stored policy; undefined if none was ever written. Throws an Error with a one-line message if the
 * file is damaged.
 */
export function readKept(dataDir: string): Promise<KeptPolicy | undefined> {
  return readOwn(inEffect(dataDir), ({ id, version, loaded_at, rules, operations }: KeptPolicy) => {
    const texts = [id, loaded_at].every((value) => typeof value === 'string');
    return texts && Number.isSafeInteger(version) && areRules(rules) && Array.isArray(operations);
  });
}

export async function writeKept(dataDir: string, policy: KeptPolicy): Promise<void> {
  await replaceFile(inEffect(dataDir), `${JSON.stringify(policy)}\n`, mode);
}

/** Reads the change that a crash interrupted, if any. */
export function readPending(dataDir: string): Promise<PendingChange | undefined> {
  return readOwn(
    pending(dataDir),
    ({ entry_id, event, policy }: PendingChange) =>
      typeof entry_id === 'string' && typeof event?.kind === 'string' && areRules(policy?.rules),
  );
}

/** @throws CONFLICT if the file cannot be written; UNAVAILABLE if the disk is full or fails */
export async function writePending(dataDir: string, change: PendingChange): Promise<void> {
  try {
    await replaceFile(pending(dataDir), `${JSON.stringify(change)}\n`, mode);
  } catch (error) {
    const refusal = writeRefusal(error);
    if (refusal === undefined) throw error;
    const { code, reason } = refusal;
    throw new ServiceError(code, `the access policy cannot be written (${reason})`, { reason });
  }
}

/** Also removes the remains of a failed write. */
export async function removePending(dataDir: string): Promise<void> {
  await rm(`${pending(dataDir)}.new`, { force: true });
  await rm(pending(dataDir), { force: true });
  await flushFolder(dataDir);
}

const areRules = (rules: readonly AccessRule[] | undefined): boolean =>
  Array.isArray(rules) &&
  rules.every((rule) => typeof rule?.operation === 'string' && Array.isArray(rule.roles));

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
    // Reported below, like JSON that is not a policy.
  }
  throw new Error(`${path} is damaged: restore it from a backup`);
}
