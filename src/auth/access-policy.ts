import type { AccessRule, Policy } from '../contract/resources/policy.ts';
import type { Role } from '../contract/resources/principal.ts';
import { type OperationId, operationIds } from '../contract/routes.ts';
import type { Actor, Principal, Store, StoreReader } from '../store/store.ts';
import type { Sources } from './identities.ts';
import { defaultRules, type PolicyDefaults } from './policy/default-rules.ts';
import { FilePolicy } from './policy/file-policy.ts';
import { type KeptPolicy, readKept, readPending, writeKept } from './policy/kept-policy.ts';

/**
 * Told of the entry that a change has, or, where it ends in WORKER_LOST, will have as soon as the change is finished:
 * by then it may be another's turn.
 */
export type NoteEntry = (entryId: string) => void;

/** Who may do what. Changes are made one at a time, each with one entry in the log. */
export interface AccessPolicy {
  /** Identifier of the resource. */
  readonly id: string;
  /** As of now; nobody (an empty list) for an operation without a rule. */
  accessOf(operation: OperationId): 'public' | readonly Role[];
  /** With the reason why the file that people edit is refused, where it is. */
  readonly current: Policy;
  /**
   * Replaces all rules, and the file that people edit with them. INVALID_REQUEST that names the rule; VERSION_MISMATCH
   * (when `version` is given and isn't the policy's); CONFLICT for rules that lock everybody out, and where the file
   * cannot be written. Rules that mean the same change nothing.
   */
  replace(rules: readonly AccessRule[], by: Actor, version?: number, noteEntry?: NoteEntry): Promise<Policy>;
  /** Takes the rules of the file. CONFLICT that says what is wrong with it, or that it locks everybody out. */
  reload(by: Actor, noteEntry?: NoteEntry): Promise<Policy>;
  /** @throws CONFLICT where nobody could administer any more, were this principal so. */
  requireAdministrator(changed: Principal): void;
  /** Waits for the change under way. */
  close(): Promise<void>;
}

/** The places where a crash leaves something different behind, in order. */
export type PolicyStep = 'file-prepared' | 'pending' | 'recorded' | 'file-replaced' | 'kept' | 'settled';

export interface PolicyParts {
  readonly dataDir: string;
  /** The file that people edit; policy.json in the data folder where undefined. The first start writes the default. */
  readonly file: string | undefined;
  readonly defaults: PolicyDefaults;
  readonly reader: Pick<StoreReader, 'storedPrincipals'>;
  readonly writer: Pick<Store, 'record'>;
  readonly sources: Sources;
  /** Another policy is in effect, and its entry waits in the outbox. */
  onChange(): void;
  /** The service goes on without something that an operator should know of. */
  warn(message: string, error: unknown): void;
  /** Called when a step is done and on disk. */
  onStep?(step: PolicyStep): void;
}

/**
 * Opens the policy that is kept in the data folder. A change that a crash cut short is finished first; a file that was
 * edited meanwhile is taken as a reload by `system`, and so are the rules of operations that this program adds. The
 * very first policy, the default, is part of the initialisation and no event of the log.
 *
 * @throws Error with one clear line when the kept policy is damaged: guessing would open or close what should not be
 */
export async function openAccessPolicy(parts: PolicyParts): Promise<AccessPolicy> {
  const pending = await readPending(parts.dataDir);
  const kept = await readKept(parts.dataDir);
  const policy = new FilePolicy(parts, kept ?? (await initialise(parts)));
  await policy.start(pending);
  return policy;
}

async function initialise({ dataDir, defaults, sources }: PolicyParts): Promise<KeptPolicy> {
  const policy = {
    id: sources.newId(),
    version: 1,
    rules: defaultRules(defaults),
    loaded_at: new Date(sources.now()).toISOString(),
    operations: operationIds,
  };
  await writeKept(dataDir, policy);
  return policy;
}
