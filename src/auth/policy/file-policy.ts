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
const nobody: readonly Role[] = [];

/** Between tries to finish a change: a disk that is full stays so for longer, and a thread that was lost is back. */
const usualRetryMs = 5000;

/** What becomes of the file that people edit: it is written, or the rules come from it, or it is left as it is. */
type FileUse = 'written' | 'taken' | 'left';

/**
 * Owner of the policy in memory and of its files in the data folder. A change, in order:
 *
 * ```
 *   prepare the file ─► policy.pending.json ─► outbox ─► in effect ─► file ─► policy.in-effect.json ─► settled
 *   └──────── what fails here changes nothing ────────┘ └──── what fails here is warned of and tried again ────┘
 * ```
 *
 * Where it is not known whether it was recorded (the thread was lost), it is recorded again, under the same id.
 */
export class FilePolicy implements AccessPolicy {
  readonly #parts: PolicyParts;
  readonly #file: string;
  #kept: KeptPolicy;
  #table: AccessTable;
  /** Version that is on disk as the one in effect. */
  #written: number;
  /** A change that is not finished: it is before anything else is changed. */
  #unsettled: PendingChange | undefined;
  #retry: NodeJS.Timeout | undefined;
  /** Why the file is not what is in effect. */
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
    return this.#table.get(operation) ?? nobody;
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

  /** What lies in the folder can't keep the service from starting: the policy in effect stays, with a warning. */
  async start(pending: PendingChange | undefined): Promise<void> {
    const { warn } = this.#parts;
    if (pending !== undefined) {
      this.#unsettled = pending;
      try {
        await this.#settle(pending);
      } catch (error) {
        warn('a change of the access policy that was cut short cannot be finished yet', error);
      }
      if (this.#unsettled !== undefined) return this.#retryLater();
    }
    const before = this.#kept;
    try {
      await this.#startFrom(this.#fileAtStart());
      const isSame = isDeepStrictEqual(before.settings, this.#kept.settings);
      if (!isSame || this.#kept.operations.join() !== operationIds.join()) await this.#keep(this.#kept);
    } catch (error) {
      // The next start applies the settings.
      if (this.#kept.version === before.version && this.#unsettled === undefined) this.#kept = before;
      this.#fileRefused = refusalOf(error);
      warn('the access policy stays as it was', error);
    }
    if (this.#unsettled !== undefined) this.#retryLater();
  }

  /** The rules of the file without those of operations that went with an earlier program. */
  #fileAtStart(): readonly AccessRule[] | 'unusable' | undefined {
    try {
      const rules = readRulesFile(this.#file, goneSince(this.#kept));
      // Where the default is in effect, a file that settings name is made; later it is missed.
      if (rules === undefined && this.#parts.file !== undefined && this.#kept.version > 1) throw missing();
      return rules;
    } catch (error) {
      this.#fileRefused = refusalOf(error);
      this.#parts.warn('the access policy stays as it was: its file cannot be used', error);
      return 'unusable';
    }
  }

  async #startFrom(file: readonly AccessRule[] | 'unusable' | undefined): Promise<void> {
    const { file: named, defaults } = this.#parts;
    const rules = file === undefined || file === 'unusable' ? undefined : file;
    // A file that settings name decides alone, by being silent too.
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

  /** Runs work behind what came before it. The only place where anything changes after the start. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= limits.maxQueuedPolicyChanges)
      return Promise.reject(
        new ServiceError('OVERLOADED', 'too many changes of the access policy and of who may what wait', {
          reason: 'policy_changes_wait',
        }),
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

  /** What is in effect, but not on disk, would be forgotten with the next change. */
  #requireSettled(): void {
    if (this.#unsettled === undefined) return;
    throw new ServiceError('UNAVAILABLE', 'the change before is in effect, but could not be written yet', {
      reason: 'policy_not_written',
    });
  }

  /** What fails leaves everything as it was, unless the thread was lost that recorded it. */
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

  /** Finishes what was begun before. What was recorded already is logged once: the entry's id is the same. */
  async #settle(change: PendingChange): Promise<void> {
    const isInEffect = change.policy.version <= this.#kept.version;
    if (!isInEffect) await this.#parts.writer.record(change.event, change.entry_id);
    // What it was to write was edited since, perhaps.
    const isWritten = change.policy.version <= this.#written;
    const replace = async () => (await prepareRulesFile(this.#file, change.policy.rules)).replace();
    await this.#finish(change, change.writes_file && !isWritten ? { replace } : undefined);
  }

  /** The entry is on its way to the log: from here on nothing that fails takes the change back. */
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

/** Of these codes it is known that nothing was recorded. */
const isNothingKept = (error: unknown): boolean =>
  error instanceof ServiceError && (error.code === 'OVERLOADED' || error.code === 'UNAVAILABLE');

/** What a better file would mend; that there was no room, or that a thread was lost, is no fault of it. */
const isOfTheFile = (error: unknown): boolean =>
  !(error instanceof ServiceError) || error.code === 'CONFLICT';

function goneSince({ operations }: KeptPolicy): ReadonlySet<string> {
  const exist = new Set<string>(operationIds);
  return new Set(operations.filter((operation) => !exist.has(operation)));
}

const notReplaced =
  'the file of the access policy could not be replaced: the next reload will undo the change';

/** For administrators to read; what is no expected failure is in the log only. */
const refusalOf = (error: unknown): string =>
  error instanceof ServiceError ? error.message : 'the access policy could not be taken; the log says why';

const missing = () =>
  new ServiceError('CONFLICT', 'the file of the access policy is not there', { reason: 'is not there' });
