import { policyReloaded, policyRuleEdited } from '../../contract/critical-events.ts';
import type { AccessRule, Policy } from '../../contract/resources/policy.ts';
import type { Role } from '../../contract/resources/principal.ts';
import { type OperationId, operationIds } from '../../contract/routes.ts';
import { ServiceError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { Actor, Principal } from '../../store/store.ts';
import type { AccessPolicy, NoteEntry, PolicyParts } from '../access-policy.ts';
import { type AccessTable, accessTable, checkRules } from './check-rules.ts';
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
import { prepareRulesFile, readRulesFile } from './rules-file.ts';
import { startingRules } from './starting-rules.ts';

const system: Actor = { id: 'system', name: 'system' };
const nobody: readonly Role[] = [];

/** Owner of the policy in memory and of its files in the data folder. */
export class FilePolicy implements AccessPolicy {
  readonly #parts: PolicyParts;
  readonly #file: string;
  #kept: KeptPolicy;
  #table: AccessTable;
  /** A change of which it isn't known whether it was recorded: it is finished before anything else is changed. */
  #unsettled: PendingChange | undefined;
  /** Why the file is not what is in effect. */
  #fileRefused: string | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(parts: PolicyParts, kept: KeptPolicy) {
    this.#parts = parts;
    this.#file = parts.file ?? ownRulesFile(parts.dataDir);
    this.#kept = kept;
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

  replace(rules: readonly AccessRule[], by: Actor, version?: number, noteEntry?: NoteEntry): Promise<Policy> {
    return this.#inTurn(async () => {
      const { version: now } = this.#kept;
      if (version !== undefined && version !== now)
        throw new ServiceError('VERSION_MISMATCH', `the policy has version ${now}, not ${version}`);
      await this.#change(checkRules(rules), by, policyRuleEdited, true, noteEntry);
    });
  }

  reload(by: Actor, noteEntry?: NoteEntry): Promise<Policy> {
    return this.#inTurn(async () => {
      try {
        await this.#takeFile(by, noteEntry);
        this.#fileRefused = undefined;
      } catch (error) {
        this.#fileRefused = refusalOf(error);
        throw error;
      }
    });
  }

  async #takeFile(by: Actor, noteEntry: NoteEntry | undefined): Promise<void> {
    const rules = await readRulesFile(this.#file);
    if (rules !== undefined) return this.#change(rules, by, policyReloaded, false, noteEntry);
    if (this.#parts.file !== undefined) throw missing();
    await this.#writeFile();
  }

  requireAdministrator(changed: Principal): void {
    requireAdministrator(this.#kept.rules, this.#parts.reader, changed);
  }

  async close(): Promise<void> {
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
        return warn('a change of the access policy that was cut short cannot be finished yet', error);
      }
    }
    try {
      await this.#startFrom(await this.#fileAtStart());
      if (this.#kept.operations.join() !== operationIds.join()) await this.#keep(this.#kept);
    } catch (error) {
      this.#fileRefused = refusalOf(error);
      warn('the access policy stays as it was', error);
    }
  }

  /** The rules of the file without those of operations that went with an earlier program. */
  async #fileAtStart(): Promise<readonly AccessRule[] | 'unusable' | undefined> {
    try {
      const rules = await readRulesFile(this.#file, goneSince(this.#kept));
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
    const writesFile = (named === undefined || file === undefined) && file !== 'unusable' && !isAsWanted;
    await this.#change(wanted, system, policyReloaded, writesFile);
  }

  /** Runs a change behind the ones before it. Resolves with the policy that is then in effect. */
  #inTurn(work: () => Promise<void>): Promise<Policy> {
    if (this.#waiting >= limits.maxQueuedPolicyChanges)
      return Promise.reject(
        new ServiceError('OVERLOADED', 'too many changes of the access policy wait', {
          reason: 'policy_changes_wait',
        }),
      );
    this.#waiting++;
    const turn = this.#turn.then(async () => {
      this.#waiting--;
      const { version } = this.#kept;
      try {
        if (this.#unsettled !== undefined) await this.#settle(this.#unsettled);
        await work();
      } finally {
        if (this.#kept.version !== version) this.#parts.onChange();
      }
      return this.current;
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #change(
    rules: readonly AccessRule[],
    by: Actor,
    event: typeof policyReloaded | typeof policyRuleEdited,
    writesFile: boolean,
    noteEntry?: NoteEntry,
  ): Promise<void> {
    const { sources, dataDir, reader, onStep } = this.#parts;
    const diff = differenceOf(this.#kept.rules, rules);
    if (isEmpty(diff)) return writesFile ? this.#writeFile() : undefined;
    requireAdministrator(rules, reader);
    const version = this.#kept.version + 1;
    const replaceFile = writesFile ? await this.#prepareFile(rules) : async () => undefined;
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
      writes_file: writesFile,
    };
    await writePending(dataDir, change);
    onStep?.('pending');
    this.#unsettled = change;
    try {
      await this.#parts.writer.record(change.event, change.entry_id);
    } catch (error) {
      // Of these it is known that nothing was kept.
      if (error instanceof ServiceError && (error.code === 'OVERLOADED' || error.code === 'UNAVAILABLE')) {
        await removePending(dataDir);
        this.#unsettled = undefined;
      } else noteEntry?.(change.entry_id);
      throw error;
    }
    noteEntry?.(change.entry_id);
    onStep?.('recorded');
    await this.#finish(change, replaceFile);
  }

  /** Finishes what was begun before. What was recorded already is logged once: the entry's id is the same. */
  async #settle(change: PendingChange): Promise<void> {
    await this.#parts.writer.record(change.event, change.entry_id);
    // What it was to write was edited since, perhaps.
    const isKept = change.policy.version <= this.#kept.version;
    await this.#finish(change, async () => {
      if (change.writes_file && !isKept) await (await this.#prepareFile(change.policy.rules))();
    });
  }

  /** The entry is on its way to the log: from here on nothing that fails takes the change back. */
  async #finish(change: PendingChange, replaceFile: () => Promise<void>): Promise<void> {
    const { dataDir, warn, onStep } = this.#parts;
    try {
      await replaceFile();
    } catch (error) {
      this.#fileRefused = notReplaced;
      warn(notReplaced, error);
    }
    onStep?.('file-replaced');
    if (change.policy.version > this.#kept.version) await this.#keep(change.policy);
    onStep?.('kept');
    this.#table = accessTable(this.#kept.rules);
    await removePending(dataDir);
    this.#unsettled = undefined;
    onStep?.('settled');
  }

  async #keep(policy: KeptPolicy): Promise<void> {
    const kept = { ...policy, operations: operationIds };
    await writeKept(this.#parts.dataDir, kept);
    this.#kept = kept;
  }

  async #writeFile(): Promise<void> {
    await (await this.#prepareFile(this.#kept.rules))();
  }

  async #prepareFile(rules: readonly AccessRule[]): Promise<() => Promise<void>> {
    try {
      const replace = await prepareRulesFile(this.#file, rules);
      return async () => {
        await replace();
        this.#fileRefused = undefined;
      };
    } catch (error) {
      const reason = (error as NodeJS.ErrnoException).code;
      if (reason === undefined) throw error;
      throw new ServiceError('CONFLICT', `the file of the access policy cannot be written (${reason})`, {
        reason,
      });
    }
  }
}

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
