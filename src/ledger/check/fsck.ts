import { existsSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { omitUndefined } from '../../database/omit-undefined.ts';
import { createPool, type Pool } from '../../rpc/pool.ts';
import { workerUrl } from '../../rpc/worker-url.ts';
import type { LogPositions } from '../../store/log-positions.ts';
import { UntrustedLogError } from '../distrust.ts';
import { noJournal, type Regression } from '../journal.ts';
import { lostPurposes } from '../keys/key-file.ts';
import { KeyRing } from '../keys/key-ring.ts';
import type { LedgerKeyPurpose } from '../ledger.ts';
import { newestPosition } from '../lives/log-positions.ts';
import { recover } from '../startup.ts';
import { segmentLeaves } from '../storage/leaf-index.ts';
import { LmdbStorage } from '../storage/lmdb-store.ts';
import type { SignedHead } from '../storage/storage.ts';
import type { CheckInput } from './check-input.ts';
import { DatabaseFile, NotADatabase, type PageDamage, type Table } from './database-file.ts';
import { type ExternalHead, missingRecords, readExternalHeads } from './external-heads.ts';
import { type FindingCode, Findings, type FsckFinding, isDamage } from './findings.ts';
import { randomSeeds } from './fingerprint.ts';
import { checkHeads } from './heads.ts';
import { checkHistory } from './history.ts';
import { ComputedIndexes, StoredIndexes } from './indexes.ts';
import { findRow, RowCursor } from './row-cursor.ts';
import { keyNumber, numberKey } from './row-keys.ts';
import { type FsckTasks, type SegmentJob, SegmentReader, type SegmentResult } from './segment.ts';
import { TreeJoin } from './tree.ts';

export interface FsckOptions {
  /**
   * Folder of a stopped service, or a backup. Holds ledger.mdb, the keys and, optionally, anchor.json and
   * journal.ndjson.
   */
  readonly dataDir: string;
  /** Path of the database. Default: ledger.mdb of the folder. */
  readonly ledgerPath?: string;
  /** Path of the anchor. Default: anchor.json of the folder. */
  readonly anchorPath?: string;
  /** The log positions that siem.mdb records. An undamaged log is compared with them, as at start-up. */
  readonly positions?: LogPositions;
  /**
   * Whether the folder belongs to a service. If so, a missing anchor or journal is a finding, unless the log is empty.
   * A backup has no anchor.
   */
  readonly isInService?: boolean;
  /** Whether to verify the signature of every entry: 83 µs per entry. */
  readonly signatures?: boolean;
  /**
   * Threads that read segments of 65,536 leaves. Default: the number of processors plus one, at most five, because each
   * thread sometimes waits for the disk.
   */
  readonly threads?: number;
  /** Called about once a second. */
  onProgress?(progress: FsckProgress): void;
}

export interface FsckProgress {
  readonly leaves: number;
  readonly total: number;
}

export interface FsckReport {
  /** Whether there are no findings. */
  readonly ok: boolean;
  /** Leaves of the last head in the file. */
  readonly size: number;
  readonly head: SignedHead | undefined;
  /** The first hundred findings of each code, in order of detection. */
  readonly findings: readonly FsckFinding[];
  /** Number of findings of each code. */
  readonly counts: Readonly<Partial<Record<FindingCode, number>>>;
  /** Whether entries or heads are missing or altered, or derived data is damaged. */
  readonly isDamaged: boolean;
  /** Whether the log signed more than the file holds, or something different. */
  readonly isRolledBack: boolean;
  readonly elapsedMs: number;
}

const tableNames = ['meta', 'entries', 'ids', 'pages', 'heads', 'leaves'];
const progressMs = 1000;
/** Maximum missing entries that are searched individually. */
const maxMissing = 1_000_000;

/**
 * Recomputes the whole log from its entries and compares the result with the stored data: each leaf, each node, each
 * head of the history (root, signature, time, key), the indexes by id, kind and leaf hash, the heads in anchor and
 * journal, and the positions that siem.mdb records. Nothing is written, and no pointer in the file is followed
 * unchecked, so the file may be damaged anywhere (database-file.ts).
 *
 * The file must not change during the check, so no service may be running on it. Memory does not depend on the file's
 * size: 100 MB per thread.
 *
 * @throws the system's error if ledger.mdb or the keys cannot be read
 */
export async function fsck(options: FsckOptions): Promise<FsckReport> {
  const startedMs = performance.now();
  const findings = new Findings();
  const { dataDir, ledgerPath = join(dataDir, 'ledger.mdb'), anchorPath = join(dataDir, 'anchor.json') } = options;
  const keys = KeyRing.load(join(dataDir, 'keys'));
  for (const damaged of keys.damaged) findings.add('key_damaged', damaged);
  for (const purpose of missingPurposes(keys))
    findings.add('key_missing', `the folder keys has no active key for ${purpose}`);
  const paths = { anchor: anchorPath, journal: join(dataDir, 'journal.ndjson') };
  const { heads: witnesses, ...records } = await readExternalHeads(paths, keys, findings);
  const regression = records.journal?.regression;
  const file = openFile(ledgerPath, findings);
  const head =
    file &&
    (await new LogCheck(file, { keys, witnesses, regression, findings }, options).run().finally(() => file.close()));
  // A life whose first entry is not logged yet has no anchor and no record in siem.mdb.
  if (!keys.isUnlogged) {
    if (options.isInService === true && head !== undefined)
      for (const name of missingRecords(head, records))
        findings.add(`${name}_missing`, `the ${name} ${paths[name]} is missing or empty`);
    if (options.positions !== undefined && !isDamage(findings.codes) && findings.counts.keys_ahead === undefined)
      await comparePositions(keys, ledgerPath, options.positions, findings);
  }
  return {
    ok: findings.list.length === 0,
    size: head?.size ?? 0,
    head,
    findings: findings.list,
    counts: findings.counts,
    isDamaged: isDamage(findings.codes),
    isRolledBack: findings.isRolledBack,
    elapsedMs: performance.now() - startedMs,
  };
}

/**
 * Returns the purposes without an active key. Unlike at start-up, private keys may be missing, as in a backup. Empty if
 * key files are damaged or missing.
 */
function missingPurposes(keys: KeyRing): LedgerKeyPurpose[] {
  if (keys.damaged.length > 0 || keys.files.length === 0) return [];
  return lostPurposes(keys.files, ({ svc_state }) => svc_state === 'active');
}

function openFile(path: string, findings: Findings): DatabaseFile | undefined {
  try {
    return new DatabaseFile(path, { isDirect: true });
  } catch (error) {
    if (!(error instanceof NotADatabase)) throw error;
    findings.add('no_database', `${path} is not a database: ${error.message}`);
    return undefined;
  }
}

/** Compares an undamaged log with the records of siem.mdb, as start-up does. */
async function comparePositions(
  keys: KeyRing,
  ledgerPath: string,
  positions: LogPositions,
  findings: Findings,
): Promise<void> {
  const lock = `${ledgerPath}-lock`;
  const hadLock = existsSync(lock);
  const storage = new LmdbStorage(ledgerPath, { readOnly: true });
  try {
    recover(storage, keys, { anchor: { kind: 'missing' }, anchorPath: '', journal: noJournal, positions });
  } catch (error) {
    if (!(error instanceof UntrustedLogError)) throw error;
    if (error.fault === 'rollback') findings.add('store_ahead', error.what, newestPosition(positions));
  } finally {
    await storage.close();
    if (!hadLock) rmSync(lock, { force: true });
  }
}

class LogCheck {
  readonly #file: DatabaseFile;
  readonly #keys: KeyRing;
  readonly #witnesses: readonly ExternalHead[];
  readonly #regression: Regression | undefined;
  readonly #findings: Findings;
  readonly #options: FsckOptions;
  /** Damaged pages that were already reported. */
  readonly #damaged = new Set<string>();

  constructor(
    file: DatabaseFile,
    outside: {
      readonly keys: KeyRing;
      readonly witnesses: readonly ExternalHead[];
      readonly regression: Regression | undefined;
      readonly findings: Findings;
    },
    options: FsckOptions,
  ) {
    this.#file = file;
    this.#keys = outside.keys;
    this.#witnesses = outside.witnesses;
    this.#regression = outside.regression;
    this.#findings = outside.findings;
    this.#options = options;
  }

  /** Checks the whole file. Returns the last head; undefined if the file has no readable head. */
  async run(): Promise<SignedHead | undefined> {
    this.#checkFile();
    const shared = {
      file: this.#file,
      tables: this.#tables(),
      findings: this.#findings,
      onDamage: this.#onDamage,
    };
    if (this.#keys.files.length === 0 && (shared.tables.get('heads')?.rows ?? 0) > 0)
      this.#findings.add('keys_missing', 'the folder keys has no usable key');
    const head = checkHeads(shared);
    this.#checkKeySizes(head?.size ?? 0);
    checkHistory(shared, {
      ...{ last: head, witnesses: this.#witnesses },
      ...{ files: this.#keys.files, regression: this.#regression },
    });
    await this.#checkEntries(this.#plausible(head?.size ?? 0, shared), shared);
    return head;
  }

  #checkKeySizes(size: number): void {
    const { recordedSize } = this.#keys;
    if (size < recordedSize)
      this.#findings.add(
        'keys_ahead',
        `the log has ${size} leaves, but a key file records that it had ${recordedSize}`,
        recordedSize,
      );
  }

  /** Limits the size to check by the number of rows in the file, because a head may claim any size. */
  #plausible(size: number, { tables }: CheckInput): number {
    const most = (tables.get('entries')?.rows ?? 0) + maxMissing;
    if (size <= most) return size;
    const message = `entries ${most} to ${size - 1}, up to the size of the last head, are missing`;
    this.#findings.add('entry_missing', message, most, size - most);
    return most;
  }

  async #checkEntries(size: number, shared: CheckInput): Promise<void> {
    const seeds = randomSeeds();
    const stored = new StoredIndexes(shared, seeds);
    const computed = new ComputedIndexes(seeds);
    const tree = new TreeJoin(shared, size, this.#witnessedUpTo(size));
    const rows = stored.read(size);
    rows.catch(() => {}); // awaited below
    for await (const part of this.#segments(size, seeds, stored)) {
      this.#findings.join(part.found);
      for (const damage of part.damages) this.#onDamage(damage);
      computed.join(part);
      tree.add(part);
    }
    tree.end();
    stored.compare(size, computed, await rows);
    this.#checkBeyond(size, shared);
    this.#options.onProgress?.({ leaves: size, total: size });
  }

  /** Yields segments in order: computed in this thread for a small log, otherwise by worker threads. */
  async *#segments(
    size: number,
    seeds: readonly [number, number],
    stored: StoredIndexes,
  ): AsyncGenerator<SegmentResult> {
    const { dataDir, ledgerPath = join(dataDir, 'ledger.mdb'), signatures = false } = this.#options;
    const count = Math.max(1, Math.ceil(size / segmentLeaves));
    const witnessed = this.#witnessedUpTo(size).map(({ head }) => head.size);
    const ids = stored.partIds(count);
    const job = (n: number): SegmentJob => {
      const [first, next] = [n * segmentLeaves, (n + 1) * segmentLeaves];
      const alsoAt = witnessed.filter((at) => (at > first || n === 0) && at <= next);
      const share = omitUndefined({ idsFrom: ids[n - 1], idsBefore: ids[n] });
      return { first, size, signatures, seeds, alsoAt, ...share };
    };
    const threads = Math.min(this.#options.threads ?? 1 + Math.min(4, availableParallelism()), count - 1);
    if (threads > 1) {
      const workerData = { dataDir, ledgerPath };
      const pool = createPool<FsckTasks>({
        name: 'fsck',
        url: workerUrl('fsck'),
        threads,
        maxQueue: threads,
        workerData,
      });
      try {
        yield* this.#inWorkers(pool, threads, size, job);
      } finally {
        await pool.close();
      }
      return;
    }
    const reader = new SegmentReader({ dataDir, ledgerPath });
    try {
      for (let n = 0; n < count; n++)
        yield await reader.check(job(n), (leaves) => this.#reportProgress(n * segmentLeaves + leaves, size));
    } finally {
      reader.close();
    }
  }

  /** Keeps one segment in progress per thread, and one further segment waiting for any thread. */
  async *#inWorkers(
    pool: Pool<FsckTasks>,
    threads: number,
    size: number,
    job: (n: number) => SegmentJob,
  ): AsyncGenerator<SegmentResult> {
    const count = Math.ceil(size / segmentLeaves);
    const under: Promise<SegmentResult>[] = [];
    for (let started = 0, done = 0; done < count; done++) {
      while (started < count && started <= done + threads) {
        const result = pool.run('check', job(started++));
        result.catch(() => {}); // awaited below, in order
        under.push(result);
      }
      const part = await under.shift()!;
      await this.#reportProgress(part.first + part.leaves, size);
      yield part;
    }
  }

  #reportedMs = performance.now();

  #reportProgress(leaves: number, total: number): Promise<void> | undefined {
    if (performance.now() - this.#reportedMs < progressMs) return undefined;
    this.#reportedMs = performance.now();
    this.#options.onProgress?.({ leaves, total });
    return turn(); // lets signals and timers of the process run
  }

  /** Returns the heads of anchor and journal up to this size. */
  #witnessedUpTo(size: number): ExternalHead[] {
    return this.#witnesses.filter(({ head }) => head.size <= size);
  }

  #checkBeyond(size: number, { file, tables }: CheckInput): void {
    for (const { head, source, ahead } of this.#witnesses) {
      if (head.size <= size) continue;
      this.#findings.add(
        ahead,
        `${source} has a signed head of ${head.size} leaves, but the log has ${size}`,
        head.size,
      );
    }
    const table = tables.get('entries');
    let [beyond, last] = [0, size];
    for (
      const rows = table && new RowCursor(file, table, this.#onDamage, numberKey(size));
      rows?.nextKey() === true;
    ) {
      last = keyNumber(rows.key());
      beyond += 1;
    }
    if (beyond === 0) return;
    const entries = `the log has ${beyond} ${beyond === 1 ? 'entry' : 'entries'}`;
    if (size === 0) this.#findings.add('head_missing', `${entries}, but no signed head`);
    const message = `${entries}, up to index ${last}, beyond the last head of ${size} leaves`;
    this.#findings.add('entry_beyond', message, size, beyond);
  }

  #checkFile(): void {
    const { missingPages, tornMeta } = this.#file;
    if (tornMeta !== undefined)
      this.#findings.add('meta_torn', `meta page ${tornMeta} of ledger.mdb was partly written`, tornMeta);
    if (missingPages > 0 && this.#file.lacksPagesInUse())
      this.#findings.add('file_cut', `ledger.mdb is ${missingPages} pages too short`, this.#file.pages);
  }

  #tables(): Map<string, Table> {
    const tables = this.#file.tables(this.#onDamage);
    for (const name of tableNames) {
      if (!tables.has(name)) this.#findings.add('table_missing', `ledger.mdb has no table ${name}`);
    }
    const meta = tables.get('meta');
    const row = meta && findRow(this.#file, meta, Buffer.from('format'));
    if (meta !== undefined && !isReady(row))
      this.#findings.add('format_unknown', 'ledger.mdb is not marked as an initialised log of a known format');
    // LMDB reads the free list before it writes: an unreadable page in the list would stop the next append.
    const free = new RowCursor(this.#file, this.#file.freeList, this.#onDamage);
    while (free.next());
    return tables;
  }

  readonly #onDamage = ({ table, page, what }: PageDamage): void => {
    const name = `${table} ${page}`;
    if (this.#damaged.has(name) || this.#damaged.size > 100_000) return;
    this.#damaged.add(name);
    this.#findings.add(
      'page_unreadable',
      `page ${page} of the file, in the table ${table}, is not valid: ${what}`,
      page,
    );
  };
}

function isReady(row: Buffer | undefined): boolean {
  try {
    const { format, state } = JSON.parse(row?.toString() ?? '');
    return format === 1 && state === 'ready';
  } catch {
    return false;
  }
}
