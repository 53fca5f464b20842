import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { replaceFile } from '../../durable-file.ts';
import { type FoundMeta, type Meta, readMetas } from '../check/database-meta.ts';

/** In the data folder. A restore replaces it together with siem.mdb, and backups do not contain it. */
const recordFile = 'siem.mdb.json';

interface AgeRecord {
  /** Transactions that siem.mdb had, at least; 0 where there was none. */
  readonly transaction: number;
  /** Fingerprints of the last two transactions. */
  readonly last?: readonly number[];
  /**
   * Why siem.mdb is older than the folder, from the first start with it until the newer one is back or the operator accepts
   * it. Until then the other fields are those of the newer one.
   */
  readonly older?: string;
  /** Size of the log when the operator accepted an older siem.mdb: the entries before it are not expected in siem.mdb. */
  readonly accepted?: number;
}

/**
 * How far siem.mdb was, in a file beside it: LMDB counts its transactions, so that an older copy in the place of the file
 * has fewer. Written at each start and stop, and once a minute.
 */
export class StoreAge {
  readonly #database: string;
  readonly #path: string;
  #record: AgeRecord;
  /** Whether the file is the one that the record is of. */
  readonly #isBack: boolean = false;
  #writing: Promise<void> = Promise.resolve();

  /** Compares the database with the record. Called before the store opens it. */
  constructor(dataDir: string) {
    this.#database = join(dataDir, 'siem.mdb');
    this.#path = join(dataDir, recordFile);
    this.#record = readRecord(this.#path);
    const { transaction } = this.#record;
    const found = this.#metas()?.meta;
    if (found !== undefined && found.transaction < transaction)
      this.#found(`it has ${found.transaction} transactions, where at least ${transaction} were made`);
    // An older copy that goes on may reach the same number of transactions, but not the same pages.
    else this.#isBack = found !== undefined && this.#record.last?.includes(fingerprint(found)) === true;
  }

  /** Why siem.mdb is older than the folder; undefined where it is not. */
  get older(): string | undefined {
    return this.#record.older;
  }

  /** Entries of the log before this one are not expected in siem.mdb. */
  get accepted(): number {
    return this.#record.accepted ?? 0;
  }

  /** Called with the first entry that siem.mdb must know of and does not, if there is one, and the size of the log. */
  compared(unknown: number | undefined, size: number): void {
    if (unknown !== undefined)
      this.#found(
        `the log has entries ${unknown} to ${size - 1}, and entry ${unknown} is not recorded in siem.mdb`,
      );
    else if (this.#isBack) this.#forgive();
  }

  /** The operator goes on with the database as it is, beside a log of this size. */
  async accept(size: number): Promise<void> {
    this.#forgive();
    this.#record = { ...this.#record, accepted: size };
    await this.#save();
  }

  /** Resolves when the record is on disk. One that cannot be written is written by the next call. */
  write(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#save()).catch(() => {});
    return this.#writing;
  }

  #save(): Promise<void> {
    // The last transaction may be visible and not yet flushed; the one before it is on disk.
    const { meta, whole = [] } = this.#metas() ?? {};
    const transaction = Math.max(0, (meta?.transaction ?? 0) - 1);
    if (this.#record.older === undefined)
      this.#record = { ...this.#record, transaction, last: whole.map(fingerprint) };
    return replaceFile(this.#path, `${format(this.#record)}\n`, { mode: 0o600 });
  }

  #forgive(): void {
    const { older: _, ...record } = this.#record;
    this.#record = record;
  }

  #found(why: string): void {
    this.#record = { ...this.#record, older: this.#record.older ?? why };
  }

  /** Undefined where there is no database that can be read. */
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

/** A file that is missing or damaged records nothing: it must not accuse a database that is sound. */
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
