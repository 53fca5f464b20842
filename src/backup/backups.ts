import { join } from 'node:path';
import { backupCreated, entryOf } from '../contract/critical-events.ts';
import type { Backup } from '../contract/resources/backup.ts';
import { backupStates } from '../contract/vocabulary.ts';
import { oneOf } from '../database/lists/filter.ts';
import { type ListSpec, pageOf, type Row } from '../database/lists/list.ts';
import { ServiceError } from '../errors.ts';
import { before, VolumeQueue } from '../files/volume-queue.ts';
import { datedForAppend } from '../ledger/entry-window.ts';
import type { Appended, Ledger } from '../ledger/ledger.ts';
import { limits } from '../limits.ts';
import type { ListPage, ListQuery } from '../store/store.ts';
import { uuid7 } from '../uuid.ts';
import { BackupError, reasonOf } from './backup-error.ts';
import { bytesIn } from './files.ts';
import { backupNames, idIn, partialName, removePartials } from './folders.ts';
import {
  type BackupOrder,
  type BackupSources,
  type CompletedBackup,
  databaseBytes,
  makeBackup,
  sha256,
} from './make-backup.ts';
import { manifestFile, parseManifest, readManifest } from './manifest.ts';

/** A backup in the list, before its manifest is read. */
interface ListedBackup {
  readonly id: string;
  readonly state: (typeof backupStates)[number];
  /** When the backup was created, epoch milliseconds. */
  readonly createdAt: number;
}

export const backupList: ListSpec<ListedBackup> = {
  type: 'backup',
  terms: { state: oneOf(backupStates, (backup) => backup.state) },
  sorts: { created_at: (backup) => backup.createdAt },
  time: (backup) => backup.createdAt,
  names: (backup) => [backup.id],
};

/** A backup as the API reports it. */
export interface BackupRecord {
  readonly id: string;
  readonly attributes: Backup;
}

interface BackupPage extends Omit<ListPage, 'json'> {
  readonly items: readonly BackupRecord[];
}

/** The backups of a running service. */
export interface Backups {
  /**
   * Starts a backup, and resolves when it is running. Throws CONFLICT while another backup is running, or while the
   * volume has not responded since a backup timed out, and UNAVAILABLE during shutdown.
   */
  begin(actor: string): Promise<BackupRecord>;
  /**
   * Returns a backup. Throws NOT_FOUND for an unknown id. Failed backups are held in memory until the process
   * ends, at most the newest limits.maxFailedBackups.
   */
  get(id: string): Promise<BackupRecord>;
  list(query: ListQuery): Promise<BackupPage>;
}

export interface BackupsOptions extends BackupSources {
  readonly ledger: Pick<Ledger, 'copyTo' | 'append' | 'keys'>;
  /** Called when a backup ends. `error` is set if the backup failed. */
  onEnd?(record: BackupRecord, error?: unknown): void;
  /**
   * Maximum duration of a backup. Default: limits.backupMs, plus time in proportion to the size of the
   * databases.
   */
  readonly maxMs?: number;
  /** Called with problems of older backups that an operator should know about. */
  onFinding?(message: string, error?: unknown): void;
}

interface Running {
  readonly id: string;
  readonly createdAt: number;
  readonly stop: AbortController;
  /** Resolves when the backup has ended; never rejects. */
  readonly ended: Promise<BackupRecord>;
}

/**
 * Manages the backups in one folder. The running backup and recent failures are in memory. Completed backups
 * are read from the folder each time, because operators may copy or delete them there.
 */
export class BackupFolder implements Backups {
  readonly #options: BackupsOptions;
  /** Runs reads of the volume, except the reads of the running backup. */
  readonly #volume: VolumeQueue;
  #running: Running | undefined;
  /** Id of a backup that timed out while its thread is still blocked in a call on the volume. */
  #hung: string | undefined;
  /** Failed backups by id, oldest first. */
  readonly #failed = new Map<string, BackupRecord>();
  /** Log positions of entries that this process appended, by backup id. */
  readonly #logPositions = new Map<string, Appended>();
  #cleared: Promise<void> = Promise.resolve();
  #recovered: Promise<void> = Promise.resolve();
  /** Entries of completed backups that are not in the log yet. */
  #unlogged: CreatedEntry[] = [];
  #closed = false;

  constructor(options: BackupsOptions) {
    this.#options = options;
    this.#volume = new VolumeQueue(`the backup folder ${options.dir}`);
  }

  /**
   * Finishes the work of an earlier process: removes partial backups and appends missing log entries of
   * complete backups. Never rejects, so callers need not await it: failures are reported, and a later start
   * tries again.
   */
  recover(): Promise<void> {
    this.#cleared = this.#clear();
    this.#recovered = this.#cleared.then(() => this.#logMissing());
    return this.#recovered;
  }

  async #clear(): Promise<void> {
    const { dir, dataDir, onFinding } = this.#options;
    try {
      const removed = await removePartials(dir, dataDir);
      if (removed > 0) onFinding?.(`removed unfinished backups from ${dir}: ${removed}`);
    } catch (error) {
      onFinding?.(`cannot remove unfinished backups from ${dir}`, error);
    }
  }

  async #logMissing(): Promise<void> {
    try {
      await this.#appendMissing();
    } catch (error) {
      this.#options.onFinding?.('cannot check whether backups are in the log', error);
    }
  }

  async begin(actor: string): Promise<BackupRecord> {
    if (this.#closed) throw new ServiceError('UNAVAILABLE', 'the service is stopping');
    if (this.#running !== undefined) {
      const { id } = this.#running;
      throw new ServiceError('CONFLICT', `backup ${id} is running; try again later`, { backup_id: id });
    }
    if (this.#hung !== undefined)
      throw new ServiceError(
        'CONFLICT',
        `the volume of ${this.#options.dir} has not responded since backup ${this.#hung} timed out; repair it`,
        { backup_id: this.#hung },
      );
    const createdAt = this.#options.now();
    const id = uuid7(createdAt);
    const stop = new AbortController();
    this.#running = { id, createdAt, stop, ended: this.#make(id, createdAt, actor, stop) };
    return this.get(id);
  }

  async get(id: string): Promise<BackupRecord> {
    if (this.#running?.id === id) return this.#progress(this.#running);
    const failed = this.#failed.get(id);
    if (failed !== undefined) return failed;
    const name = (await this.#names()).find((one) => idIn(one) === id);
    if (name === undefined) throw new ServiceError('NOT_FOUND', `there is no backup ${id}`);
    return this.#read(name);
  }

  async list(query: ListQuery): Promise<BackupPage> {
    const running = this.#running === undefined ? [] : [await this.#progress(this.#running)];
    const known = [...running, ...this.#failed.values()];
    // A backup that completes at this moment may be in both lists.
    const ids = new Set(known.map(({ id }) => id));
    const names = (await this.#names()).filter((name) => !ids.has(idIn(name) ?? ''));
    const reads = new Map<string, () => Promise<BackupRecord>>([
      ...known.map((record) => [record.id, async () => record] as const),
      ...names.map((name) => [idIn(name) ?? '', () => this.#read(name)] as const),
    ]);
    // Manifests are read one at a time, here and for the page, because a manifest with many keys takes a
    // megabyte.
    const rows: Row<ListedBackup>[] = [];
    for (const [id, read] of reads) {
      const listed = query.terms.length === 0 ? undefined : await read();
      rows.push({
        id,
        item: { id, createdAt: timestampOf(id), state: listed?.attributes.state ?? 'completed' },
      });
    }
    const { shown, ...page } = pageOf(backupList, rows, query);
    const items: BackupRecord[] = [];
    for (const { id } of shown) items.push(await reads.get(id)!());
    return { items, ...page };
  }

  /** Waits until a running backup has ended, and returns its final record. */
  async ended(id: string): Promise<BackupRecord> {
    return this.#running?.id === id ? this.#running.ended : this.get(id);
  }

  /** Cancels the running backup once LMDB has finished the current copy. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#running?.stop.abort(new BackupError('the service was stopped'));
    await this.#running?.ended;
    await this.#recovered;
  }

  async #make(id: string, createdAt: number, actor: string, stop: AbortController): Promise<BackupRecord> {
    let record: BackupRecord;
    let failure: unknown;
    try {
      const made = await this.#makeWithTimeLimit(stop, { id, createdAt, actor, signal: stop.signal });
      await this.#log(made);
      record = this.#recordOf(made);
    } catch (error) {
      failure = error;
      record = this.#recordFailure(id, createdAt, error);
    }
    this.#running = undefined;
    this.#options.onEnd?.(record, failure);
    return record;
  }

  /**
   * Makes a backup with a time limit. A system call that hangs cannot be cancelled, so no other backup may
   * start until it returns.
   */
  async #makeWithTimeLimit(stop: AbortController, order: BackupOrder): Promise<CompletedBackup> {
    const bySize = (databaseBytes(this.#options.dataDir) / limits.minBackupBytesPerS) * 1000;
    const { maxMs = limits.backupMs + bySize, dir } = this.#options;
    const work = this.#cleared.then(() => makeBackup(this.#options, order));
    return before(maxMs, work, () => {
      const late = new BackupError(`it took longer than ${Math.round(maxMs / 1000)} s; check the volume of ${dir}`);
      stop.abort(late);
      this.#hung = order.id;
      const ended = () => {
        this.#hung = undefined;
      };
      work.then(ended, ended);
      return late;
    });
  }

  /**
   * Appends the log entry of a backup. A failed append does not fail the backup: the next backup or the next
   * start appends the entry.
   */
  async #log(made: CompletedBackup): Promise<void> {
    this.#unlogged.push(created(made));
    try {
      await this.#append(this.#unlogged);
      this.#unlogged = [];
    } catch (error) {
      this.#options.onFinding?.(`cannot append the log entry of backup ${made.manifest.id} yet`, error);
    }
  }

  #recordFailure(id: string, createdAt: number, error: unknown): BackupRecord {
    const attributes: Backup = {
      state: 'failed',
      error: reasonOf(error, this.#options.dir),
      size: 0,
      created_at: new Date(createdAt).toISOString(),
      finished_at: new Date(this.#options.now()).toISOString(),
    };
    const record = { id, attributes };
    this.#failed.set(id, record);
    for (const oldest of this.#failed.keys()) {
      if (this.#failed.size <= limits.maxFailedBackups) break;
      this.#failed.delete(oldest);
    }
    return record;
  }

  async #progress({ id, createdAt }: Running): Promise<BackupRecord> {
    const { dir, dataDir } = this.#options;
    const partial = join(dir, await partialName(dataDir, id));
    const size = await this.#volume.run(() => bytesIn(partial)).catch(() => 0);
    return { id, attributes: { state: 'running', size, created_at: new Date(createdAt).toISOString() } };
  }

  /**
   * Reads a completed backup from its manifest. If the manifest cannot be read, the record has the state
   * `failed`.
   */
  async #read(name: string): Promise<BackupRecord> {
    try {
      return this.#recordOf(await this.#manifestIn(name));
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      const id = idIn(name) ?? '';
      const reason = error instanceof BackupError ? error.message : reasonOf(error, name);
      return {
        id,
        attributes: {
          state: 'failed',
          error: reason,
          size: 0,
          created_at: new Date(timestampOf(id)).toISOString(),
        },
      };
    }
  }

  async #manifestIn(name: string): Promise<CompletedBackup> {
    const path = join(this.#options.dir, name);
    const text = await this.#volume.run(() => readManifest(path));
    const manifest = parseManifest(text);
    if (manifest.id !== idIn(name)) throw new BackupError(`${manifestFile} belongs to backup ${manifest.id}`);
    return { manifest, manifestSha256: sha256(text), path };
  }

  #recordOf({ manifest, path }: CompletedBackup): BackupRecord {
    const { id, created_at, finished_at, size, events, alerts, sth, private_keys } = manifest;
    const position = this.#logPositions.get(id);
    const attributes: Backup = {
      state: 'completed',
      path,
      size,
      events: events.network + events.dns,
      alerts,
      private_keys: private_keys ?? 'included',
      ...(sth === undefined ? {} : { sth }),
      ...(position === undefined ? {} : { transparency: positionOf(position) }),
      created_at,
      finished_at,
    };
    return { id, attributes };
  }

  /**
   * Appends missing entries for backups of this log. They are recognised by the log's keys, because the
   * folder may hold backups of other logs. Appending is idempotent by entry id.
   */
  async #appendMissing(): Promise<void> {
    const names = (await this.#names()).slice(0, limits.maxCheckedBackups);
    if (names.length === 0) return;
    const kids = new Set((await this.#options.ledger.keys()).map(({ kid }) => `keys/${kid}.json`));
    const ours: CreatedEntry[] = [];
    for (const name of names.reverse()) {
      if (this.#closed) return;
      try {
        const made = await this.#manifestIn(name);
        if (made.manifest.files.some((file) => kids.has(file.name))) ours.push(created(made));
      } catch (error) {
        this.#options.onFinding?.(`cannot read backup ${name}`, error);
      }
      if (ours.length === 100) await this.#append(ours.splice(0));
    }
    if (ours.length > 0) await this.#append(ours);
  }

  #names(): Promise<string[]> {
    return this.#volume.run(() => backupNames(this.#options.dir));
  }

  async #append(entries: readonly CreatedEntry[]): Promise<void> {
    const now = Date.now();
    const places = await this.#options.ledger.append(entries.map((entry) => datedForAppend(entry, now)));
    for (const position of places) this.#logPositions.set(position.id, position);
  }
}

/** Returns the timestamp of a UUIDv7 in epoch milliseconds. */
const timestampOf = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

type CreatedEntry = ReturnType<typeof created>;

function created({ manifest, manifestSha256 }: CompletedBackup) {
  const { id, size, files, sth, actor, created_at } = manifest;
  const event = backupCreated(id, { size, files: files.length, manifest_sha256: manifestSha256, sth }, actor);
  return entryOf(event, id, Date.parse(created_at));
}

function positionOf({ leaf_index, tree_size, leaf_hash }: Appended) {
  return { leaf_index, tree_size, leaf_hash };
}
