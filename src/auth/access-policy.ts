import { policyReloaded } from '../contract/critical-events.ts';
import type { AccessRule, Policy } from '../contract/resources/policy.ts';
import { type OperationId, operationIds } from '../contract/routes.ts';
import type { Role } from '../contract/vocabulary.ts';
import type { Actor, PrincipalChange, Store, StoreReader } from '../store/store.ts';
import type { Sources } from './identities.ts';
import { defaultRules, type PolicyDefaults } from './policy/default-rules.ts';
import { FilePolicy } from './policy/file-policy.ts';
import { type KeptPolicy, readKept, readPending, writeKept } from './policy/kept-policy.ts';
import type { PrincipalsReader } from './policy/lock-out.ts';

/**
 * Called with the id of the log entry of a change. After WORKER_LOST, the entry is logged when the change is
 * finished, which may be during the turn of a later change.
 */
export type NoteEntry = (entryId: string) => void;

/** The access policy. Changes are made one at a time, each with one log entry. */
export interface AccessPolicy {
  /** Identifier of the resource. */
  readonly id: string;
  /** The current access of an operation; no roles if it has no rule. */
  accessOf(operation: OperationId): 'public' | readonly Role[];
  /** Warnings about settings that the policy overrides. */
  contradictions(): string[];
  /** The policy in effect, with the reason if the editable policy file is rejected. */
  readonly current: Policy;
  /**
   * Replaces all rules and the editable policy file. Rejects with INVALID_REQUEST that names the rule;
   * VERSION_MISMATCH if `version` is given and outdated; CONFLICT for rules that lock out all administrators,
   * or if the file cannot be written; UNAVAILABLE if the disk is full or fails. Nothing is changed then.
   * Equivalent rules change nothing. Failures after the change is recorded are retried until the change is on
   * disk.
   */
  replace(rules: readonly AccessRule[], by: Actor, version?: number, noteEntry?: NoteEntry): Promise<Policy>;
  /**
   * Loads the rules of the file. Rejects with CONFLICT if the file is invalid or locks out all
   * administrators.
   */
  reload(by: Actor, noteEntry?: NoteEntry): Promise<Policy>;
  /**
   * Runs a change of a principal that may remove an administrator. It is queued with the changes of the
   * rules, so that neither is checked against a state that the other is about to change.
   *
   * @param commit - makes the change and resolves when readers see it
   * @throws CONFLICT if no administrator would remain after the change; OVERLOADED
   */
  changePrincipal<T>(
    id: string,
    change: Pick<PrincipalChange, 'roles' | 'status'>,
    commit: () => Promise<T>,
  ): Promise<T>;
  /** Waits for the change in progress. */
  close(): Promise<void>;
}

/** The steps of a change, in order. A crash after each one leaves a different state on disk. */
export type PolicyStep = 'file-prepared' | 'pending' | 'recorded' | 'file-replaced' | 'kept' | 'settled';

export interface PolicyParts {
  readonly dataDir: string;
  /**
   * The editable policy file; undefined means policy.json in the data folder. The first start writes the
   * default.
   */
  readonly file: string | undefined;
  readonly defaults: PolicyDefaults;
  readonly reader: PrincipalsReader & Pick<StoreReader, 'principal'>;
  readonly writer: Pick<Store, 'record'>;
  readonly sources: Sources;
  /** Called when a new policy is in effect and its entry is in the outbox. */
  onChange(): void;
  /** Reports a problem to the operator that does not stop the service. */
  warn(message: string, error: unknown): void;
  /** Whether the log has entries. If so, a missing policy was lost. */
  readonly isUsed?: boolean;
  /** Pause before an unfinished change is retried, in milliseconds. */
  readonly retryMs?: number;
  /** Called when a step is complete and on disk. */
  onStep?(step: PolicyStep): void;
}

/**
 * Opens the policy stored in the data folder. A change that a crash interrupted is finished first. A policy
 * file edited while the service was stopped is loaded as a reload by `system`, and so are the rules of new
 * operations. The initial default policy is part of the initialisation and is not logged. If the policy was
 * lost later, the default is restored with a warning and a log entry.
 *
 * @throws Error with a one-line message if the stored policy is damaged, because guessing could grant or deny
 * the wrong access
 */
export async function openAccessPolicy(parts: PolicyParts): Promise<AccessPolicy> {
  const pending = await readPending(parts.dataDir);
  const kept = await readKept(parts.dataDir);
  const policy = new FilePolicy(parts, kept ?? (await initialise(parts)));
  await policy.start(pending);
  return policy;
}

async function initialise(parts: PolicyParts): Promise<KeptPolicy> {
  const { dataDir, defaults, sources, isUsed = false, writer, warn } = parts;
  const policy = {
    id: sources.newId(),
    version: 1,
    rules: defaultRules(defaults),
    loaded_at: new Date(sources.now()).toISOString(),
    operations: operationIds,
    settings: defaults,
  };
  try {
    if (isUsed) await writer.record(lost(policy), sources.newId());
    await writeKept(dataDir, policy);
  } catch (error) {
    if (!isUsed) throw error;
    warn('the loss of the access policy could not be logged and repaired; the next start tries again', error);
  }
  return policy;
}

/** The difference to an empty policy, since the previous rules are unknown. */
const lost = ({ version, rules }: KeptPolicy) =>
  policyReloaded({ version, added: rules, removed: [], changed: [] }, 'system');
