import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { createPool, type Pool } from '../../rpc/pool.ts';
import { workerUrl } from '../../worker-url.ts';
import type { Regression } from '../journal.ts';
import { segmentLeaves } from '../storage/leaf-index.ts';
import type { SignedHead } from '../storage/storage.ts';
import { DatabaseFile, NotADatabase, type PageDamage, type Table } from './database-file.ts';
import { type FindingCode, Findings, type FsckFinding, isDamage } from './findings.ts';
import { randomSeeds } from './fingerprint.ts';
import { checkHeads } from './heads.ts';
import { checkHistory } from './history.ts';
import { GivenIndexes, StoredIndexes } from './indexes.ts';
import { PublicKeys } from './public-keys.ts';
import { findRow, RowCursor } from './row-cursor.ts';
import { keyNumber, numberKey } from './row-keys.ts';
import { type FsckTasks, type SegmentJob, SegmentReader, type SegmentResult } from './segment.ts';
import { TreeJoin } from './tree.ts';
import { readWitnesses, type WitnessedHead } from './witnesses.ts';

export interface FsckOptions {
  /** Folder with ledger.mdb and keys and, where they are, anchor.json and journal.ndjson: a stopped service's, or a backup's. */
  readonly dataDir: string;
  /** Default: ledger.mdb of the folder. */
  readonly ledgerPath?: string;
  /** Default: anchor.json of the folder. */
  readonly anchorPath?: string;
  /** Verify the signature of every entry too: 83 µs each. */
  readonly signatures?: boolean;
  /**
   * Threads that read segments of 65,536 leaves. Default: one more than there are processors, up to five, because each
   * waits for the disk now and then.
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
  /** Nothing was found. */
  readonly ok: boolean;
  /** Leaves of the last head in the file. */
  readonly size: number;
  readonly head: SignedHead | undefined;
  /** The first hundred of each code, in the order in which they were met. */
  readonly findings: readonly FsckFinding[];
  /** How many of each code there are. */
  readonly counts: Readonly<Partial<Record<FindingCode, number>>>;
  /** Entries or heads are gone or altered. */
  readonly isDamaged: boolean;
  /** More, or other, was signed than the file holds. */
  readonly isRolledBack: boolean;
  readonly elapsedMs: number;
}

const tableNames = ['meta', 'entries', 'ids', 'pages', 'heads', 'leaves'];
const progressMs = 1000;
/** Missing entries that are looked for one by one. */
const maxMissing = 1_000_000;

/**
 * Derives the whole log again from its entries: each leaf, each node, each head of the history (root, signature, time,
 * key), the indexes by id, kind and leaf hash; and holds it against anchor and journal. Nothing is written, and nothing
 * that the file says is followed unchecked, so that it may be damaged anywhere (database-file.ts).
 *
 * The file must not change meanwhile: nobody may be running a service on it. Memory is independent of its size: 100 MB a
 * thread.
 *
 * @throws the system's error where ledger.mdb or the keys may not be read.
 */
export async function fsck(options: FsckOptions): Promise<FsckReport> {
  const startedMs = performance.now();
  const findings = new Findings();
  const {
    dataDir,
    ledgerPath = join(dataDir, 'ledger.mdb'),
    anchorPath = join(dataDir, 'anchor.json'),
  } = options;
  const keys = PublicKeys.load(join(dataDir, 'keys'));
  for (const damaged of keys.damaged) findings.add('key_damaged', damaged);
  for (const purpose of keys.missing)
    findings.add('key_missing', `the folder keys has no active key for ${purpose}`);
  const { heads: witnesses, regression } = await readWitnesses(
    { anchor: anchorPath, journal: join(dataDir, 'journal.ndjson') },
    keys,
    findings,
  );
  const file = openFile(ledgerPath, findings);
  const head =
    file &&
    (await new LogCheck(file, { keys, witnesses, regression, findings }, options)
      .run()
      .finally(() => file.close()));
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

function openFile(path: string, findings: Findings): DatabaseFile | undefined {
  try {
    return new DatabaseFile(path, { isDirect: true });
  } catch (error) {
    if (!(error instanceof NotADatabase)) throw error;
    findings.add('no_database', `${path} is no database: ${error.message}`);
    return undefined;
  }
}

class LogCheck {
  readonly #file: DatabaseFile;
  readonly #keys: PublicKeys;
  readonly #witnesses: readonly WitnessedHead[];
  readonly #regression: Regression | undefined;
  readonly #findings: Findings;
  readonly #options: FsckOptions;
  /** Pages told of once, however often they are met. */
  readonly #damaged = new Set<string>();

  constructor(
    file: DatabaseFile,
    outside: {
      readonly keys: PublicKeys;
      readonly witnesses: readonly WitnessedHead[];
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

  /** Returns the last head. */
  async run(): Promise<SignedHead | undefined> {
    this.#checkFile();
    const shared = {
      file: this.#file,
      tables: this.#tables(),
      findings: this.#findings,
      onDamage: this.#onDamage,
    };
    if (this.#keys.size === 0 && (shared.tables.get('heads')?.rows ?? 0) > 0)
      this.#findings.add('keys_missing', 'the folder keys has no usable key');
    const head = checkHeads(shared);
    checkHistory(shared, {
      ...{ last: head, witnesses: this.#witnesses },
      ...{ files: this.#keys.files, regression: this.#regression },
    });
    await this.#checkEntries(this.#plausible(head?.size ?? 0, shared), shared);
    return head;
  }

  /** A head may claim anything, the file has only so many rows. */
  #plausible(size: number, { tables }: Shared): number {
    const most = (tables.get('entries')?.rows ?? 0) + maxMissing;
    if (size <= most) return size;
    const message = `entries from ${most} to ${size - 1}, the end of the last head, are missing`;
    this.#findings.add('entry_missing', message, most, size - most);
    return most;
  }

  async #checkEntries(size: number, shared: Shared): Promise<void> {
    const seeds = randomSeeds();
    const stored = new StoredIndexes(shared, seeds);
    const given = new GivenIndexes(seeds);
    const tree = new TreeJoin(shared, size, this.#behind(size));
    const rows = stored.read(size);
    rows.catch(() => {}); // awaited below
    for await (const part of this.#segments(size, seeds, stored)) {
      this.#findings.join(part.found);
      for (const damage of part.damages) this.#onDamage(damage);
      given.join(part);
      tree.add(part);
    }
    tree.end();
    stored.compare(size, given, await rows);
    this.#checkBeyond(size, shared);
    this.#options.onProgress?.({ leaves: size, total: size });
  }

  /** Segments in order: in this thread where the log is small, else as threads bring them. */
  async *#segments(
    size: number,
    seeds: readonly [number, number],
    stored: StoredIndexes,
  ): AsyncGenerator<SegmentResult> {
    const { dataDir, ledgerPath = join(dataDir, 'ledger.mdb'), signatures = false } = this.#options;
    const count = Math.max(1, Math.ceil(size / segmentLeaves));
    const behind = this.#behind(size).map(({ head }) => head.size);
    const ids = stored.partIds(count);
    const job = (n: number): SegmentJob => {
      const [first, next] = [n * segmentLeaves, (n + 1) * segmentLeaves];
      const alsoAt = behind.filter((at) => (at > first || n === 0) && at <= next);
      const [idsFrom, idsBefore] = [ids[n - 1], ids[n]];
      return {
        ...{ first, size, signatures, seeds, alsoAt },
        ...(idsFrom === undefined ? {} : { idsFrom }),
        ...(idsBefore === undefined ? {} : { idsBefore }),
      };
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
        yield* this.#inThreads(pool, threads, size, job);
      } finally {
        await pool.close();
      }
      return;
    }
    const reader = new SegmentReader({ dataDir, ledgerPath });
    try {
      for (let n = 0; n < count; n++)
        yield await reader.check(job(n), (leaves) => this.#tell(n * segmentLeaves + leaves, size));
    } finally {
      reader.close();
    }
  }

  /** As many segments under way as there are threads, and one more that waits for its turn. */
  async *#inThreads(
    pool: Pool<FsckTasks>,
    threads: number,
    size: number,
    job: (n: number) => SegmentJob,
  ): AsyncGenerator<SegmentResult> {
    const count = Math.ceil(size / segmentLeaves);
    const under: Promise<SegmentResult>[] = [];
    for (let begun = 0, done = 0; done < count; done++) {
      while (begun < count && begun <= done + threads) {
        const result = pool.run('check', job(begun++));
        result.catch(() => {}); // awaited below, in its turn
        under.push(result);
      }
      const part = await under.shift()!;
      await this.#tell(part.first + part.leaves, size);
      yield part;
    }
  }

  #toldMs = performance.now();

  #tell(leaves: number, total: number): Promise<void> | undefined {
    if (performance.now() - this.#toldMs < progressMs) return undefined;
    this.#toldMs = performance.now();
    this.#options.onProgress?.({ leaves, total });
    return turn(); // signals and timers of the process
  }

  /** Witnessed heads that the log has come to. */
  #behind(size: number): WitnessedHead[] {
    return this.#witnesses.filter(({ head }) => head.size <= size);
  }

  #checkBeyond(size: number, { file, tables }: Shared): void {
    for (const { head, source, ahead } of this.#witnesses) {
      if (head.size <= size) continue;
      this.#findings.add(
        ahead,
        `${source} has a signed head of ${head.size} leaves, the log has ${size}`,
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
    if (size === 0) this.#findings.add('head_missing', `${beyond} entries, but no head signed for them`);
    const message = `${beyond} entries, up to index ${last}, lie beyond the last head of ${size} leaves`;
    this.#findings.add('entry_beyond', message, size, beyond);
  }

  #checkFile(): void {
    const { missingPages, tornMeta } = this.#file;
    if (tornMeta !== undefined)
      this.#findings.add('meta_torn', `meta page ${tornMeta} of ledger.mdb was written in part`, tornMeta);
    if (missingPages > 0 && this.#file.lacksPagesInUse())
      this.#findings.add(
        'file_cut',
        `ledger.mdb ends ${missingPages} pages before its last one`,
        this.#file.pages,
      );
  }

  #tables(): Map<string, Table> {
    const tables = this.#file.tables(this.#onDamage);
    for (const name of tableNames) {
      if (!tables.has(name)) this.#findings.add('table_missing', `ledger.mdb has no table ${name}`);
    }
    const meta = tables.get('meta');
    const row = meta && findRow(this.#file, meta, Buffer.from('format'));
    if (meta !== undefined && !isReady(row))
      this.#findings.add(
        'format_unknown',
        'ledger.mdb does not say that it is an initialised log of a known format',
      );
    // What LMDB reads to write: a page of it that can't be followed stops the next append.
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
      `page ${page} of the file, in the table ${table}, can't be followed: ${what}`,
      page,
    );
  };
}

interface Shared {
  readonly file: DatabaseFile;
  readonly tables: ReadonlyMap<string, Table>;
  readonly findings: Findings;
  onDamage(damage: PageDamage): void;
}

function isReady(row: Buffer | undefined): boolean {
  try {
    const { format, state } = JSON.parse(row?.toString() ?? '');
    return format === 1 && state === 'ready';
  } catch {
    return false;
  }
}
