import { setImmediate as turn } from 'node:timers/promises';
import { fnv } from '../../sketch/hash.ts';
import { pageWidth } from '../../tlog/page.ts';
import { uuidToBytes } from '../../uuid.ts';
import { LeafIndex, segmentLeaves } from '../storage/leaf-index.ts';
import { dueSlices, isPlaceOfRun, type LeafBuckets, mergeSlice } from '../storage/leaf-runs.ts';
import { EntryReader } from './canonical-entry.ts';
import type { CheckInput } from './check-input.ts';
import type { Findings } from './findings.ts';
import { Fingerprint, type FingerprintSums } from './fingerprint.ts';
import { findRow, RowCursor } from './row-cursor.ts';
import { keyNamed, keyNumber, keyNumbers, numberKey, numbersKey } from './row-keys.ts';

/** Entries per row of the index by kind (kind-index.ts). */
const chunkEntries = 256;
/** Bytes per entry in the index by kind. */
const indexBytes = 6;
const idBytes = 16;
/** Levels of pages in a tree of 2^53 leaves. */
const pageLevels = 7;
/** Rows read before yielding to the event loop. */
const rowsAtOnce = 64;
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

interface SegmentIndexesInput extends CheckInput {
  readonly first: number;
  readonly seeds: readonly [number, number];
  /** First id of the segment's share of the index by id. Default: the first id of the index. */
  readonly idsFrom?: string;
  /** First id beyond the segment's share of the index by id. Default: no limit. */
  readonly idsBefore?: string;
}

/** The indexed members of an entry. */
export interface IndexedEntry {
  readonly kind: string;
  idWord(n: number): number;
}

/** Index sums of a segment, to be added to those of other segments. */
export interface IndexSums {
  /** Sums by id, computed from the entries. */
  readonly ids: FingerprintSums;
  /** Sums by kind, computed from the entries. */
  readonly kinds: FingerprintSums;
  /** Sums over the segment's share of the index by id. */
  readonly storedIds: FingerprintSums;
  /** Number of unreadable entries. With unreadable entries, the indexes cannot be compared. */
  readonly skipped: number;
}

/**
 * Computes the rows that the entries of a segment must have in the indexes. For ids and kinds, it computes sums
 * (fingerprint.ts), because those tables have another order. For leaf hashes, it computes the rows, which are compared
 * with the table here. The rows of the index by id are summed along with the entries. Ids are nearly in the order of
 * entries, so a row and its entry are close to each other in the file.
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

  /** Sums up `rows` more rows of the index by id; without a number, all remaining rows. */
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

  /** Counts an unreadable entry, whose index rows cannot be checked. */
  skip(): void {
    this.#skipped += 1;
  }

  /** Adds the first four bytes of the hash of a leaf that was added to the tree, in order. */
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
   * Compares each run that was merged while the segment grew with the sources of the run. Older versions did not merge
   * runs; if a run is missing, its sources are searched instead.
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

/** Computes the fingerprint of a share of the rows of the index by id. */
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
    else this.#findings.add('row_unknown', 'the index by id has a malformed row');
    return true;
  }
}

/** Index sums computed from the entries of all segments, and the segments' shares of the index by id. */
export class ComputedIndexes {
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

/** Results of reading the tables that are stored apart from the entries. */
export interface StoredRows {
  /** The index by kind. */
  readonly kinds: Fingerprint;
  /** Rows of the leaf-hash index that do not belong to a log of this size. */
  readonly unexpectedLeaves: number;
  /** Merged runs of the leaf-hash index that do not belong to a log of this size. */
  readonly unexpectedRuns: number;
  /** Pages of nodes that do not belong to a log of this size. */
  readonly unexpectedPages: number;
}

/** The stored tables of the indexes. */
export class StoredIndexes {
  readonly #input: CheckInput;
  readonly #seeds: readonly [number, number];

  constructor(input: CheckInput, seeds: readonly [number, number]) {
    this.#input = input;
    this.#seeds = seeds;
  }

  /**
   * Returns boundaries that divide the index by id into one share per segment: the ids of the segments' first
   * entries, sorted.
   */
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
    while (ids.length < segments - 1) ids.push(lastId); // used in place of unreadable first entries
    return ids;
  }

  /**
   * Reads the tables that are stored apart from the entries. Runs while segments are being checked:
   * afterwards, a single thread would wait for the disk (0.7 of 10 s at 3 million leaves).
   *
   * @param size - leaves of the last head
   */
  async read(size: number): Promise<StoredRows> {
    const segments = Math.floor(size / segmentLeaves);
    return {
      kinds: await this.#readKinds(),
      unexpectedLeaves: await this.#countUnexpected(
        'leaves',
        2,
        ([segment, bucket]) => segment! < segments && bucket! < 256,
      ),
      unexpectedRuns: await this.#countUnexpected('runs', 3, ([level, run, bucket]) =>
        isPlaceOfRun(level!, run!, bucket!, size),
      ),
      unexpectedPages: await this.#countUnexpected(
        'pages',
        2,
        ([level, index]) => level! < pageLevels && pageWidth({ level: level!, index: index! }, size) > 0,
      ),
    };
  }

  /** Compares the tables with the sums over the entries of all segments. */
  compare(size: number, computed: ComputedIndexes, stored: StoredRows): void {
    const { findings } = this.#input;
    const { kinds } = stored;
    const comparable = computed.skipped === 0;
    const { ids, storedIds } = computed;
    if (comparable ? !storedIds.equals(ids) : storedIds.count < ids.count) this.#reportMissingIds(storedIds.count);
    if (kinds.count > size) {
      findings.add('kind_index', `the index by kind has ${kinds.count} entries, but the log has ${size}`);
    } else if (comparable && !kinds.equals(this.#upTo(kinds.count, size, computed.kinds))) {
      findings.add('kind_index', 'the index by kind does not match the entries');
    }
    this.#reportUnexpected('leaves', 'leaf_index', stored.unexpectedLeaves);
    this.#reportUnexpected('runs', 'leaf_index', stored.unexpectedRuns);
    this.#reportUnexpected('pages', 'node_beyond', stored.unexpectedPages);
  }

  /**
   * Returns the sum without the last entries, which the index of an older file may lack; start-up adds these entries.
   */
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

  /** Reports entries that are missing from the index by id. Called when the sums of index and entries differ. */
  #reportMissingIds(rows: number): void {
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
      findings.add('id_index', `the index by id does not lead to entry ${index} (${reader.id})`, index);
    }
    if (named === 0) findings.add('id_index', `the index by id has ${rows} rows, some without an entry`);
  }

  /**
   * Sums up the index by kind. The indices of a kind must ascend and fill one row after the other; the sum covers all
   * other properties.
   */
  async #readKinds(): Promise<Fingerprint> {
    const { findings } = this.#input;
    const sum = new Fingerprint(this.#seeds);
    let last = { kind: '', word: 0, places: 0, index: -1 };
    let read = 0;
    for (const rows = this.#rows('kinds'); rows?.next() === true; ) {
      if (++read % rowsAtOnce === 0) await turn();
      const [name, value] = [keyNamed(rows.key()), rows.value()];
      if (name === undefined || value.length % indexBytes !== 0) {
        findings.add('row_unknown', 'the index by kind has a malformed row');
        continue;
      }
      const [kind, chunk] = name;
      if (kind !== last.kind) last = { kind, word: fnv(kind) | 0, places: 0, index: -1 };
      if (last.places !== chunk * chunkEntries)
        findings.add('kind_index', `row ${chunk} of kind ${kind} does not continue at position ${last.places}`);
      for (let at = 0; at < value.length; at += indexBytes) {
        const [high, low] = [value.readUInt16BE(at), value.readUInt32BE(at + 2)];
        const index = high * 2 ** 32 + low;
        if (index <= last.index) findings.add('kind_index', `the entries of kind ${kind} are out of order`, index);
        last.index = index;
        sum.add(last.word, high, low, 0, 0, 0);
      }
      last.places = chunk * chunkEntries + value.length / indexBytes;
    }
    return sum;
  }

  /** Returns the number of rows of a table with a key that does not belong there. */
  async #countUnexpected(
    name: string,
    numbers: number,
    belongs: (place: readonly number[]) => boolean,
  ): Promise<number> {
    let [read, unexpected] = [0, 0];
    for (const rows = this.#rows(name); rows?.nextKey() === true; ) {
      if (++read % rowsAtOnce === 0) await turn();
      const place = keyNumbers(rows.key(), numbers);
      if (place === undefined || !belongs(place)) unexpected += 1;
    }
    return unexpected;
  }

  #reportUnexpected(name: string, code: 'leaf_index' | 'node_beyond', rows: number): void {
    const message = `${rows} rows of the table ${name} are beyond the end of the log`;
    if (rows > 0) this.#input.findings.add(code, message, undefined, rows);
  }

  #rows(name: string): RowCursor | undefined {
    const { file, tables, onDamage } = this.#input;
    const table = tables.get(name);
    return table && new RowCursor(file, table, onDamage);
  }
}
