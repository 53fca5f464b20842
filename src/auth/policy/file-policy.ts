import { isDeepStrictEqual } from 'node:util';
import { policyReloaded, policyRuleEdited } from '../../contract/critical-events.ts';
import type { AccessRule, Policy } from '../../contract/resources/policy.ts';
import { type OperationId, operationIds } from '../../contract/routes.ts';
import type { Role } from '../../contract/vocabulary.ts';
import { ServiceError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { Actor, PrincipalChange } from '../../store/store.ts';
import type { AccessPolicy, NoteEntry, PolicyParts } from '../access-policy.ts';
import { type AccessTable, accessTable, checkRules } from './check-rules.ts';
import { contradictions } from './default-rules.ts';
import { differenceOf, isEmpty } from './difference.ts';
import {
  type KeptPolicy,
  ownRulesFile,
  type PendingChange,
  removePending,
  writeKept,
  writePending,
} from './kept-policy.ts';
import { requireAdministrator } from './lock-out.ts';
import { type PreparedRules, prepareRulesFile, readRulesFile } from './rules-file.ts';
import { startingRules } from './starting-rules.ts';

const system: Actor = { id: 'system', name: 'system' };
const noRoles: readonly Role[] = [];

/**
 * Milliseconds between attempts to finish a change. A lost thread has restarted by then; a full disk may take
 * longer.
 */
const usualRetryMs = 5000;

/**
 * Role of the editable policy file in a change: it is written, it supplies the rules, or it is left
 * unchanged.
 */
type FileUse = 'written' | 'taken' | 'left';

/**
 * Owns the policy in memory and its files in the data folder. The steps of a change are:
 *
 * ```
 *   prepare the file ─► policy.pending.json ─► outbox ─► in effect ─► file ─► policy.in-effect.json ─► settled
 *   └──────── a failure here changes nothing ─────────┘ └──────── a failure here is logged and retried ────────┘
 * ```
 *
 * If it is unknown whether the change was recorded (the thread was lost), it is recorded again with the same id.
 */
export class FilePolicy implements AccessPolicy {
  readonly #parts: PolicyParts;
  readonly #file: string;
  #kept: KeptPolicy;
  #table: AccessTable;
  /** Version in the stored policy on disk. */
  #written: number;
  /** An unfinished change, which must be finished before any other change. */
  #unsettled: PendingChange | undefined;
  #retry: NodeJS.Timeout | undefined;
  /** Why the editable policy file is not in effect. */
  #fileRefused: string | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #closed = false;

  constructor(parts: PolicyParts, kept: KeptPolicy) {
    this.#parts = parts;
    this.#file = parts.file ?? ownRulesFile(parts.dataDir);
    this.#kept = kept;
    this.#written = kept.version;
    this.#table = accessTable(kept.rules);
  }

  get id(): string {
    return this.#kept.id;
  }

  get current(): Policy {
    const { version, rules, loaded_at } = this.#kept;
    const file_refused = this.#fileRefused;
    return { version, rules, loaded_at, ...(file_refused === undefined ? {} : { file_refused }) };
  }

  accessOf(operation: OperationId): 'public' | readonly Role[] {
    return this.#table.get(operation) ?? noRoles;
  }

  contradictions(): string[] {
    return contradictions((operation) => this.accessOf(operation), this.#parts.defaults);
  }

  replace(rules: readonly AccessRule[], by: Actor, version?: number, noteEntry?: NoteEntry): Promise<Policy> {
    return this.#inTurn(async () => {
      const { version: now } = this.#kept;
      if (version !== undefined && version !== now)
        throw new ServiceError('VERSION_MISMATCH', `the policy has version ${now}, not ${version}`, {
          version: now,
        });
      await this.#change(checkRules(rules), by, policyRuleEdited, 'written', noteEntry);
      return this.current;
    });
  }

  reload(by: Actor, noteEntry?: NoteEntry): Promise<Policy> {
    return this.#inTurn(async () => {
      try {
        await this.#takeFile(by, noteEntry);
        this.#fileRefused = undefined;
      } catch (error) {
        if (isOfTheFile(error)) this.#fileRefused = refusalOf(error);
        throw error;
      }
      return this.current;
    });
  }

  async #takeFile(by: Actor, noteEntry: NoteEntry | undefined): Promise<void> {
    const rules = readRulesFile(this.#file);
    if (rules !== undefined) return this.#change(rules, by, policyReloaded, 'taken', noteEntry);
    if (this.#parts.file !== undefined) throw missing();
    await this.#writeFile();
  }

  changePrincipal<T>(
    id: string,
    { roles, status }: Pick<PrincipalChange, 'roles' | 'status'>,
    commit: () => Promise<T>,
  ): Promise<T> {
    const { reader } = this.#parts;
    return this.#inTurn(async () => {
      const known = reader.principal(id);
      if (known?.status === 'active') {
        const changed = { ...known, roles: roles ?? known.roles, status: status ?? known.status };
        await requireAdministrator(this.#kept.rules, reader, changed);
      }
      return commit();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    await this.#turn;
  }

  /**
   * Loads the editable file at the start. An unusable file does not prevent the start: the policy in effect
   * is kept, with a warning.
   */
  async start(pending: PendingChange | undefined): Promise<void> {
    const { warn } = this.#parts;
    if (pending !== undefined) {
      this.#unsettled = pending;
      try {
        await this.#settle(pending);
      } catch (error) {
        warn('an interrupted change of the access policy cannot be finished yet', error);
      }
      if (this.#unsettled !== undefined) return this.#retryLater();
    }
    const before = this.#kept;
    try {
      await this.#startFrom(this.#fileAtStart());
      const isSame = isDeepStrictEqual(before.settings, this.#kept.settings);
      if (!isSame || this.#kept.operations.join() !== operationIds.join()) await this.#keep(this.#kept);
    } catch (error) {
      // The next start will apply the settings.
      if (this.#kept.version === before.version && this.#unsettled === undefined) this.#kept = before;
      this.#fileRefused = refusalOf(error);
      warn('the access policy is unchanged', error);
    }
    if (this.#unsettled !== undefined) this.#retryLater();
  }

  /** Returns the rules of the file without those of operations that no longer exist. */
  #fileAtStart(): readonly AccessRule[] | 'unusable' | undefined {
    try {
      const rules = readRulesFile(this.#file, goneSince(this.#kept));
      // While the initial default is in effect, a missing configured file is created; later it is an error.
      if (rules === undefined && this.#parts.file !== undefined && this.#kept.version > 1) throw missing();
      return rules;
    } catch (error) {
      this.#fileRefused = refusalOf(error);
      this.#parts.warn('the access policy is unchanged: its file cannot be used', error);
      return 'unusable';
    }
  }

  async #startFrom(file: readonly AccessRule[] | 'unusable' | undefined): Promise<void> {
    const { file: named, defaults } = this.#parts;
    const rules = file === undefined || file === 'unusable' ? undefined : file;
    // A configured file is authoritative: operations without a rule in it have no default rule.
    const wanted =
      rules !== undefined && named !== undefined
        ? rules
        : startingRules(rules ?? this.#kept.rules, this.#kept, defaults);
    const isAsWanted =
      rules !== undefined && goneSince(this.#kept).size === 0 && isEmpty(differenceOf(rules, wanted));
    this.#kept = { ...this.#kept, settings: defaults };
    const writesFile = (named === undefined || file === undefined) && file !== 'unusable' && !isAsWanted;
    await this.#change(wanted, system, policyReloaded, writesFile ? 'written' : 'left');
  }

  /** Runs work after all earlier work. After the start, all changes go through this queue. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= limits.maxQueuedPolicyChanges)
      return Promise.reject(
        new ServiceError(
          'OVERLOADED',
          'too many changes of the access policy and of principals are waiting',
          {
            reason: 'policy_changes_wait',
          },
        ),
      );
    this.#waiting++;
    const turn = this.#turn.then(async () => {
      this.#waiting--;
      const { version } = this.#kept;
      try {
        if (this.#unsettled !== undefined) await this.#settle(this.#unsettled);
        return await work();
      } finally {
        if (this.#kept.version !== version) this.#parts.onChange();
        if (this.#unsettled !== undefined) this.#retryLater();
      }
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  #retryLater(): void {
    if (this.#closed || this.#retry !== undefined) return;
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#inTurn(async () => undefined).catch((error: unknown) =>
        this.#parts.warn('a change of the access policy cannot be finished yet', error),
      );
    }, this.#parts.retryMs ?? usualRetryMs).unref();
  }

  async #change(
    rules: readonly AccessRule[],
    by: Actor,
    event: typeof policyReloaded | typeof policyRuleEdited,
    fileUse: FileUse,
    noteEntry?: NoteEntry,
  ): Promise<void> {
    const { sources, reader, onStep } = this.#parts;
    const diff = differenceOf(this.#kept.rules, rules);
    if (isEmpty(diff)) return fileUse === 'written' ? this.#writeFile() : undefined;
    this.#requireSettled();
    await requireAdministrator(rules, reader);
    const version = this.#kept.version + 1;
    const prepared = fileUse === 'written' ? await prepareRulesFile(this.#file, rules) : undefined;
    onStep?.('file-prepared');
    const change: PendingChange = {
      entry_id: sources.newId(),
      event: event({ version, ...diff }, by.id),
      policy: {
        ...this.#kept,
        version,
        rules: [...rules],
        loaded_at: new Date(sources.now()).toISOString(),
        operations: operationIds,
      },
      writes_file: fileUse === 'written',
      takes_file: fileUse === 'taken',
    };
    await this.#record(change, prepared, noteEntry);
    noteEntry?.(change.entry_id);
    onStep?.('recorded');
    await this.#finish(change, prepared);
  }

  /**
   * Rejects a change while the previous one is in effect but not on disk, because the previous one would be
   * lost.
   */
  #requireSettled(): void {
    if (this.#unsettled === undefined) return;
    throw new ServiceError('UNAVAILABLE', 'the previous change is in effect, but could not be written yet', {
      reason: 'policy_not_written',
    });
  }

  /** Records the change. A failure leaves everything unchanged, unless the recording thread was lost. */
  async #record(
    change: PendingChange,
    prepared: PreparedRules | undefined,
    noteEntry: NoteEntry | undefined,
  ): Promise<void> {
    const { dataDir, writer, onStep } = this.#parts;
    this.#unsettled = change;
    let begun = false;
    try {
      await writePending(dataDir, change);
      onStep?.('pending');
      begun = true;
      await writer.record(change.event, change.entry_id);
    } catch (error) {
      if (begun && !isNothingKept(error)) noteEntry?.(change.entry_id);
      else {
        await removePending(dataDir);
        this.#unsettled = undefined;
        await prepared?.discard();
      }
      throw error;
    }
  }

  /**
   * Finishes an earlier change. If it was already recorded, it is still logged only once, because the entry
   * has the same id.
   */
  async #settle(change: PendingChange): Promise<void> {
    const isInEffect = change.policy.version <= this.#kept.version;
    if (!isInEffect) await this.#parts.writer.record(change.event, change.entry_id);
    // Once written, the file may have been edited, so it is not written again.
    const isWritten = change.policy.version <= this.#written;
    const replace = async () => (await prepareRulesFile(this.#file, change.policy.rules)).replace();
    await this.#finish(change, change.writes_file && !isWritten ? { replace } : undefined);
  }

  /** The entry is in the outbox, so failures no longer undo the change. */
  async #finish(change: PendingChange, file: Pick<PreparedRules, 'replace'> | undefined): Promise<void> {
    const { dataDir, warn, onStep } = this.#parts;
    this.#takeEffect(change.policy);
    if (change.takes_file) this.#fileRefused = undefined;
    try {
      await file?.replace();
      if (file !== undefined) this.#fileRefused = undefined;
      this.#unsettled = { ...change, writes_file: false };
    } catch (error) {
      this.#fileRefused = notReplaced;
      warn(notReplaced, error);
    }
    onStep?.('file-replaced');
    try {
      if (change.policy.version > this.#written) await this.#keep(this.#kept);
      onStep?.('kept');
      await removePending(dataDir);
      this.#unsettled = undefined;
    } catch (error) {
      warn('a change of the access policy is in effect, but could not be written yet', error);
      return;
    }
    onStep?.('settled');
  }

  #takeEffect(policy: KeptPolicy): void {
    if (policy.version <= this.#kept.version) return;
    this.#kept = { ...policy, operations: operationIds };
    this.#table = accessTable(policy.rules);
  }

  async #keep(policy: KeptPolicy): Promise<void> {
    const kept = { ...policy, operations: operationIds };
    await writeKept(this.#parts.dataDir, kept);
    this.#kept = kept;
    this.#written = kept.version;
  }

  async #writeFile(): Promise<void> {
    await (await prepareRulesFile(this.#file, this.#kept.rules)).replace();
    this.#fileRefused = undefined;
  }
}

/** Reports whether the error code guarantees that nothing was recorded. */
const isNothingKept = (error: unknown): boolean =>
  error instanceof ServiceError && (error.code === 'OVERLOADED' || error.code === 'UNAVAILABLE');

/** Reports whether the file caused the error, as opposed to a full disk or a lost thread. */
const isOfTheFile = (error: unknown): boolean =>
  !(error instanceof ServiceError) || error.code === 'CONFLICT';

function goneSince({ operations }: KeptPolicy): ReadonlySet<string> {
  const exist = new Set<string>(operationIds);
  return new Set(operations.filter((operation) => !exist.has(operation)));
}

const notReplaced =
  'the file of the access policy could not be replaced; the next reload will undo the change';

/** Returns a message for administrators. The details of unexpected errors are only logged. */
const refusalOf = (error: unknown): string =>
  error instanceof ServiceError
    ? error.message
    : 'the access policy could not be loaded; see the log of the service';

const missing = () =>
  new ServiceError('CONFLICT', 'the file of the access policy does not exist', { reason: 'does not exist' });
