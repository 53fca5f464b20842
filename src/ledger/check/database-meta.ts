import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { type KeyOrder, number64 } from './database-page.ts';

const magic = 0xbeefc0de;
const dataVersion = 2;
const metaBytes = 160;
const noPage = 0xffff_ffff_ffff_ffffn;

/** The record of a table. */
export interface Table {
  readonly name: string;
  /** Number of the root page; undefined while the table is empty. */
  readonly root: number | undefined;
  readonly depth: number;
  readonly rows: number;
  readonly keyOrder: KeyOrder;
}

/** The content of a meta page, which describes one transaction. */
export interface Meta {
  readonly transaction: number;
  readonly lastPage: number;
  readonly free: Table;
  readonly tables: Table;
}

/** Reads both meta pages and chooses the newer valid one; undefined if neither is valid. */
export function readMetas(file: number, size: number): FoundMeta | undefined {
  const first = Buffer.alloc(metaBytes);
  readSync(file, first, 0, metaBytes, 0);
  // Both meta pages hold the page size. If the first is torn, the second is found at a power of two.
  const sizes = isMeta(first) ? [first.readUInt32LE(48)] : [4096, 8192, 16_384, 32_768, 65_536, 2048, 1024, 512];
  for (const pageBytes of sizes) {
    if (!(pageBytes >= 512 && pageBytes <= 65_536 && Number.isInteger(Math.log2(pageBytes)))) break;
    const second = Buffer.alloc(metaBytes);
    if (size > pageBytes) readSync(file, second, 0, metaBytes, pageBytes);
    const metas = [first, second].map((bytes) => parseMeta(bytes, pageBytes));
    const [one, two] = metas;
    if (one === undefined && two === undefined) continue;
    // If both meta pages have the same transaction, the second is left over from a failed first commit, and LMDB uses
    // the first.
    const meta = two === undefined || (one !== undefined && one.transaction >= two.transaction) ? one! : two;
    const torn = one === undefined ? 0 : two === undefined ? 1 : undefined;
    const whole = [one, two].filter((found) => found !== undefined);
    return { pageBytes, meta, whole, torn, areInStep: areInStep(one, two) };
  }
  return undefined;
}

export interface FoundMeta {
  readonly pageBytes: number;
  readonly meta: Meta;
  /** Both meta pages, unless one is torn. */
  readonly whole: readonly Meta[];
  readonly torn: 0 | 1 | undefined;
  readonly areInStep: boolean;
}

/**
 * Returns whether the meta pages are of consecutive transactions. A commit overwrites the meta page of the older
 * transaction. A new file has transaction 0 in both meta pages; a compacted copy has it in the first meta page. If only
 * a page with transaction 0 is intact, the result is false, because the file would read as empty.
 */
function areInStep(first: Meta | undefined, second: Meta | undefined): boolean {
  if (first === undefined) return second !== undefined && second.transaction % 2 === 1;
  if (second === undefined) return first.transaction > 0 && first.transaction % 2 === 0;
  const [even, odd] = [first.transaction, second.transaction];
  if (even === 0) return odd === 0 || odd % 2 === 1;
  return even % 2 === 0 && Math.abs(even - odd) === 1;
}

/**
 * Rewrites a torn meta page as the transaction before the intact one, copying its content; LMDB itself writes only the
 * end of a meta page. Returns the number of the page; undefined if both are intact.
 */
export function mendMeta(path: string): 0 | 1 | undefined {
  const file = openSync(path, 'r+');
  try {
    const { torn, pageBytes, meta } = readMetas(file, fstatSync(file).size) ?? withoutMeta();
    if (torn === undefined) return undefined;
    const page = Buffer.alloc(pageBytes);
    readSync(file, page, 0, pageBytes, (1 - torn) * pageBytes);
    page.writeBigUInt64LE(BigInt(torn), 0);
    page.writeBigUInt64LE(BigInt(meta.transaction - 1), 152);
    writeSync(file, page, 0, pageBytes, torn * pageBytes);
    fsyncSync(file);
    return torn;
  } finally {
    closeSync(file);
  }
}

/** Returns a substitute for the meta page of a file without a valid one. */
export function withoutMeta(): FoundMeta {
  const none = (name: string): Table => ({ name, root: undefined, depth: 0, rows: 0, keyOrder: 'bytes' });
  const meta = { transaction: 0, lastPage: 1, free: none('free list'), tables: none('tables') };
  return { pageBytes: 4096, meta, whole: [], torn: undefined, areInStep: false };
}

/** Returns the metadata without its bounds, so that all pages of the file are read, whatever their transaction. */
export function wholeFile({ meta, pageBytes }: FoundMeta, size: number): Meta {
  const lastPage = Math.max(meta.lastPage, Math.floor(size / pageBytes) - 1);
  return { ...meta, lastPage, transaction: Number.MAX_SAFE_INTEGER };
}

function isMeta(bytes: Buffer): boolean {
  return bytes.readUInt32LE(24) === magic && bytes.readUInt32LE(28) === dataVersion;
}

function parseMeta(bytes: Buffer, pageBytes: number): Meta | undefined {
  if (!isMeta(bytes) || bytes.readUInt32LE(48) !== pageBytes) return undefined;
  return {
    free: { ...readTable('free list', bytes, 48), keyOrder: 'integers' },
    tables: readTable('tables', bytes, 96),
    lastPage: number64(bytes, 144),
    transaction: number64(bytes, 152),
  };
}

export function readTable(name: string, bytes: Buffer, at: number): Table {
  const root = bytes.readBigUInt64LE(at + 40);
  return {
    name,
    depth: bytes.readUInt16LE(at + 6),
    rows: number64(bytes, at + 32),
    root: root === noPage ? undefined : Number(root),
    keyOrder: 'bytes',
  };
}
