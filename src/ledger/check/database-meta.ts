import { readSync } from 'node:fs';
import { type KeyOrder, number64 } from './database-page.ts';

const magic = 0xbeefc0de;
const dataVersion = 2;
const metaBytes = 160;
const noPage = 0xffff_ffff_ffff_ffffn;

/** A table's record. */
export interface Table {
  readonly name: string;
  /** Undefined while the table is empty. */
  readonly root: number | undefined;
  readonly depth: number;
  readonly rows: number;
  readonly keyOrder: KeyOrder;
}

/** What a meta page says of one transaction. */
export interface Meta {
  readonly transaction: number;
  readonly lastPage: number;
  readonly free: Table;
  readonly tables: Table;
}

/** The meta page that counts: the newer one that makes sense. */
export function readMetas(file: number, size: number): FoundMeta | undefined {
  const first = Buffer.alloc(metaBytes);
  readSync(file, first, 0, metaBytes, 0);
  // The page size stands in both; where the first is torn, the second lies at a power of two.
  const sizes = isMeta(first)
    ? [first.readUInt32LE(48)]
    : [4096, 8192, 16_384, 32_768, 65_536, 2048, 1024, 512];
  for (const pageBytes of sizes) {
    if (!(pageBytes >= 512 && pageBytes <= 65_536 && Number.isInteger(Math.log2(pageBytes)))) break;
    const second = Buffer.alloc(metaBytes);
    if (size > pageBytes) readSync(file, second, 0, metaBytes, pageBytes);
    const metas = [first, second].map((bytes) => parseMeta(bytes, pageBytes));
    const [one, two] = metas;
    if (one === undefined && two === undefined) continue;
    // Both alike: the second is what LMDB left of a first commit that failed, and LMDB takes the first.
    const meta = two === undefined || (one !== undefined && one.transaction >= two.transaction) ? one! : two;
    return { pageBytes, meta, torn: one === undefined ? 0 : two === undefined ? 1 : undefined };
  }
  return undefined;
}

export interface FoundMeta {
  readonly pageBytes: number;
  readonly meta: Meta;
  readonly torn: 0 | 1 | undefined;
}

/** For a file without any meta page. */
export function withoutMeta(): FoundMeta {
  const none = (name: string): Table => ({ name, root: undefined, depth: 0, rows: 0, keyOrder: 'bytes' });
  const meta = { transaction: 0, lastPage: 1, free: none('free list'), tables: none('tables') };
  return { pageBytes: 4096, meta, torn: undefined };
}

/** The same without its bounds: all pages of the file count, of whatever transaction. */
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
