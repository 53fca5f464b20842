import { type Database, openDatabase } from '../lmdb.ts';
import { decodeHead, encodeHead, headBytes, signatureBytes, timestampStepNs } from '../tlog/head.ts';
import type { PageAddress } from '../tlog/page.ts';
import { bytesToUuid, uuidToBytes } from '../uuid.ts';
import { type CommitBatch, DamagedError, type LedgerStorage, type SignedHead } from './storage.ts';

const format = 1;

/**
 * ledger.mdb. Every table but `ids` and `leaves` only ever grows at its end.
 *
 *     meta      'format' → {format, state}
 *     entries   index → canonical bytes
 *     ids       entry id (16 bytes; UUIDv7, so nearly in order) → index (u64be)
 *     pages     [level, index] → page of nodes (src/tlog/page.ts)
 *     heads     [size, timestamp / 1024 ns] → signed 48 bytes ‖ signature ‖ key id
 *     leaves    [segment, bucket] → rows of the leaf-hash index (leaf-index.ts)
 */
export class LmdbStorage implements LedgerStorage {
  readonly #root: Database;
  readonly #meta: Database;
  readonly #entries: Database;
  readonly #ids: Database;
  readonly #pages: Database;
  readonly #heads: Database;
  readonly #leaves: Database;

  /** Opens the file, or creates an empty one. */
  constructor(path: string) {
    const root = openDatabase(path, { maxDbs: 8 });
    const table = (name: string) => root.openDB({ name, encoding: 'binary' });
    this.#root = root;
    this.#meta = table('meta');
    this.#entries = table('entries');
    this.#ids = root.openDB({ name: 'ids', encoding: 'binary', keyEncoding: 'binary' });
    this.#pages = table('pages');
    this.#heads = table('heads');
    this.#leaves = table('leaves');
  }

  get state(): LedgerStorage['state'] {
    const meta = read((): { format: number; state: 'initialising' | 'ready' } | undefined => {
      const row = this.#meta.getBinary('format');
      return row && JSON.parse(text(row));
    });
    if (meta === undefined) return 'new';
    if (meta.format !== format) {
      throw new Error(
        `ledger.mdb has format ${meta.format}; this program knows format ${format}: use a newer one`,
      );
    }
    return meta.state;
  }

  setState(state: 'initialising' | 'ready'): void {
    this.#root.transactionSync(() =>
      this.#meta.putSync('format', Buffer.from(JSON.stringify({ format, state }))),
    );
  }

  commit(batch: CommitBatch, beforeCommit: () => void): void {
    const size = batch.first + batch.entries.length;
    if (batch.head.size !== size) throw new Error(`a head of ${batch.head.size} leaves for ${size}`);
    // Returns after the operating system has flushed data and meta page (see openDatabase), or throws.
    this.#root.transactionSync(() => {
      // One owner: if anyone else wrote, the tree in memory isn't this file's.
      const stored = this.latestHead()?.size ?? 0;
      if (stored !== batch.first)
        throw new Error(`ledger.mdb has ${stored} leaves, the ledger ${batch.first}`);
      batch.entries.forEach((entry, i) => {
        this.#entries.putSync(batch.first + i, entry.canonical);
        this.#ids.putSync(uuidToBytes(entry.id), encodeIndex(batch.first + i));
      });
      for (const page of batch.pages) this.#pages.putSync([page.level, page.index], page.bytes);
      for (const { segment, bucket, rows } of batch.buckets) this.#leaves.putSync([segment, bucket], rows);
      this.#heads.putSync(headKey(size, batch.head.timestampNs), encodeSignedHead(batch.head));
      beforeCommit();
    });
  }

  latestHead(): SignedHead | undefined {
    return this.#lastHead({ reverse: true, limit: 1 });
  }

  headOf(size: number): SignedHead | undefined {
    // Backwards from after the last timestamp of this size to before its first.
    return this.#lastHead({
      start: [size, Number.MAX_SAFE_INTEGER],
      end: [size, -1],
      reverse: true,
      limit: 1,
    });
  }

  canonical(index: number): Uint8Array<ArrayBuffer> | undefined {
    const bytes = read(() => this.#entries.getBinary(index));
    return bytes && new Uint8Array(bytes);
  }

  indexOf(entryId: string): number | undefined {
    const row = read(() => this.#ids.getBinary(uuidToBytes(entryId)));
    return row && Number(row.readBigUInt64BE());
  }

  page(page: PageAddress): Uint8Array | undefined {
    return read(() => this.#pages.getBinary([page.level, page.index]));
  }

  bucket(segment: number, bucket: number): Uint8Array | undefined {
    return read(() => this.#leaves.getBinary([segment, bucket]));
  }

  close(): Promise<void> {
    return this.#root.close();
  }

  #lastHead(range: Parameters<Database['getRange']>[0]): SignedHead | undefined {
    return read(() => {
      for (const { value } of this.#heads.getRange(range)) return decodeSignedHead(value);
      return undefined;
    });
  }
}

/** Pages that LMDB can't follow and rows that don't decode are damage, not bugs. */
function read<T>(get: () => T): T {
  try {
    return get();
  } catch (error) {
    throw new DamagedError(
      `ledger.mdb cannot be read (${error instanceof Error ? error.message : String(error)})`,
    );
  }
}

function headKey(size: number, timestampNs: bigint): number[] {
  return [size, Number(timestampNs / timestampStepNs)];
}

function encodeIndex(index: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(index));
  return bytes;
}

function encodeSignedHead(head: SignedHead): Buffer {
  return Buffer.concat([encodeHead(head), head.signature, uuidToBytes(head.keyId)]);
}

function decodeSignedHead(row: Uint8Array): SignedHead {
  const bytes = new Uint8Array(row);
  return {
    ...decodeHead(bytes.subarray(0, headBytes)),
    signature: bytes.slice(headBytes, headBytes + signatureBytes),
    keyId: bytesToUuid(bytes.subarray(headBytes + signatureBytes)),
  };
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
