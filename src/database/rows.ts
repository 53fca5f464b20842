import { crc32 } from 'node:zlib';
import { ServiceError } from '../errors.ts';
import { fnv } from '../sketch/hash.ts';
import { type Database, isReadOnly, type Key, ownBytes, type RootDatabase } from './lmdb.ts';

/*
 * The mark of a row. A row is stored as its value, u32 CRC-32 of key and value, u32 mark. Rows of earlier versions have
 * only the value. A row without the mark counts as damaged, not as a row of an earlier version, if its mark has one
 * wrong bit or its checksum is right.
 *
 * Node's zlib.crc32 takes 0.2 µs per call and 0.5 ns per byte, a loop in JavaScript 2 ns per byte. CRC-32C
 * detects the same single and double bit flips and is not built in.
 */
const mark = 0xb5e7_a1c9;
const sealBytes = 8;

/**
 * Signals that stored data is missing or has a wrong checksum. Requests that need the data fail with
 * INTERNAL.
 */
export class DamagedDataError extends ServiceError {
  constructor(what: string, details: Readonly<Record<string, string | number>> = {}) {
    super('INTERNAL', `stored data is damaged: ${what}; see /health`, { reason: 'data_damaged', ...details });
  }
}

/** Returns whether an error, from any thread, reports damaged data of siem.mdb. */
export const isDamage = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.details?.reason === 'data_damaged';

/** A table of siem.mdb, whose rows are verified on each read. */
export type Rows<V, K extends Key> = Pick<
  Database<V, K>,
  'doesExist' | 'getKeys' | 'getKeysCount' | 'getRange' | 'getStats' | 'clearSync' | 'removeSync'
> & {
  /**
   * Returns a value, or undefined for a missing row, and for a damaged row if the table leaves damaged rows
   * out.
   */
  get(key: K): V | undefined;
  /** Returns a value, or undefined for a missing row. Throws for a damaged row of any table. */
  getStrict(key: K): V | undefined;
  /** Returns a value, or undefined for a missing row, and for a damaged row of any table. */
  getSound(key: K): V | undefined;
  putSync(key: K, value: V): void;
  /**
   * Verifies at most `limit` rows, beginning with a key. Must be called in a transaction, because it adds
   * checksums to rows of earlier versions.
   */
  check(start: K | undefined, limit: number): Checked<K>;
};

export interface Checked<K> {
  readonly rows: number;
  readonly damaged: readonly string[];
  /** The key after the last checked key; undefined at the end of the table. */
  readonly next: K | undefined;
}

/** The treatment of damaged rows. */
export interface DamagePolicy {
  /** Receives the table and key of each damaged row. */
  onDamage?(row: string): void;
  /** Whether `get` and `getRange` leave damaged rows out. Default: they throw. */
  readonly leavesOut?: boolean;
}

/** A table of siem.mdb: how it is stored, and the types of its rows and keys. */
export interface TableSpec<V, K extends Key> {
  /** The name of the table in the file. */
  readonly stored: string;
  /** Encoding of the rows. Default: msgpack. */
  readonly encoding?: 'binary' | 'json';
  /**
   * Whether damaged rows are never left out. This applies to rows of identities, of log coverage, of rules and known
   * indicators, and of the progress of jobs: without such a row, a response or a change would be wrong, not only
   * incomplete.
   */
  readonly strict?: boolean;
  /** Whether files of every version have the table. */
  readonly original?: boolean;
  /** The types of rows and keys; never present at run time. */
  readonly types?: readonly [V, K];
}

export const table = <V, K extends Key>(
  stored: string,
  options: Omit<TableSpec<V, K>, 'stored' | 'types'> = {},
): TableSpec<V, K> => ({ stored, ...options });

export type OpenTables<Specs> = {
  readonly [Name in keyof Specs]: Specs[Name] extends TableSpec<infer V, infer K> ? Rows<V, K> : never;
};

/** Returns the highest key of a table whose keys are a sequence; 0 if the table is empty. */
export function lastSequence(table: Pick<Rows<unknown, number>, 'getKeys'>): number {
  for (const key of table.getKeys({ reverse: true, limit: 1 })) return key;
  return 0;
}

/** Returns the number of entries of a table from its statistics, in constant time. */
export function entryCount(table: { getStats(): object }): number {
  return (table.getStats() as { readonly entryCount: number }).entryCount;
}

interface Codec<V> {
  encode(value: V): Uint8Array;
  decode(bytes: Uint8Array): V;
}

/** Codec for binary values, which are stored unchanged. Decoding returns a view of the bytes. */
const binary: Codec<Buffer> = {
  encode: (value) => value,
  decode: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
};
const json: Codec<unknown> = {
  encode: (value) => Buffer.from(JSON.stringify(value)),
  decode: (bytes) => JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()),
};

/**
 * Opens a table with checksums. Returns undefined for a table that is missing in a file opened for reading.
 *
 * @param encoding - default: msgpack
 */
export function openRows<V, K extends Key>(
  root: RootDatabase,
  name: string,
  encoding?: 'binary' | 'json',
  policy: DamagePolicy = {},
): Rows<V, K> {
  const raw = root.openDB<Buffer, K>({ name, encoding: 'binary' }) as Database<Buffer, K> | undefined;
  const codecs = { binary, json, msgpack: (root as unknown as { encoder: Codec<unknown> }).encoder };
  return (raw &&
    new SealedRows(name, raw, codecs[encoding ?? 'msgpack'] as Codec<V>, !isReadOnly(root), policy)) as Rows<V, K>;
}

class SealedRows<V, K extends Key> {
  readonly #name: string;
  readonly #raw: Database<Buffer, K>;
  readonly #codec: Codec<V>;
  readonly #isWriter: boolean;
  readonly #policy: DamagePolicy;

  constructor(name: string, raw: Database<Buffer, K>, codec: Codec<V>, isWriter: boolean, policy: DamagePolicy) {
    this.#isWriter = isWriter;
    this.#policy = policy;
    this.#name = name;
    this.#raw = raw;
    this.#codec = codec;
  }

  get(key: K): V | undefined {
    return this.#policy.leavesOut === true ? this.getSound(key) : this.getStrict(key);
  }

  getStrict(key: K): V | undefined {
    const bytes = this.#raw.getBinaryFast(key);
    return bytes && this.#open(key, this.#codec === binary ? ownBytes(bytes) : viewOf(bytes));
  }

  getSound(key: K): V | undefined {
    try {
      return this.getStrict(key);
    } catch (error) {
      if (!isDamage(error)) throw error;
      return undefined;
    }
  }

  putSync(key: K, value: V): void {
    this.#raw.putSync(key, sealed(key, this.#codec.encode(value)));
  }

  getRange(options?: Parameters<Database<Buffer, K>['getRange']>[0]) {
    const rows = this.#raw.getRange(options);
    if (this.#policy.leavesOut !== true) return rows.map(({ key, value }) => ({ key, value: this.#open(key, value) }));
    const sound = rows.map(({ key, value }) => {
      try {
        return { key, value: this.#open(key, value) };
      } catch (error) {
        if (!isDamage(error)) throw error;
        return undefined;
      }
    });
    return sound.filter((row) => row !== undefined) as typeof rows as never;
  }

  check(start: K | undefined, limit: number): Checked<K> {
    const damaged: string[] = [];
    const old: [K, Buffer][] = [];
    let rows = 0;
    let next: K | undefined;
    for (const { key, value } of this.#raw.getRange(start === undefined ? {} : { start })) {
      if (rows === limit) {
        next = key;
        break;
      }
      rows++;
      try {
        this.#open(key, value);
        if (this.#isWriter && !hasMark(value)) old.push([key, value]);
      } catch (error) {
        if (!isDamage(error)) throw error;
        damaged.push(`${this.#name} ${nameOf(key)}`);
      }
    }
    for (const [key, value] of old) this.#raw.putSync(key, sealed(key, value));
    return { rows, damaged, next };
  }

  getKeys(options?: Parameters<Database<Buffer, K>['getKeys']>[0]) {
    return this.#raw.getKeys(options);
  }

  getKeysCount(options?: Parameters<Database<Buffer, K>['getKeysCount']>[0]): number {
    return this.#raw.getKeysCount(options);
  }

  doesExist(key: K): boolean {
    return this.#raw.doesExist(key);
  }

  getStats(): object {
    return this.#raw.getStats();
  }

  removeSync(key: K): boolean {
    return this.#raw.removeSync(key);
  }

  clearSync(): void {
    this.#raw.clearSync();
  }

  /** Verifies a row and decodes it. A row of an earlier version is only decoded. */
  #open(key: K, bytes: Uint8Array): V {
    const value = hasMark(bytes) ? bytes.subarray(0, bytes.length - sealBytes) : bytes;
    const isSound = value === bytes ? !hasDamagedMark(key, bytes) : hasChecksum(key, bytes);
    if (!isSound) throw this.#damaged(key);
    try {
      return this.#codec.decode(value);
    } catch {
      throw this.#damaged(key);
    }
  }

  #damaged(key: K): DamagedDataError {
    this.#policy.onDamage?.(`${this.#name} ${nameOf(key)}`);
    return new DamagedDataError(`row ${nameOf(key)} of table ${this.#name}`, { table: this.#name });
  }
}

/** Returns the CRC-32 of a key and bytes. */
export function checksum(key: Key, bytes: Uint8Array): number {
  return crc32(bytes, fnv(String(key)));
}

function sealed(key: Key, value: Uint8Array): Buffer {
  const row = Buffer.allocUnsafe(value.length + sealBytes);
  row.set(value);
  row.writeUInt32LE(checksum(key, value), value.length);
  row.writeUInt32LE(mark, value.length + 4);
  return row;
}

const hasMark = (bytes: Uint8Array): boolean => bytes.length >= sealBytes && wordAt(bytes, bytes.length - 4) === mark;

/** Returns whether the checksum of a row matches its value. */
const hasChecksum = (key: Key, bytes: Uint8Array): boolean =>
  wordAt(bytes, bytes.length - sealBytes) === checksum(key, bytes.subarray(0, bytes.length - sealBytes));

/**
 * Returns whether a row without a valid mark was written with one: the mark differs by one bit, or the
 * checksum is right.
 */
function hasDamagedMark(key: Key, bytes: Uint8Array): boolean {
  if (bytes.length < sealBytes) return false;
  const other = (wordAt(bytes, bytes.length - 4) ^ mark) >>> 0;
  return (other & (other - 1)) === 0 || hasChecksum(key, bytes);
}

/** Reads a little-endian u32. */
export function wordAt(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
}

/** Returns a view of the bytes of `getBinaryFast` with their real length. Valid until the next read. */
export function viewOf(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}

const nameOf = (key: Key): string => (key instanceof Uint8Array ? Buffer.from(key).toString('hex') : String(key));
