import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { replaceFile } from '../../files/durable-file.ts';
import { SerialQueue } from '../../files/serial-queue.ts';
import { type FoundMeta, type Meta, readMetas } from '../check/database-meta.ts';

/**
 * Name of the record file in the data folder. A restore replaces the file together with siem.mdb, and backups do not
 * contain it.
 */
const recordFile = 'siem.mdb.json';

interface AgeRecord {
  /** Lower bound of the transactions of siem.mdb; 0 if there was no siem.mdb. */
  readonly transaction: number;
  /** Fingerprints of the last two transactions. */
  readonly last?: readonly number[];
  /**
   * Reason why siem.mdb is treated as older than the copy last used in this folder. Set from the first start with the
   * older file until the newer file is back or the operator accepts the older file. Until then, the other fields
   * describe the newer file.
   */
  readonly older?: string;
  /**
   * Size of the log when the operator accepted an older siem.mdb. Entries before it are not expected in
   * siem.mdb.
   */
  readonly accepted?: number;
}

/**
 * Records the state of siem.mdb in a file beside it. LMDB counts transactions, so an older copy of the file has fewer
 * transactions. Written at each start and stop, and once a minute.
 */
export class StoreAge {
  readonly #database: string;
  readonly #path: string;
  #record: AgeRecord;
  /** Whether the database has one of the recorded transactions, so that it is not an older copy. */
  readonly #isBack: boolean = false;
  readonly #queue = new SerialQueue();

  /** Compares the database with the record. Must be called before the store opens the database. */
  constructor(dataDir: string) {
    this.#database = join(dataDir, 'siem.mdb');
    this.#path = join(dataDir, recordFile);
    this.#record = readRecord(this.#path);
    const { transaction } = this.#record;
    const found = this.#metas()?.meta;
    if (found !== undefined && found.transaction < transaction)
      this.#markOlder(`it has ${found.transaction} transactions, but at least ${transaction} were committed`);
    // An older copy in use may reach the same number of transactions, but not the same pages.
    else this.#isBack = found !== undefined && this.#record.last?.includes(fingerprint(found)) === true;
  }

  /** Reason why siem.mdb is treated as older than the copy last used in this folder; undefined if it is not older. */
  get older(): string | undefined {
    return this.#record.older;
  }

  /** Entries of the log before this index are not expected in siem.mdb. */
  get accepted(): number {
    return this.#record.accepted ?? 0;
  }

  /**
   * Records the result of start-up: the first entry that siem.mdb must have recorded but has not, if any, and the size
   * of the log.
   */
  compared(unknown: number | undefined, size: number): void {
    if (unknown !== undefined)
      this.#markOlder(
        `the log has entries ${unknown} to ${size - 1}, but entry ${unknown} is not recorded in siem.mdb`,
      );
    else if (this.#isBack) this.#clearOlder();
  }

  /** Records that the operator accepts the older database for a log of this size. */
  async accept(size: number): Promise<void> {
    this.#clearOlder();
    this.#record = { ...this.#record, accepted: size };
    await this.#save();
  }

  /**
   * Writes the record; resolves when it is on disk. Ignores a failure, because the next call writes the record again.
   */
  write(): Promise<void> {
    return this.#queue.run(() => this.#save()).catch(() => {});
  }

  #save(): Promise<void> {
    // The last transaction may be visible but not flushed yet; the previous transaction is on disk.
    const { meta, whole = [] } = this.#metas() ?? {};
    const transaction = Math.max(0, (meta?.transaction ?? 0) - 1);
    if (this.#record.older === undefined) this.#record = { ...this.#record, transaction, last: whole.map(fingerprint) };
    return replaceFile(this.#path, `${format(this.#record)}\n`, { mode: 0o600 });
  }

  #clearOlder(): void {
    const { older: _, ...record } = this.#record;
    this.#record = record;
  }

  #markOlder(why: string): void {
    this.#record = { ...this.#record, older: this.#record.older ?? why };
  }

  /** Returns the meta pages of the database; undefined if there is no readable database. */
  #metas(): FoundMeta | undefined {
    let file: number;
    try {
      file = openSync(this.#database, 'r');
    } catch {
      return undefined;
    }
    try {
      return readMetas(file, fstatSync(file).size);
    } finally {
      closeSync(file);
    }
  }
}

/**
 * Reads the record. Treats a missing or damaged file as an empty record, because such a file does not show that the
 * database is older.
 */
function readRecord(path: string): AgeRecord {
  try {
    const text = readFileSync(path, 'utf8');
    const { crc32: _, ...record } = JSON.parse(text);
    if (text === `${format(record)}\n`) return record;
  } catch {}
  return { transaction: 0 };
}

const fingerprint = (meta: Meta) => crc32(JSON.stringify(meta));

function format(record: AgeRecord): string {
  return JSON.stringify({ ...record, crc32: crc32(JSON.stringify(record)) });
}
