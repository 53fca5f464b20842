import { criticalEvent, entryOf, keyRotated } from '../../contract/critical-events.ts';
import { rotatedPurposes } from '../../contract/vocabulary.ts';
import { invalidField, ServiceError } from '../../errors.ts';
import { SerialQueue } from '../../files/serial-queue.ts';
import { uuid7 } from '../../uuid.ts';
import { datedForAppend } from '../entry-window.ts';
import { type Clock, milliseconds } from '../heads.ts';
import type { LedgerHooks } from '../hooks.ts';
import type { LedgerKeyPurpose, UnsignedEntry } from '../ledger.ts';
import type { OpenFindings } from '../open-findings.ts';
import type { Sequencer } from '../sequencer.ts';
import { type Ending, ended, ledgerPurposes, type Succession } from './key-file.ts';
import type { Key, KeyRing } from './key-ring.ts';
import { finishKeyFiles, retirement, takeOver } from './key-takeover.ts';
import { dueStep, type RotationSchedule } from './rotation-schedule.ts';

/** A changed key, and the entries that record the change. */
export interface KeyChange {
  readonly key: Key;
  readonly entryIds: readonly string[];
}

type EntryMaker = (id: string, nowMs: number) => UnsignedEntry;

export interface KeyChangesParts {
  readonly keys: KeyRing;
  /** Returns the index of an entry by its id; undefined if the log lacks it. */
  readonly indexOf: (entryId: string) => number | undefined;
  readonly sequencer: Sequencer;
  readonly findings: OpenFindings;
  readonly clock: Clock;
  readonly hooks: LedgerHooks;
  readonly schedule: RotationSchedule;
  /** Appends entries through the ledger's public path. */
  append(entries: readonly UnsignedEntry[]): Promise<unknown>;
}

/**
 * Manages the life cycle of keys, from pending to active to retired or revoked, one change at a time.
 *
 * Steps of a rotation, and the effect of a crash after each:
 *
 *     1. the new key's file, pending    published; a rotation that is due continues at the next start
 *     2. key.rotated is in the log      the old key signed the head that covers it; the next start repeats
 *                                       this step, which adds nothing, and continues
 *     3. both files, synchronously      the first file determines the second
 *        after the old key's last commit
 *     4. key.retired is in the log      the old key's file holds the entry; the next start appends missing
 *                                       entries
 *
 * A failed step ends the change, not the process. The files are read again, as at a start, before anything is signed,
 * and the next tick continues from their state. Until then the finding `key_rotation_failed` is open.
 */
export class KeyChanges {
  readonly #parts: KeyChangesParts;
  /** Entries that key files hold but the log still lacks. */
  #promised: UnsignedEntry[] = [];
  #changing = false;
  /** Whether the entries in the key files must be compared with the log before a key changes. */
  #isUnread = true;
  /** Whether a write failed, so that the files may differ from memory. */
  #isUnsure = false;
  /** Errors of the last change, by purpose. */
  readonly #failures = new Map<string, string>();
  #closed = false;
  /** Work that has exclusive use of the keys. */
  readonly #queue = new SerialQueue();

  constructor(parts: KeyChangesParts) {
    this.#parts = parts;
  }

  /**
   * Performs pending work: changes that the last process or a failed attempt began, scheduled rotations, and
   * entries delayed by a full queue or disk.
   */
  async tick(): Promise<void> {
    if (this.#changing) return;
    if (this.#isUnread && !(await this.#finish())) return;
    if (this.#parts.sequencer.isHeld) return;
    this.#resignIfRevoked();
    await this.#appendPromised().catch(ignoreServiceError);
    for (const purpose of ledgerPurposes) {
      const step = this.#changing ? undefined : this.#dueStep(purpose);
      if (step === undefined) continue;
      await this.#change(purpose, () => this.#due(purpose, step)).catch(ignoreServiceError);
    }
  }

  /**
   * Returns the due step of a purpose; undefined if no step is due. A rotation is also due if the active key is in a
   * file and the setting requires the agent, or vice versa.
   */
  #dueStep(purpose: LedgerKeyPurpose): 'publish' | 'take_over' | undefined {
    const { keys, schedule } = this.#parts;
    const [active, pending] = [keys.active(purpose), keys.pending(purpose)];
    if (active === undefined) return undefined;
    const step = dueStep(active.file, pending?.file, this.#now(), schedule);
    if (step !== undefined || pending !== undefined || !isRotated(purpose)) return step;
    return keys.isMisplaced(active) ? 'publish' : undefined;
  }

  /** Implements `Ledger.rotateKey`. */
  async rotate(purpose: LedgerKeyPurpose, actor: string): Promise<KeyChange> {
    if (!isRotated(purpose))
      throw invalidField('purpose', `must be one of ${rotatedPurposes.join(', ')}: no other key is rotated`);
    return this.#change(purpose, async () => {
      const published = this.#parts.keys.pending(purpose);
      const successor =
        published === undefined ? await this.#publish(purpose, { actor }) : this.#expedite(published, actor);
      return this.#takeOver(successor);
    });
  }

  /** Implements `Ledger.retireKey`. */
  async retire(kid: string, actor: string): Promise<KeyChange> {
    return this.#change(this.#find(kid).purpose, async () => {
      const key = this.#find(kid);
      if (key.state !== 'pending') {
        throw new ServiceError(
          'INVALID_TRANSITION',
          `key ${key.kid} is ${key.state}; only a pending key can be retired`,
        );
      }
      const data = { purpose: key.purpose, ...(key.purpose === 'access-token' ? {} : { to_size: 0 }) };
      return this.#end(key, 'retired', (id, now) =>
        entryOf(criticalEvent('key.retired', key.kid, data, actor), id, now),
      );
    });
  }

  /** Implements `Ledger.revokeKey`. */
  async revoke(id: string, reason: string, actor: string): Promise<KeyChange> {
    return this.#change(this.#find(id).purpose, async () => {
      const key = this.#find(id);
      const { kid, state, purpose } = key;
      if (state === 'revoked') throw new ServiceError('INVALID_TRANSITION', `key ${kid} is already revoked`);
      if (state !== 'active' || purpose === 'witness') {
        return this.#end(key, 'revoked', (id, now) =>
          entryOf(criticalEvent('key.revoked', kid, { purpose, reason }, actor), id, now),
        );
      }
      // Does not promote a pending key: an attacker who took the active key from the disk may have taken the pending
      // key too. The pending key is revoked as well, or it would take over when it is due.
      const fresh = await this.#parts.keys.newKey(purpose, this.#now());
      const published = this.#parts.keys.pending(purpose);
      const entryIds: string[] = [];
      if (published !== undefined)
        entryIds.push(
          this.#endAlone(published, 'revoked', (id, now) =>
            entryOf(criticalEvent('key.revoked', published.kid, { purpose, reason }, actor), id, now),
          ),
        );
      const data = { purpose, reason, replaced_by: fresh.kid };
      const own = this.#replace(key, fresh, (_size, now) => ({
        kid,
        state: 'revoked',
        entry: entryOf(criticalEvent('key.revoked', kid, data, actor), uuid7(now), now),
      }));
      entryIds.push(own);
      await this.#appendPromised();
      return { key: this.#find(kid), entryIds };
    });
  }

  /** Runs `work` while no key changes; changes wait for it. */
  hold<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue.run(work);
  }

  /** Refuses further changes; resolves when no change is in progress. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#queue.idle();
  }

  async #due(purpose: LedgerKeyPurpose, step: 'publish' | 'take_over'): Promise<void> {
    const pending = this.#parts.keys.pending(purpose);
    const due = new Date(this.#now() + this.#parts.schedule.overlapMs).toISOString();
    if (step === 'publish' && pending === undefined) await this.#publish(purpose, { actor: 'system', due });
    if (step === 'take_over' && pending !== undefined) await this.#takeOver(pending);
  }

  /** Performs step 1: publishes the key in the key set. */
  async #publish(purpose: LedgerKeyPurpose, how: Pick<Succession, 'actor' | 'due'>): Promise<Key> {
    const { keys, hooks } = this.#parts;
    const now = this.#now();
    const replaces = this.#active(purpose).kid;
    const key = await keys.newKey(purpose, now);
    const successor = key.with({ ...key.file, svc_succession: { replaces, entry_id: uuid7(now), ...how } });
    this.#write([successor]);
    hooks.at('key-published');
    return successor;
  }

  /** Makes a scheduled successor take over immediately. */
  #expedite(key: Key, actor: string): Key {
    const { due: _later, ...succession } = successionOf(key);
    const successor = key.with({ ...key.file, svc_succession: { ...succession, actor } });
    this.#write([successor]);
    this.#parts.hooks.at('key-published');
    return successor;
  }

  async #takeOver(successor: Key): Promise<KeyChange> {
    const { keys, append, hooks } = this.#parts;
    const purpose = successor.purpose as LedgerKeyPurpose;
    const old = this.#active(purpose);
    const { actor, entry_id } = successionOf(successor);
    await keys.check(successor);
    const names = { old_kid: old.kid, new_kid: successor.kid, new_fingerprint: successor.fingerprint };

    // Step 2: the old key signs the head that covers this entry, and the head is released.
    await append([entryOf(keyRotated({ purpose, ...names }, actor), entry_id, this.#now())]);
    hooks.at('key-rotated');

    // Steps 3 and 4.
    const retired = this.#replace(old, successor, (size, now) => retirement(old, size, now, actor));
    await this.#appendPromised();
    return { key: this.#find(successor.kid), entryIds: [entry_id, retired] };
  }

  /**
   * Replaces a key synchronously: earlier entries are committed, and nothing is signed in between. Returns the id of
   * the entry about the ended key.
   */
  #replace(old: Key, successor: Key, end: (size: number, nowMs: number) => Ending): string {
    const { sequencer, hooks } = this.#parts;
    const size = sequencer.settle();
    // The clock may be behind the last head, whose time must be within the validity of its key.
    const timeMs = Math.max(this.#now(), milliseconds(sequencer.head?.timestampNs ?? 0n));
    const ending = end(size, timeMs);
    const changed = takeOver(old, successor, { size, timeMs, ending });
    this.#write(changed, {
      prepared: () => hooks.at('key-files-written'),
      renamed: (key) => hooks.at(key === changed[0] ? 'new-key-active' : 'old-key-ended'),
    });
    if (old.purpose === 'transparency-sth') sequencer.signWith(changed[0]);
    this.#promised.push(ending.entry);
    this.#resignIfRevoked();
    hooks.at('keys-changed');
    return ending.entry.id;
  }

  /** Ends a key without successor and appends the entry. */
  async #end(key: Key, state: Ending['state'], entryWith: EntryMaker): Promise<KeyChange> {
    const entryId = this.#endAlone(key, state, entryWith);
    await this.#appendPromised();
    return { key: this.#find(key.kid), entryIds: [entryId] };
  }

  /** Retires or revokes a key. Returns the id of the log entry about it, which is not appended yet. */
  #endAlone(key: Key, state: Ending['state'], entryWith: EntryMaker): string {
    const now = this.#now();
    const entry = entryWith(uuid7(now), now);
    this.#write([key.with(ended(key.file, { state, entry }, 0, now))]);
    this.#parts.hooks.at('old-key-ended');
    this.#promised.push(entry);
    this.#resignIfRevoked();
    return entry.id;
  }

  /** Signs the current head again if its signer is revoked, because verifiers refuse such a head. */
  #resignIfRevoked(): void {
    const { keys, sequencer } = this.#parts;
    sequencer.settle();
    const signer = sequencer.head?.keyId;
    if (signer !== undefined && keys.get(signer)?.state === 'revoked') sequencer.resign();
  }

  /**
   * Appends the entries in `#promised`. If the log refuses them, the next tick or start retries; the key change itself
   * is done.
   */
  async #appendPromised(): Promise<void> {
    const entries = [...this.#promised];
    if (entries.length === 0) return;
    try {
      const now = this.#now();
      await this.#parts.append(entries.map((entry) => datedForAppend(entry, now)));
    } catch (error) {
      if (error instanceof ServiceError && error.code !== 'WORKER_LOST') return;
      throw error;
    }
    this.#promised = this.#promised.filter((entry) => !entries.includes(entry));
    this.#parts.hooks.at('key-end-logged');
  }

  /**
   * Applies the state of the key files, as at a start: completes a change of two files, signs heads with the active
   * key, and collects the entries in the files that the log lacks. Returns false if this must be retried later.
   */
  async #finish(): Promise<boolean> {
    const { keys, sequencer, indexOf } = this.#parts;
    try {
      if (this.#isUnsure) await keys.reload();
      finishKeyFiles(keys);
    } catch (error) {
      this.#failed('files', error);
      return false;
    }
    const key = keys.active('transparency-sth');
    if (key !== undefined) sequencer.signWith(key);
    this.#isUnsure = false;
    this.#worked('files');
    sequencer.release(holdReason);
    if (sequencer.isHeld) return false;
    const promised = keys.all().flatMap(({ file }) => file.svc_entries ?? []);
    this.#promised = promised.filter(({ id }) => indexOf(id) === undefined).sort(byTime);
    this.#resignIfRevoked();
    this.#isUnread = false;
    return true;
  }

  /** Writes key files. After a failure, nothing is signed until the files have been read again. */
  #write(keys: readonly Key[], steps?: Parameters<KeyRing['change']>[1]): void {
    try {
      this.#parts.keys.change(keys, steps);
    } catch (error) {
      if (!(error instanceof ServiceError)) this.#hold();
      throw error;
    }
  }

  #hold(): void {
    this.#isUnread = true;
    this.#isUnsure = true;
    this.#parts.sequencer.hold(
      holdReason,
      new ServiceError('UNAVAILABLE', 'key files could not be written; no entries are accepted until they can be read'),
    );
  }

  #failed(what: string, error: unknown): void {
    this.#failures.set(what, `${what}: ${error instanceof Error ? error.message : String(error)}`);
    this.#report();
  }

  #worked(what: string): void {
    if (this.#failures.delete(what)) this.#report();
  }

  #report(): void {
    const { findings } = this.#parts;
    if (this.#failures.size === 0) findings.clear('key_rotation_failed');
    else
      findings.raise(
        'key_rotation_failed',
        `a key change failed and will be retried (${[...this.#failures.values()].join('; ')})`,
      );
  }

  async #change<T>(purpose: string, work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new ServiceError('UNAVAILABLE', 'the ledger is closing');
    if (this.#changing) throw new ServiceError('CONFLICT', 'another key change is in progress; try again later');
    this.#changing = true;
    try {
      const done = await this.hold(work);
      this.#worked(purpose);
      return done;
    } catch (error) {
      if (error instanceof ServiceError && error.code !== 'UNAVAILABLE') throw error;
      this.#failed(purpose, error);
      if (error instanceof ServiceError) throw error;
      // Holds commits, because the files and memory may differ.
      this.#hold();
      if (await this.#finish()) await this.#appendPromised();
      throw new ServiceError('UNAVAILABLE', `the keys could not be changed (${String(error)}); try again later`);
    } finally {
      this.#changing = false;
    }
  }

  #active(purpose: LedgerKeyPurpose): Key {
    const key = this.#parts.keys.active(purpose);
    if (key === undefined) throw new ServiceError('UNAVAILABLE', `there is no active ${purpose} key`);
    return key;
  }

  #find(kid: string): Key {
    const key = this.#parts.keys.get(kid.toLowerCase());
    if (key === undefined) throw new ServiceError('NOT_FOUND', `there is no key ${kid}`);
    return key;
  }

  #now(): number {
    return milliseconds(this.#parts.clock());
  }
}

/** The reason why the sequencer holds commits. */
const holdReason = 'keys';

function successionOf({ kid, file }: Key): Succession {
  if (file.svc_succession === undefined) throw new Error(`pending key ${kid} has no svc_succession`);
  return file.svc_succession;
}

/** Ignores service errors, because a later tick retries. A stopped ledger reports its failure separately. */
function ignoreServiceError(error: unknown): void {
  if (!(error instanceof ServiceError)) throw error;
}

const isRotated = (purpose: LedgerKeyPurpose): boolean => (rotatedPurposes as readonly string[]).includes(purpose);

function byTime(a: UnsignedEntry, b: UnsignedEntry): number {
  return a.occurred_at < b.occurred_at ? -1 : a.occurred_at > b.occurred_at ? 1 : 0;
}
