import type { Hash } from '../../tlog/tree.ts';
import { uuidToBytes } from '../../uuid.ts';
import { LeafIndex, segmentLeaves } from '../storage/leaf-index.ts';
import { EntryReader } from './canonical-entry.ts';
import type { DatabaseFile, PageDamage, Table } from './database-file.ts';
import type { Findings } from './findings.ts';
import { Fingerprint, type FingerprintSums } from './fingerprint.ts';
import { findRow, RowCursor } from './row-cursor.ts';
import { keyNamed, keyNumber, keyNumbers, numbersKey } from './row-keys.ts';

/** Places in a row of the index by kind, and bytes of each (kind-index.ts). */
const chunkEntries = 256;
const placeBytes = 6;

interface IndexesInput {
  readonly file: DatabaseFile;
  readonly tables: ReadonlyMap<string, Table>;
  readonly findings: Findings;
  onDamage(damage: PageDamage): void;
}

/** What the indexes need of an entry. */
export interface IndexedEntry {
  readonly kind: string;
  idWord(n: number): number;
}

/**
 * What the entries of a segment say must be in the indexes: by id and by kind as sums (fingerprint.ts), because those
 * tables have another order; by leaf hash as the rows themselves, which are held against the table here.
 */
export class SegmentIndexes {
  readonly #input: IndexesInput & { readonly first: number; readonly kindTotal: number };
  readonly #ids: Fingerprint;
  readonly #kinds: Fingerprint;
  readonly #leaves = new LeafIndex();
  #leafCount = 0;
  #skipped = 0;
  #kind = '';
  #kindWord = 0;

  constructor(
    input: IndexesInput & {
      readonly first: number;
      readonly kindTotal: number;
      readonly seeds: readonly [number, number];
    },
  ) {
    this.#input = input;
    this.#ids = new Fingerprint(input.seeds);
    this.#kinds = new Fingerprint(input.seeds);
  }

  get sums(): { readonly ids: FingerprintSums; readonly kinds: FingerprintSums; readonly skipped: number } {
    return { ids: this.#ids.sums, kinds: this.#kinds.sums, skipped: this.#skipped };
  }

  add(index: number, entry: IndexedEntry): void {
    const [high, low] = [Math.floor(index / 2 ** 32), index % 2 ** 32];
    this.#ids.add(entry.idWord(0), entry.idWord(1), entry.idWord(2), entry.idWord(3), high, low);
    if (index >= this.#input.kindTotal) return;
    if (entry.kind !== this.#kind) {
      this.#kind = entry.kind;
      this.#kindWord = nameWord(entry.kind);
    }
    this.#kinds.add(this.#kindWord, high, low, 0, 0, 0);
  }

  /** An entry that can't be read: what the indexes say of it can't be checked. */
  skip(): void {
    this.#skipped += 1;
  }

  /** A leaf that the tree took, in order. */
  addLeaf(hash: Hash): void {
    this.#leafCount += 1;
    const rows = this.#leaves.add(hash);
    if (this.#leafCount < segmentLeaves) return;
    const { file, tables, findings, first } = this.#input;
    const table = tables.get('leaves');
    const segment = first / segmentLeaves;
    for (const { bucket, rows: wanted } of rows) {
      const stored = table && findRow(file, table, numbersKey([segment, bucket]));
      if (stored === undefined || Buffer.compare(stored, wanted) !== 0) {
        findings.add(
          'leaf_index',
          `bucket ${bucket} of segment ${segment} of the leaf-hash index is wrong`,
          segment,
        );
      }
    }
  }
}

/** The tables of the indexes, as they are stored. */
export class StoredIndexes {
  readonly #input: IndexesInput;
  readonly #seeds: readonly [number, number];
  readonly #kinds: Fingerprint;
  /** Entries that the index by kind has: an older file's may lack the last, which start-up adds. */
  readonly kindTotal: number;

  constructor(input: IndexesInput, seeds: readonly [number, number]) {
    this.#input = input;
    this.#seeds = seeds;
    this.#kinds = this.#readKinds();
    this.kindTotal = this.#kinds.count;
  }

  /**
   * Holds the tables against what the entries of all segments gave.
   *
   * @param size - leaves of the last head
   * @param skipped - entries that couldn't be read
   */
  compare(size: number, given: { ids: Fingerprint; kinds: Fingerprint; skipped: number }): void {
    const { findings } = this.#input;
    const ids = this.#readIds();
    const comparable = given.skipped === 0;
    if (comparable ? !ids.equals(given.ids) : ids.count < given.ids.count) this.#nameIds(ids.count);
    if (this.kindTotal > size) {
      findings.add('kind_index', `the index by kind has ${this.kindTotal} entries, the log ${size}`);
    } else if (comparable && !this.#kinds.equals(given.kinds)) {
      findings.add('kind_index', 'the index by kind is not what the entries give');
    }
    const segments = Math.floor(size / segmentLeaves);
    this.#countStrange('leaves', 'leaf_index', (segment, bucket) => segment < segments && bucket < 256);
  }

  /** Pages of nodes that a tree of this size doesn't have. */
  comparePages(belongs: (level: number, index: number) => boolean): void {
    this.#countStrange('pages', 'node_beyond', belongs);
  }

  /** Which entries the index by id doesn't lead to: asked one by one, now that the sum says that there are some. */
  #nameIds(rows: number): void {
    const { file, tables, findings } = this.#input;
    const ids = tables.get('ids');
    const reader = new EntryReader();
    let named = 0;
    for (const entries = this.#rows('entries'); entries?.next() === true; ) {
      const index = keyNumber(entries.key());
      if (index < 0 || !reader.read(entries.value())) continue;
      const row = ids && findRow(file, ids, uuidToBytes(reader.id));
      if (row?.length === 8 && Number(row.readBigUInt64BE()) === index) continue;
      named += 1;
      findings.add('id_index', `the index by id doesn't lead to entry ${index} (${reader.id})`, index);
    }
    if (named === 0) findings.add('id_index', `the index by id has ${rows} rows, some of no entry`);
  }

  #readIds(): Fingerprint {
    const { findings } = this.#input;
    const sum = new Fingerprint(this.#seeds);
    for (const rows = this.#rows('ids'); rows?.next() === true; ) {
      const [key, value] = [rows.key(), rows.value()];
      if (key.length !== 16 || value.length !== 8) {
        findings.add('row_unknown', 'a row of the index by id is none');
        continue;
      }
      const [high, low] = [value.readUInt32BE(0), value.readUInt32BE(4)];
      sum.add(key.readInt32BE(0), key.readInt32BE(4), key.readInt32BE(8), key.readInt32BE(12), high, low);
    }
    return sum;
  }

  /** The places of a kind must ascend, and fill one row after the other: then the sum says the rest. */
  #readKinds(): Fingerprint {
    const { findings } = this.#input;
    const sum = new Fingerprint(this.#seeds);
    let last = { kind: '', word: 0, places: 0, index: -1 };
    for (const rows = this.#rows('kinds'); rows?.next() === true; ) {
      const [name, value] = [keyNamed(rows.key()), rows.value()];
      if (name === undefined || value.length % placeBytes !== 0) {
        findings.add('row_unknown', 'a row of the index by kind is none');
        continue;
      }
      const [kind, chunk] = name;
      if (kind !== last.kind) last = { kind, word: nameWord(kind), places: 0, index: -1 };
      if (last.places !== chunk * chunkEntries)
        findings.add('kind_index', `row ${chunk} of kind ${kind} doesn't follow place ${last.places}`);
      for (let at = 0; at < value.length; at += placeBytes) {
        const [high, low] = [value.readUInt16BE(at), value.readUInt32BE(at + 2)];
        const index = high * 2 ** 32 + low;
        if (index <= last.index)
          findings.add('kind_index', `the places of kind ${kind} are out of order`, index);
        last.index = index;
        sum.add(last.word, high, low, 0, 0, 0);
      }
      last.places = chunk * chunkEntries + value.length / placeBytes;
    }
    return sum;
  }

  /** Rows of a table whose key says that they don't belong there. */
  #countStrange(
    name: string,
    code: 'leaf_index' | 'node_beyond',
    belongs: (first: number, second: number) => boolean,
  ): void {
    let strange = 0;
    for (const rows = this.#rows(name); rows?.next() === true; ) {
      const place = keyNumbers(rows.key());
      if (place === undefined || !belongs(...place)) strange += 1;
    }
    const message = `${strange} rows of the table ${name} lie beyond the log`;
    if (strange > 0) this.#input.findings.add(code, message, undefined, strange);
  }

  #rows(name: string): RowCursor | undefined {
    const { file, tables, onDamage } = this.#input;
    const table = tables.get(name);
    return table && new RowCursor(file, table, onDamage);
  }
}

/** 32 bits that stand for a name (FNV-1a). */
function nameWord(name: string): number {
  let word = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) word = Math.imul(word ^ name.charCodeAt(i), 0x01000193);
  return word;
}
