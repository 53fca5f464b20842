import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { policyReloaded, policyRuleEdited } from '../contract/critical-events.ts';
import type { AccessRule, Policy } from '../contract/resources/policy.ts';
import { type OperationId, operationIds } from '../contract/routes.ts';
import type { Role } from '../contract/vocabulary.ts';
import { ServiceError } from '../errors.ts';
import { SerialQueue } from '../files/serial-queue.ts';
import { VolumeQueue } from '../files/volume-queue.ts';
import { limits } from '../limits.ts';
import type { Actor, Store, StoreReader } from '../store/store.ts';
import type { Sources } from './identities.ts';
import { checkRules, differenceOf, isEmpty } from './policy/access-rules.ts';
import { type AccessTable, accessTable } from './policy/access-table.ts';
import { contradictions, defaultRules, goneSince, type PolicyDefaults, startingRules } from './policy/default-rules.ts';
import { readEarlierPolicy, removeEarlierPolicy } from './policy/earlier-files.ts';
import { findRulesFile, type PreparedRules, prepareRulesFile } from './policy/rules-file.ts';
import type { PolicyChange, StoredPolicy } from './store/policy.ts';

/**
 * The steps of a change that is written to the editable file. A crash after each step leaves a different
 * state on disk.
 */
export type PolicyStep = 'file-prepared' | 'committed' | 'file-replaced' | 'noted';

export interface PolicyParts {
  readonly dataDir: string;
  /**
   * Path of the editable policy file; undefined means policy.json in the data folder. The first start writes
   * the default policy.
   */
  readonly file: string | undefined;
  readonly defaults: PolicyDefaults;
  readonly reader: Pick<StoreReader, 'storedPolicy'>;
  readonly writer: Pick<Store, 'changePolicy'>;
  readonly sources: Sources;
  /** Called when a change of the rules is in effect, except during `openAccessPolicy`. */
  onChange(): void;
  /** Reports a problem to the operator that does not stop the service. */
  warn(message: string, error?: unknown): void;
  /** Whether the log has entries, in which case a missing policy was lost. */
  readonly isUsed?: boolean;
  /** Runs the work on the editable file, whose volume may stop responding. */
  readonly volume?: VolumeQueue;
  /** Called when a step is complete and on disk. */
  onStep?(step: PolicyStep): void;
}

const system: Actor = { id: 'system', name: 'system' };
const noRoles: readonly Role[] = [];

/** Use of the editable file in a change: the file is replaced, supplies the rules, or is left unchanged. */
type FileUse = 'written' | 'taken' | 'left';

/**
 * Opens the policy stored in siem.mdb, or moves it there from the files of earlier versions of the program. If the
 * policy file was edited while the service was stopped, or if there are new operations, the changed rules take effect
 * and are logged as a reload by `system`. The initial default policy is part of the initialisation and is not logged.
 * If the policy was lost later, the default is restored with a warning and a log entry.
 *
 * @throws Error with a one-line message if the stored policy is damaged, because guessing could grant or deny
 * the wrong access
 */
export async function openAccessPolicy(parts: PolicyParts): Promise<AccessPolicy> {
  const stored = parts.reader.storedPolicy();
  const { volume = new VolumeQueue('the access policy file') } = parts;
  const initial = stored === undefined ? await initialPolicy(parts, volume) : undefined;
  const policy = new AccessPolicy({ ...parts, volume }, stored ?? initial!.policy, initial);
  await policy.start();
  return policy;
}

async function initialPolicy(parts: PolicyParts, volume: VolumeQueue): Promise<PolicyChange> {
  const { dataDir, defaults, sources, isUsed = false, warn } = parts;
  const earlier = await readEarlierPolicy(dataDir, () => volume.run(() => findRulesFile(fileOf(parts))));
  if (earlier !== undefined) return earlier;
  const policy: StoredPolicy = {
    id: sources.newId(),
    version: 1,
    rules: defaultRules(defaults),
    loaded_at: new Date(sources.now()).toISOString(),
    operations: operationIds,
    settings: defaults,
  };
  if (!isUsed) return { policy };
  warn('the access policy was lost; it is replaced by the rules in policy.file, or by the default policy');
  // Logs the difference to an empty policy, because the previous rules are unknown.
  const { version, rules } = policy;
  return { policy, event: policyReloaded({ version, added: rules, removed: [], changed: [] }, 'system') };
}

const fileOf = ({ dataDir, file }: PolicyParts): string => file ?? join(dataDir, 'policy.json');

/**
 * The access policy: the rules in memory, in siem.mdb, and in a file that people read and edit. Changes are made one
 * at a time. A change over the API has these steps:
 *
 * ```
 *   prepare the file ─► commit rules and log entry ─► in effect ─► replace the file ─► note that it is replaced
 *   └─── a failure here changes nothing ──┘                        └──── a failure here is logged ────┘
 * ```
 *
 * The committed row contains the SHA-256 of the file content that the rules have yet to replace (`overwrites`). A start
 * and a reload read the file: if it still has this content, the file is replaced; if it has other content, a person
 * edited the file, and its rules are loaded. Therefore a crash means:
 *
 * - Before the commit: nothing was changed. A prepared `.next` file is overwritten by the next change.
 * - After the commit: the change is made and logged. The next start replaces the file.
 * - After the file is replaced: the file has the rules in effect, so the next start only removes `overwrites`.
 *
 * If a crash prevents the last step, an edit that restores the exact old content is mistaken for a file that was not
 * replaced yet.
 *
 * A reload commits the rules of the file with their log entry; a crash before the commit changes nothing.
 */
export class AccessPolicy {
  readonly #parts: PolicyParts;
  readonly #file: string;
  readonly #volume: VolumeQueue;
  #stored: StoredPolicy;
  #table: AccessTable;
  /** The initial policy while it is not in siem.mdb. It is stored before any other change. */
  #initial: PolicyChange | undefined;
  /** The reason why the editable policy file is not in effect; undefined if it is in effect. */
  #fileRefused: string | undefined;
  readonly #queue = new SerialQueue();
  #waiting = 0;
  #isOpen = false;

  constructor(
    parts: PolicyParts & { readonly volume: VolumeQueue },
    policy: StoredPolicy,
    initial: PolicyChange | undefined,
  ) {
    this.#parts = parts;
    this.#file = fileOf(parts);
    this.#volume = parts.volume;
    this.#stored = policy;
    this.#table = accessTable(policy.rules);
    this.#initial = initial;
  }

  /** Id of the policy resource. */
  get id(): string {
    return this.#stored.id;
  }

  /** The policy in effect, with the reason if the editable policy file is rejected. */
  get current(): Policy {
    const { version, rules, loaded_at } = this.#stored;
    const file_refused = this.#fileRefused;
    return { version, rules, loaded_at, ...(file_refused === undefined ? {} : { file_refused }) };
  }

  /** Returns the current access of an operation; no roles if the operation has no rule. */
  accessOf(operation: OperationId): 'public' | readonly Role[] {
    return this.#table.get(operation) ?? noRoles;
  }

  /** Returns warnings about settings that the policy overrides. */
  contradictions(): string[] {
    return contradictions((operation) => this.accessOf(operation), this.#parts.defaults);
  }

  /**
   * Replaces all rules and the editable policy file. Equivalent rules change nothing. Rejects, without a
   * change, with INVALID_REQUEST that names the invalid rule; VERSION_MISMATCH if `version` is given and
   * outdated; CONFLICT for rules that lock out all administrators, or if the file cannot be written;
   * UNAVAILABLE if the disk is full or fails.
   */
  replace(rules: readonly AccessRule[], by: Actor, version?: number): Promise<Policy> {
    return this.#inTurn(async () => {
      const { version: now } = this.#stored;
      if (version !== undefined && version !== now)
        throw new ServiceError('VERSION_MISMATCH', `the policy has version ${now}, not ${version}`, {
          version: now,
        });
      await this.#change(checkRules(rules), by, policyRuleEdited, 'written');
      return this.current;
    });
  }

  /**
   * Loads the rules of the file, or writes the file if it is missing and not configured, or not replaced yet. Rejects
   * with CONFLICT if the file is invalid or would lock out all administrators, and with UNAVAILABLE if the volume of
   * the file does not respond.
   */
  reload(by: Actor): Promise<Policy> {
    return this.#inTurn(async () => {
      try {
        const rules = await this.#readFile();
        await this.#change(rules ?? this.#stored.rules, by, policyReloaded, rules ? 'taken' : 'written');
      } catch (error) {
        if (isOfTheFile(error)) this.#fileRefused = refusalOf(error);
        throw error;
      }
      return this.current;
    });
  }

  /** Waits for the changes in progress and in the queue. */
  async close(): Promise<void> {
    await this.#queue.idle();
  }

  /**
   * Loads the editable file at the start. An unusable file does not prevent the start: the policy in effect
   * remains, with a warning.
   */
  async start(): Promise<void> {
    const { dataDir, isUsed = false, warn } = this.#parts;
    try {
      await this.#storeInitial();
      await this.#loadAtStart();
    } catch (error) {
      // An error, such as a full disk, prevents only the first start.
      if (this.#initial !== undefined && !isUsed) throw error;
      this.#fileRefused = refusalOf(error);
      warn('the access policy is unchanged', error);
    }
    if (this.#initial === undefined) await removeEarlierPolicy(dataDir).catch((error) => warn(notRemoved, error));
    this.#isOpen = true;
  }

  async #storeInitial(): Promise<void> {
    if (this.#initial === undefined) return;
    await this.#commit(this.#initial, system);
    this.#initial = undefined;
  }

  async #loadAtStart(): Promise<void> {
    const { file: named, defaults, warn } = this.#parts;
    const before = this.#stored;
    let found: readonly AccessRule[] | undefined;
    let use: FileUse = 'written';
    try {
      found = await this.#readFile();
    } catch (error) {
      this.#fileRefused = refusalOf(error);
      warn('the access policy is unchanged: its file cannot be used', error);
      use = 'left';
    }
    // A configured file is authoritative: operations without a rule in the file get no default rule.
    const authoritative = named === undefined ? undefined : found;
    const wanted = authoritative ?? startingRules(found ?? before.rules, before, defaults);
    const isWanted = found !== undefined && goneSince(before).size === 0 && isEmpty(differenceOf(found, wanted));
    if (authoritative !== undefined || isWanted) use = 'taken';
    await this.#change(wanted, system, policyReloaded, use, { ...before, settings: defaults });
  }

  /**
   * Returns the rules of the file, except rules of operations that no longer exist; undefined if the file
   * must be written.
   */
  async #readFile(): Promise<readonly AccessRule[] | undefined> {
    const found = await this.#volume.run(() => findRulesFile(this.#file));
    if (found.sha256 === this.#stored.overwrites) return undefined;
    const rules = found.rules(goneSince(this.#stored));
    // A missing configured file is created only at a start with the initial default policy; later it is an
    // error.
    const mayCreate = this.#parts.file === undefined || (!this.#isOpen && this.#stored.version === 1);
    if (rules === undefined && !mayCreate) throw missing();
    return rules;
  }

  /** Runs work after all earlier work. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= limits.maxQueuedPolicyChanges)
      return Promise.reject(
        new ServiceError('OVERLOADED', 'too many changes of the access policy are waiting', {
          reason: 'policy_changes_wait',
        }),
      );
    this.#waiting++;
    return this.#queue.run(async () => {
      this.#waiting--;
      await this.#storeInitial();
      return work();
    });
  }

  /** @param base - the policy without the new rules */
  async #change(
    rules: readonly AccessRule[],
    by: Actor,
    eventOf: typeof policyReloaded | typeof policyRuleEdited,
    use: FileUse,
    base: StoredPolicy = this.#stored,
  ): Promise<void> {
    const { sources, onStep } = this.#parts;
    const diff = differenceOf(this.#stored.rules, rules);
    const isSame = isEmpty(diff);
    const prepared = use === 'written' ? await this.#volume.run(() => prepareRulesFile(this.#file, rules)) : undefined;
    onStep?.('file-prepared');
    const { overwrites: earlier, version, ...rest } = base;
    const overwrites = use === 'taken' ? undefined : isSame ? earlier : prepared?.overwrites;
    const policy: StoredPolicy = {
      ...rest,
      version: isSame ? version : version + 1,
      ...(isSame ? {} : { rules: [...rules], loaded_at: new Date(sources.now()).toISOString() }),
      operations: operationIds,
      ...(overwrites === undefined ? {} : { overwrites }),
    };
    const event = isSame ? {} : { event: eventOf({ version: policy.version, ...diff }, by.id) };
    try {
      if (!isDeepStrictEqual(policy, this.#stored)) await this.#commit({ policy, ...event }, by);
    } catch (error) {
      await prepared?.discard();
      throw error;
    }
    onStep?.('committed');
    if (use === 'taken') this.#fileRefused = undefined;
    if (prepared !== undefined) await this.#replaceFile(prepared);
  }

  /**
   * Commits a change. If the store thread was lost, the change may have been made: changes are made one at a
   * time, so a stored policy that equals the change is its result.
   */
  async #commit(change: PolicyChange, by: Actor): Promise<void> {
    const { reader, writer, onChange } = this.#parts;
    try {
      await writer.changePolicy(change, by);
    } catch (error) {
      if (!isDeepStrictEqual(reader.storedPolicy(), change.policy)) throw error;
    }
    this.#stored = change.policy;
    this.#table = accessTable(change.policy.rules);
    if (change.event !== undefined && this.#isOpen) onChange();
  }

  /** Replaces the file. The change is already committed, so a failure does not undo it. */
  async #replaceFile(prepared: PreparedRules): Promise<void> {
    const { warn, onStep } = this.#parts;
    try {
      await this.#volume.run(() => prepared.replace());
      this.#fileRefused = undefined;
      onStep?.('file-replaced');
    } catch (error) {
      this.#fileRefused = notReplaced;
      warn(notReplaced, error);
      return;
    }
    const { overwrites, ...policy } = this.#stored;
    try {
      if (overwrites !== undefined) await this.#commit({ policy }, system);
      onStep?.('noted');
    } catch (error) {
      warn('the access policy file was replaced, but this could not be recorded yet', error);
    }
  }
}

/** Returns whether the file caused the error, as opposed to a full disk or a lost thread. */
const isOfTheFile = (error: unknown): boolean => !(error instanceof ServiceError) || error.code === 'CONFLICT';

const notReplaced = 'the access policy file could not be replaced; the next start or reload replaces it';
const notRemoved = 'the files in which earlier versions stored the access policy could not be removed';

/** Returns a message for administrators. The details of unexpected errors are only logged. */
const refusalOf = (error: unknown): string =>
  error instanceof ServiceError ? error.message : 'the access policy could not be loaded; see the log of the service';

const missing = () =>
  new ServiceError('CONFLICT', 'the access policy file does not exist', { reason: 'does not exist' });
