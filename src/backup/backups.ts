import { join } from 'node:path';
import { backupCreated, entryOf } from '../contract/critical-events.ts';
import type { Backup } from '../contract/resources/backup.ts';
import { ServiceError } from '../errors.ts';
import { datedForAppend } from '../ledger/entry-window.ts';
import type { Appended, Ledger } from '../ledger/ledger.ts';
import { limits } from '../limits.ts';
import { readTextFile } from '../read-file.ts';
import { backupList, type ListedBackup } from '../store/lists/backups.ts';
import { pageOf, type Row } from '../store/lists/list.ts';
import type { ListPage, ListQuery } from '../store/store.ts';
import { uuid7 } from '../uuid.ts';
import { before, VolumeTurns } from '../volume-turns.ts';
import { BackupError, reasonOf } from './backup-error.ts';
import { bytesIn } from './files.ts';
import { backupNames, idIn, partialName, removePartials } from './folders.ts';
import {
  type BackupOrder,
  type BackupSources,
  databaseBytes,
  type Made,
  makeBackup,
  sha256,
} from './make-backup.ts';
import { manifestFile, parseManifest } from './manifest.ts';

/** A backup as the API shows it. */
export interface BackupRecord {
  readonly id: string;
  readonly attributes: Backup;
}

export interface BackupPage extends Omit<ListPage, 'json'> {
  readonly items: readonly BackupRecord[];
}

/** Backups of a running service, as the rest of it sees them. */
export interface Backups {
  /** Begins a backup and resolves once it is under way. CONFLICT while another is; UNAVAILABLE while stopping. */
  begin(actor: string): Promise<BackupRecord>;
  /** NOT_FOUND. Those that failed are known until the process ends, the newest limits.maxFailedBackups. */
  get(id: string): Promise<BackupRecord>;
  list(query: ListQuery): Promise<BackupPage>;
}

export interface BackupsOptions extends BackupSources {
  readonly ledger: Pick<Ledger, 'copyTo' | 'append' | 'keys'>;
  /** A backup ended. `error` is set when it failed. */
  onEnd?(record: BackupRecord, error?: unknown): void;
  /** How long a backup may take. Default: by its size, see limits.backupMs. */
  readonly maxMs?: number;
  /** Something about older backups that an operator should know. */
  onFinding?(message: string, error?: unknown): void;
}

interface Running {
  readonly id: string;
  readonly createdAt: number;
  readonly stop: AbortController;
  /** Never rejects. */
  readonly ended: Promise<BackupRecord>;
}

/**
 * The backups in one folder. Owner of the one that is being made and of what is remembered of those that failed; what
 * is complete is read from the folder, whoever put it there or took it away.
 */
export class BackupFolder implements Backups {
  readonly #options: BackupsOptions;
  /** For what is read beside a backup that is being made. */
  readonly #turns: VolumeTurns;
  #running: Running | undefined;
  /** A backup that took too long, and whose thread the volume has not given back. */
  #hung: string | undefined;
  /** By id, oldest first. */
  readonly #failed = new Map<string, BackupRecord>();
  /** Where entries stand that this process appended or looked for. */
  readonly #places = new Map<string, Appended>();
  #cleared: Promise<void> = Promise.resolve();
  #recovered: Promise<void> = Promise.resolve();
  /** Complete, and not in the log yet. */
  #unlogged: CreatedEntry[] = [];
  #closed = false;

  constructor(options: BackupsOptions) {
    this.#options = options;
    this.#turns = new VolumeTurns(`the folder of the backups ${options.dir}`);
  }

  /**
   * What an earlier process left undone: half-written backups are removed, and complete ones that the log doesn't tell
   * of get their entry. Nobody need wait for it, and it never rejects: what fails is left to a later start.
   */
  recover(): Promise<void> {
    this.#cleared = this.#clear();
    this.#recovered = this.#cleared.then(() => this.#catchUp());
    return this.#recovered;
  }

  async #clear(): Promise<void> {
    const { dir, dataDir, onFinding } = this.#options;
    try {
      const removed = await removePartials(dir, dataDir);
      if (removed > 0) onFinding?.(`${removed} backups that were not finished have been removed from ${dir}`);
    } catch (error) {
      onFinding?.(`what was left of unfinished backups in ${dir} cannot be removed`, error);
    }
  }

  async #catchUp(): Promise<void> {
    try {
      await this.#appendMissing();
    } catch (error) {
      this.#options.onFinding?.('backups could not be looked for in the log', error);
    }
  }

  async begin(actor: string): Promise<BackupRecord> {
    if (this.#closed) throw new ServiceError('UNAVAILABLE', 'the service is stopping');
    if (this.#running !== undefined) {
      const { id } = this.#running;
      throw new ServiceError('CONFLICT', `backup ${id} is being made; one at a time`, { backup_id: id });
    }
    if (this.#hung !== undefined)
      throw new ServiceError(
        'CONFLICT',
        `the volume of ${this.#options.dir} has not answered since backup ${this.#hung} was given up; repair it`,
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
    // What ends right now may have its name already.
    const ids = new Set(known.map(({ id }) => id));
    const names = (await this.#names()).filter((name) => !ids.has(idIn(name) ?? ''));
    const reads = new Map<string, () => Promise<BackupRecord>>([
      ...known.map((record) => [record.id, async () => record] as const),
      ...names.map((name) => [idIn(name) ?? '', () => this.#read(name)] as const),
    ]);
    // One by one, here and below: a manifest with many keys is a megabyte.
    const rows: Row<ListedBackup>[] = [];
    for (const [id, read] of reads) {
      const listed = query.terms.length === 0 ? undefined : await read();
      rows.push({ id, item: { id, createdAt: timeIn(id), state: listed?.attributes.state ?? 'completed' } });
    }
    const { shown, ...page } = pageOf(backupList, rows, query);
    const items: BackupRecord[] = [];
    for (const { id } of shown) items.push(await reads.get(id)!());
    return { items, ...page };
  }

  /** Resolves with what became of it once a backup that is being made has ended. */
  async ended(id: string): Promise<BackupRecord> {
    return this.#running?.id === id ? this.#running.ended : this.get(id);
  }

  /** Gives up what is being made, once LMDB has finished the copy that it is writing. */
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
      const made = await this.#inTime(stop, { id, createdAt, actor, signal: stop.signal });
      await this.#log(made);
      record = this.#shown(made);
    } catch (error) {
      failure = error;
      record = this.#remember(id, createdAt, error);
    }
    this.#running = undefined;
    this.#options.onEnd?.(record, failure);
    return record;
  }

  /** A call of the operating system that hangs cannot be ended, so no other backup begins before it returns. */
  async #inTime(stop: AbortController, order: BackupOrder): Promise<Made> {
    const bySize = (databaseBytes(this.#options.dataDir) / limits.minBackupBytesPerS) * 1000;
    const { maxMs = limits.backupMs + bySize, dir } = this.#options;
    const work = this.#cleared.then(() => makeBackup(this.#options, order));
    return before(maxMs, work, () => {
      const late = new BackupError(
        `it took longer than ${Math.round(maxMs / 1000)} s; look at the volume of ${dir}`,
      );
      stop.abort(late);
      this.#hung = order.id;
      const ended = () => {
        this.#hung = undefined;
      };
      work.then(ended, ended);
      return late;
    });
  }

  /** The backup is whole whatever becomes of its entry: the next one brings it along, or else the next start. */
  async #log(made: Made): Promise<void> {
    this.#unlogged.push(created(made));
    try {
      await this.#append(this.#unlogged);
      this.#unlogged = [];
    } catch (error) {
      this.#options.onFinding?.(`the log has no entry yet of backup ${made.manifest.id}`, error);
    }
  }

  #remember(id: string, createdAt: number, error: unknown): BackupRecord {
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
    const size = await this.#turns.run(() => bytesIn(partial)).catch(() => 0);
    return { id, attributes: { state: 'running', size, created_at: new Date(createdAt).toISOString() } };
  }

  /** A complete backup, from its manifest. One whose manifest can't be read is shown as what it is. */
  async #read(name: string): Promise<BackupRecord> {
    try {
      return this.#shown(await this.#manifestIn(name));
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
          created_at: new Date(timeIn(id)).toISOString(),
        },
      };
    }
  }

  async #manifestIn(name: string): Promise<Made> {
    const path = join(this.#options.dir, name);
    const text = await this.#turns.run(() => readTextFile(join(path, manifestFile), limits.maxManifestBytes));
    const manifest = parseManifest(text);
    if (manifest.id !== idIn(name)) throw new BackupError(`${manifestFile} is of backup ${manifest.id}`);
    return { manifest, manifestSha256: sha256(text), path };
  }

  #shown({ manifest, path }: Made): BackupRecord {
    const { id, created_at, finished_at, size, events, alerts, sth, private_keys } = manifest;
    const place = this.#places.get(id);
    const attributes: Backup = {
      state: 'completed',
      path,
      size,
      events: events.network + events.dns,
      alerts,
      private_keys: private_keys ?? 'included',
      ...(sth === undefined ? {} : { sth }),
      ...(place === undefined ? {} : { transparency: placeOf(place) }),
      created_at,
      finished_at,
    };
    return { id, attributes };
  }

  /** Backups of this log by its keys: others may lie in the same folder. Appending again changes nothing. */
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
        this.#options.onFinding?.(`the backup ${name} cannot be read`, error);
      }
      if (ours.length === 100) await this.#append(ours.splice(0));
    }
    if (ours.length > 0) await this.#append(ours);
  }

  #names(): Promise<string[]> {
    return this.#turns.run(() => backupNames(this.#options.dir));
  }

  async #append(entries: readonly CreatedEntry[]): Promise<void> {
    const now = Date.now();
    const places = await this.#options.ledger.append(entries.map((entry) => datedForAppend(entry, now)));
    for (const place of places) this.#places.set(place.id, place);
  }
}

/** When a UUIDv7 was made, in epoch milliseconds. */
const timeIn = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

type CreatedEntry = ReturnType<typeof created>;

function created({ manifest, manifestSha256 }: Made) {
  const { id, size, files, sth, actor, created_at } = manifest;
  const event = backupCreated(id, { size, files: files.length, manifest_sha256: manifestSha256, sth }, actor);
  return entryOf(event, id, Date.parse(created_at));
}

function placeOf({ leaf_index, tree_size, leaf_hash }: Appended) {
  return { leaf_index, tree_size, leaf_hash };
}
