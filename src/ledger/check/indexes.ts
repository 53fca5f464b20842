import { setImmediate as turn } from 'node:timers/promises';
import { fnv } from '../../sketch/hash.ts';
import { pageWidth } from '../../tlog/page.ts';
import { uuidToBytes } from '../../uuid.ts';
import { LeafIndex, segmentLeaves } from '../storage/leaf-index.ts';
import { dueSlices, isPlaceOfRun, type LeafBuckets, mergeSlice } from '../storage/leaf-runs.ts';
import { EntryReader } from './canonical-entry.ts';
import type { DatabaseFile, PageDamage, Table } from './database-file.ts';
import type { Findings } from './findings.ts';
import { Fingerprint, type FingerprintSums } from './fingerprint.ts';
import { findRow, RowCursor } from './row-cursor.ts';
import { keyNamed, keyNumber, keyNumbers, numberKey, numbersKey } from './row-keys.ts';

/** Places in a row of the index by kind, and bytes of each (kind-index.ts). */
const chunkEntries = 256;
const placeBytes = 6;
const idBytes = 16;
/** Levels of pages that a tree of 2^53 leaves has. */
const pageLevels = 7;
/** Rows that are read before others have their turn. */
const rowsAtOnce = 64;
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

interface IndexesInput {
  readonly file: DatabaseFile;
  readonly tables: ReadonlyMap<string, Table>;
  readonly findings: Findings;
  onDamage(damage: PageDamage): void;
}

interface SegmentIndexesInput extends IndexesInput {
  readonly first: number;
  readonly seeds: readonly [number, number];
  /** The segment's share of the index by id: from one UUID to before the other. Default: from the first, to the last. */
  readonly idsFrom?: string;
  readonly idsBefore?: string;
}

/** What the indexes need of an entry. */
export interface IndexedEntry {
  readonly kind: string;
  idWord(n: number): number;
}

/** What the indexes of a segment say, to be added to those of the others. */
export interface IndexSums {
  /** By id and by kind, as the entries give them. */
  readonly ids: FingerprintSums;
  readonly kinds: FingerprintSums;
  /** The segment's share of the rows of the index by id. */
  readonly storedIds: FingerprintSums;
  /** Entries that couldn't be read, so that indexes can't be held against them. */
  readonly skipped: number;
}

/**
 * What the entries of a segment say must be in the indexes: by id and by kind as sums (fingerprint.ts), because those
 * tables have another order; by leaf hash as the rows themselves, which are held against the table here. The rows of the
 * index by id are summed up along with the entries: ids are nearly in the order of entries, so that both lie near each
 * other in the file.
 */
export class SegmentIndexes {
  readonly #input: SegmentIndexesInput;
  readonly #ids: Fingerprint;
  readonly #kinds: Fingerprint;
  readonly #stored: IdRows;
  readonly #leaves = new LeafIndex();
  #leafCount = 0;
  #skipped = 0;
  #kind = '';
  #kindWord = 0;

  constructor(input: SegmentIndexesInput) {
    this.#input = input;
    this.#ids = new Fingerprint(input.seeds);
    this.#kinds = new Fingerprint(input.seeds);
    this.#stored = new IdRows(input);
  }

  get sums(): IndexSums {
    return {
      ...{ ids: this.#ids.sums, kinds: this.#kinds.sums, skipped: this.#skipped },
      storedIds: this.#stored.sum.sums,
    };
  }

  /** Sums up so many more rows of the index by id; without a number, the rest. */
  readIds(rows?: number): void {
    this.#stored.read(rows);
  }

  add(index: number, entry: IndexedEntry): void {
    const [high, low] = [Math.floor(index / 2 ** 32), index % 2 ** 32];
    this.#ids.add(entry.idWord(0), entry.idWord(1), entry.idWord(2), entry.idWord(3), high, low);
    if (entry.kind !== this.#kind) {
      this.#kind = entry.kind;
      this.#kindWord = fnv(entry.kind) | 0;
    }
    this.#kinds.add(this.#kindWord, high, low, 0, 0, 0);
  }

  /** An entry that can't be read: what the indexes say of it can't be checked. */
  skip(): void {
    this.#skipped += 1;
  }

  /** The first four bytes of the hash of a leaf that the tree took, in order. */
  addLeaf(prefix: number): void {
    this.#leafCount += 1;
    const buckets = this.#leaves.addPrefix(prefix);
    if (buckets.length === 0) return;
    const segment = this.#input.first / segmentLeaves;
    for (const { bucket, rows } of buckets) {
      const stored = this.#buckets.get(0, segment, bucket);
      if (stored === undefined || Buffer.compare(stored, rows) !== 0)
        this.#wrong(`bucket ${bucket} of segment ${segment}`, segment);
    }
  }

  /**
   * Holds what was merged while the segment grew against what it was merged from. An older version didn't merge: what is
   * missing is searched unmerged.
   */
  checkRuns(): void {
    const { first } = this.#input;
    for (const slice of dueSlices(first, first + this.#leafCount)) {
      for (const { level, run, bucket, rows } of mergeSlice(slice, this.#buckets)) {
        const stored = this.#buckets.get(level, run, bucket);
        if (stored !== undefined && Buffer.compare(stored, rows) !== 0)
          this.#wrong(`bucket ${bucket} of run ${run} of level ${level}`, run);
      }
    }
  }

  #wrong(what: string, position: number): void {
    this.#input.findings.add('leaf_index', `${what} of the leaf-hash index is wrong`, position);
  }

  readonly #buckets: LeafBuckets = {
    get: (level, run, bucket) => {
      const { file, tables } = this.#input;
      const table = tables.get(level === 0 ? 'leaves' : 'runs');
      const key = numbersKey(level === 0 ? [run, bucket] : [level, run, bucket]);
      return table && findRow(file, table, key);
    },
  };
}

/** A part of the rows of the index by id, summed up. */
class IdRows {
  readonly #findings: Findings;
  readonly #rows: RowCursor | undefined;
  #more: boolean;
  readonly sum: Fingerprint;

  constructor({ file, tables, findings, onDamage, seeds, idsFrom, idsBefore }: SegmentIndexesInput) {
    const table = tables.get('ids');
    const from = idsFrom === undefined ? undefined : uuidToBytes(idsFrom);
    const before = idsBefore === undefined ? undefined : uuidToBytes(idsBefore);
    this.#findings = findings;
    this.#rows = table && new RowCursor(file, table, onDamage, from, before);
    this.#more = this.#rows !== undefined;
    this.sum = new Fingerprint(seeds);
  }

  read(rows = Number.POSITIVE_INFINITY): void {
    for (let read = 0; this.#more && read < rows; read++) this.#more = this.#next();
  }

  #next(): boolean {
    const rows = this.#rows;
    if (rows?.next() !== true) return false;
    if (rows.hasForm(idBytes, 8))
      this.sum.add(rows.word(0), rows.word(4), rows.word(8), rows.word(12), rows.word(16), rows.word(20));
    else this.#findings.add('row_unknown', 'a row of the index by id is none');
    return true;
  }
}

/** What the entries of all segments gave, and their shares of the index by id. */
export class GivenIndexes {
  readonly ids: Fingerprint;
  readonly kinds: Fingerprint;
  readonly storedIds: Fingerprint;
  skipped = 0;

  constructor(seeds: readonly [number, number]) {
    this.ids = new Fingerprint(seeds);
    this.kinds = new Fingerprint(seeds);
    this.storedIds = new Fingerprint(seeds);
  }

  join({ ids, kinds, storedIds, skipped }: IndexSums): void {
    this.ids.join(ids);
    this.kinds.join(kinds);
    this.storedIds.join(storedIds);
    this.skipped += skipped;
  }
}

/** What the tables say that have another order than the entries. */
export interface StoredRows {
  /** The index by kind. */
  readonly kinds: Fingerprint;
  /** Rows of the leaf-hash index and of the nodes that a log of this size doesn't have. */
  readonly strangeLeaves: number;
  readonly strangeRuns: number;
  readonly strangePages: number;
}

/** The tables of the indexes, as they are stored. */
export class StoredIndexes {
  readonly #input: IndexesInput;
  readonly #seeds: readonly [number, number];

  constructor(input: IndexesInput, seeds: readonly [number, number]) {
    this.#input = input;
    this.#seeds = seeds;
  }

  /** What parts the index by id into as many shares as there are segments: the ids of their first entries, sorted. */
  partIds(segments: number): string[] {
    const { file, tables } = this.#input;
    const entries = tables.get('entries');
    const reader = new EntryReader();
    const ids: string[] = [];
    for (let n = 1; n < segments && entries !== undefined; n++) {
      const bytes = findRow(file, entries, numberKey(n * segmentLeaves));
      if (bytes !== undefined && reader.read(bytes)) ids.push(reader.id);
    }
    ids.sort();
    while (ids.length < segments - 1) ids.push(lastId); // for first entries that can't be read
    return ids;
  }

  /**
   * Reads the tables that lie elsewhere in the file than the entries. Segments are handed out meanwhile: after them, one
   * thread alone would wait for the disk, 0.7 s of 10 at 3 million leaves.
   *
   * @param size - leaves of the last head
   */
  async read(size: number): Promise<StoredRows> {
    const segments = Math.floor(size / segmentLeaves);
    return {
      kinds: await this.#readKinds(),
      strangeLeaves: await this.#countStrange(
        'leaves',
        2,
        ([segment, bucket]) => segment! < segments && bucket! < 256,
      ),
      strangeRuns: await this.#countStrange('runs', 3, ([level, run, bucket]) =>
        isPlaceOfRun(level!, run!, bucket!, size),
      ),
      strangePages: await this.#countStrange(
        'pages',
        2,
        ([level, index]) => level! < pageLevels && pageWidth({ level: level!, index: index! }, size) > 0,
      ),
    };
  }

  /** Holds the tables against what the entries of all segments gave. */
  compare(size: number, given: GivenIndexes, stored: StoredRows): void {
    const { findings } = this.#input;
    const { kinds } = stored;
    const comparable = given.skipped === 0;
    const { ids, storedIds } = given;
    if (comparable ? !storedIds.equals(ids) : storedIds.count < ids.count) this.#nameIds(storedIds.count);
    if (kinds.count > size) {
      findings.add('kind_index', `the index by kind has ${kinds.count} entries, the log ${size}`);
    } else if (comparable && !kinds.equals(this.#upTo(kinds.count, size, given.kinds))) {
      findings.add('kind_index', 'the index by kind is not what the entries give');
    }
    this.#tellStrange('leaves', 'leaf_index', stored.strangeLeaves);
    this.#tellStrange('runs', 'leaf_index', stored.strangeRuns);
    this.#tellStrange('pages', 'node_beyond', stored.strangePages);
  }

  /** The sum without the last entries, which the index of an older file may lack: start-up adds them. */
  #upTo(total: number, size: number, kinds: Fingerprint): Fingerprint {
    if (total === size) return kinds;
    const { file, tables, onDamage } = this.#input;
    const entries = tables.get('entries');
    const rows = entries && new RowCursor(file, entries, onDamage, numberKey(total), numberKey(size));
    const reader = new EntryReader();
    const missing = new Fingerprint(this.#seeds);
    while (rows?.next() === true) {
      const index = keyNumber(rows.key());
      if (index < size && reader.read(rows.value()))
        missing.add(fnv(reader.kind) | 0, Math.floor(index / 2 ** 32), index % 2 ** 32, 0, 0, 0);
    }
    return kinds.without(missing);
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

  /** The index by kind. The places of a kind must ascend, and fill one row after the other: then the sum says the rest. */
  async #readKinds(): Promise<Fingerprint> {
    const { findings } = this.#input;
    const sum = new Fingerprint(this.#seeds);
    let last = { kind: '', word: 0, places: 0, index: -1 };
    let read = 0;
    for (const rows = this.#rows('kinds'); rows?.next() === true; ) {
      if (++read % rowsAtOnce === 0) await turn();
      const [name, value] = [keyNamed(rows.key()), rows.value()];
      if (name === undefined || value.length % placeBytes !== 0) {
        findings.add('row_unknown', 'a row of the index by kind is none');
        continue;
      }
      const [kind, chunk] = name;
      if (kind !== last.kind) last = { kind, word: fnv(kind) | 0, places: 0, index: -1 };
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

  /** How many rows of a table have a key that says that they don't belong there. */
  async #countStrange(
    name: string,
    numbers: number,
    belongs: (place: readonly number[]) => boolean,
  ): Promise<number> {
    let [read, strange] = [0, 0];
    for (const rows = this.#rows(name); rows?.nextKey() === true; ) {
      if (++read % rowsAtOnce === 0) await turn();
      const place = keyNumbers(rows.key(), numbers);
      if (place === undefined || !belongs(place)) strange += 1;
    }
    return strange;
  }

  #tellStrange(name: string, code: 'leaf_index' | 'node_beyond', rows: number): void {
    const message = `${rows} rows of the table ${name} lie beyond the log`;
    if (rows > 0) this.#input.findings.add(code, message, undefined, rows);
  }

  #rows(name: string): RowCursor | undefined {
    const { file, tables, onDamage } = this.#input;
    const table = tables.get(name);
    return table && new RowCursor(file, table, onDamage);
  }
}
