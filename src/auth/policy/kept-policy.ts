import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { CriticalEvent } from '../../contract/critical-events.ts';
import type { AccessRule, Policy } from '../../contract/resources/policy.ts';
import { flushFolder, replaceFile } from '../../durable-file.ts';
import { ServiceError } from '../../errors.ts';
import { writeRefusal } from '../../write-errors.ts';
import type { PolicyDefaults } from './default-rules.ts';

/** The policy in effect, as the log knows it. Only the service writes it. */
export interface KeptPolicy extends Policy {
  /** Of the resource; the same for all its versions. */
  readonly id: string;
  /** The operations that there were: a later program gives those that it adds their default rules. */
  readonly operations: readonly string[];
  /** The settings of the last start; absent where an earlier program wrote it. */
  readonly settings?: PolicyDefaults;
}

/** A change on its way: from when it is written down, it is made, whatever happens. */
export interface PendingChange {
  /** Of the log entry. */
  readonly entry_id: string;
  readonly event: CriticalEvent;
  readonly policy: KeptPolicy;
  /** Whether the file that people edit is to be written too. */
  readonly writes_file: boolean;
  /** The rules are those of that file. */
  readonly takes_file?: boolean;
}

const inEffect = (dataDir: string) => join(dataDir, 'policy.in-effect.json');
const pending = (dataDir: string) => join(dataDir, 'policy.pending.json');
const mode = { mode: 0o600 } as const;

/** The file that people edit where the settings name no other. */
export const ownRulesFile = (dataDir: string): string => join(dataDir, 'policy.json');

/** Undefined where none was ever written. Throws one clear line when the file is damaged. */
export function readKept(dataDir: string): Promise<KeptPolicy | undefined> {
  return readOwn(inEffect(dataDir), ({ id, version, loaded_at, rules, operations }: KeptPolicy) => {
    const texts = [id, loaded_at].every((value) => typeof value === 'string');
    return texts && Number.isSafeInteger(version) && areRules(rules) && Array.isArray(operations);
  });
}

export async function writeKept(dataDir: string, policy: KeptPolicy): Promise<void> {
  await replaceFile(inEffect(dataDir), `${JSON.stringify(policy)}\n`, mode);
}

/** What a crash cut short. */
export function readPending(dataDir: string): Promise<PendingChange | undefined> {
  return readOwn(
    pending(dataDir),
    ({ entry_id, event, policy }: PendingChange) =>
      typeof entry_id === 'string' && typeof event?.kind === 'string' && areRules(policy?.rules),
  );
}

/** @throws CONFLICT where it cannot be written as things are; UNAVAILABLE where the disk is full or fails */
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

/** What a write that failed left behind, too. */
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
    // Told below, as what is JSON and no policy is.
  }
  throw new Error(`${path} is damaged: put it back from a backup`);
}
