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
  /** Sentences about settings that the policy, which decides, does not follow. */
  contradictions(): string[];
  /** With the reason why the file that people edit is refused, where it is. */
  readonly current: Policy;
  /**
   * Replaces all rules, and the file that people edit with them. INVALID_REQUEST that names the rule; VERSION_MISMATCH
   * (when `version` is given and isn't the policy's); CONFLICT for rules that lock everybody out, and where the file
   * cannot be written as things are; UNAVAILABLE where the disk is full or fails. Then nothing is changed. Rules that
   * mean the same change nothing. What fails once the change is recorded is tried again until it is on disk.
   */
  replace(rules: readonly AccessRule[], by: Actor, version?: number, noteEntry?: NoteEntry): Promise<Policy>;
  /** Takes the rules of the file. CONFLICT that says what is wrong with it, or that it locks everybody out. */
  reload(by: Actor, noteEntry?: NoteEntry): Promise<Policy>;
  /**
   * Runs a change of a principal that may take somebody away. It has a turn among the changes of the rules, so that
   * neither is judged by what the other is about to change.
   *
   * @param commit - makes the change and resolves when it can be read
   * @throws CONFLICT where nobody could administer any more, were the principal so; OVERLOADED
   */
  changePrincipal<T>(
    id: string,
    change: Pick<PrincipalChange, 'roles' | 'status'>,
    commit: () => Promise<T>,
  ): Promise<T>;
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
  readonly reader: PrincipalsReader & Pick<StoreReader, 'principal'>;
  readonly writer: Pick<Store, 'record'>;
  readonly sources: Sources;
  /** Another policy is in effect, and its entry waits in the outbox. */
  onChange(): void;
  /** The service goes on without something that an operator should know of. */
  warn(message: string, error: unknown): void;
  /** Whether the log has entries: then a policy that is not there was lost. */
  readonly isUsed?: boolean;
  /** Pause before a change that could not be finished is tried again. */
  readonly retryMs?: number;
  /** Called when a step is done and on disk. */
  onStep?(step: PolicyStep): void;
}

/**
 * Opens the policy that is kept in the data folder. A change that a crash cut short is finished first; a file that was
 * edited meanwhile is taken as a reload by `system`, and so are the rules of operations that this program adds. The
 * very first policy, the default, is part of the initialisation and no event of the log; where the policy was lost later,
 * the default is back with a warning and an entry.
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
    warn(
      'the loss of the access policy cannot be logged and repaired yet: the next start tries again',
      error,
    );
  }
  return policy;
}

/** Against no rules, since those before are not known. */
const lost = ({ version, rules }: KeptPolicy) =>
  policyReloaded({ version, added: rules, removed: [], changed: [] }, 'system');
