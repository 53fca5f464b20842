import { caught } from '../errors.ts';
import type { SizedRoot } from '../tlog/binding.ts';
import { decodeEntryBundle, encodeEntryBundle } from '../tlog/entry-bundle.ts';
import { TlogError } from '../tlog/fault.ts';
import { pageColumns, pageWidth, placeOf } from '../tlog/page.ts';
import { entriesPath, type TileAddress, tilePath } from '../tlog/tile.ts';
import { equalHashes, foldRoot, type Hash, hashBytes, leafHash, rootPlan } from '../tlog/tree.ts';
import { AuditFault } from './fault.ts';
import { Denied, type LogSource, patient } from './log-source.ts';
import { sha256 } from './sha256.ts';
import { fetchEntryBundle, fetchTile, foldComplete } from './tiles.ts';

/** Concurrent requests for tiles and entry bundles: enough to hide latency. A bundle has at most 16 MB. */
const concurrency = 4;

/** Files by path (C2SP tlog-tiles). Every file was verified before it was written. */
export interface MirrorFolder {
  /** Reads a file; undefined if it does not exist. */
  read(path: string): Promise<Uint8Array | undefined>;
  /** Resolves once the complete file is written and flushed. */
  write(path: string, bytes: Uint8Array): Promise<void>;
}

export interface MirrorOptions {
  /**
   * Size of the tree whose tiles the folder already has, which must be a prefix of the new tree; 0 for an empty folder.
   */
  readonly from: number;
  /** Whether to copy entries in addition to hashes. */
  readonly entries: boolean;
  /** Whether to verify all files of the folder's tree too, and to fetch damaged and missing files again. */
  readonly recheck?: boolean;
  /** Called for each file of the folder's tree that was fetched again. */
  onRepaired?(path: string): void;
  /** Called repeatedly during the copy. Leaves below `next` are done; `end` is the number of leaves. */
  onProgress?(next: number, end: number): void;
}

/** Returns whether the log allows this caller to read entries. Faults other than a denial are returned. */
export async function canReadEntries(log: LogSource, size: number): Promise<boolean | AuditFault> {
  const last = Math.floor((size - 1) / pageColumns);
  const bundle = await fetchEntryBundle(patient(log), last, size - last * pageColumns);
  return bundle instanceof Denied ? false : bundle instanceof AuditFault ? bundle : true;
}

/**
 * Copies the missing tiles of `tree` and the bundles of their entries. Walks the tree from its root: every
 * tile is compared with its hash in the tile above, and every entry with its leaf hash, before it is written.
 * An interrupted run therefore leaves only correct files and can be continued. Afterwards, the folder can
 * serve a checkpoint of `tree`.
 *
 * @returns undefined on success; WRONG_TILE if a tile or entry does not belong to the tree
 */
export async function mirrorTree(
  log: LogSource,
  folder: MirrorFolder,
  tree: SizedRoot,
  options: MirrorOptions,
): Promise<AuditFault | undefined> {
  return new TreeCopy(patient(log), folder, tree, options).run();
}

class TreeCopy {
  readonly #log: LogSource;
  readonly #folder: MirrorFolder;
  readonly #tree: SizedRoot;
  readonly #options: MirrorOptions;

  constructor(log: LogSource, folder: MirrorFolder, tree: SizedRoot, options: MirrorOptions) {
    this.#log = log;
    this.#folder = folder;
    this.#tree = tree;
    this.#options = options;
  }

  async run(): Promise<AuditFault | undefined> {
    const existing = this.#options.recheck ? await this.#edge((tile) => this.#existing(tile)) : undefined;
    const edge = Array.isArray(existing) ? existing : await this.#edge((tile) => fetchTile(this.#log, tile));
    if (edge instanceof AuditFault) return edge;
    for (const { tile, hashes } of edge) {
      const failed = (await this.#below(tile, hashes)) ?? (await this.#store(tile, hashes));
      if (failed !== undefined) return failed;
    }
    return this.#options.entries && !this.#options.recheck ? this.#earlierEntries() : undefined;
  }

  /** Reads the tiles on the right edge, highest first, and checks their root. */
  async #edge(
    hashesOf: (tile: TileAddress) => Promise<Hash[] | AuditFault | undefined>,
  ): Promise<{ tile: TileAddress; hashes: Hash[] }[] | AuditFault> {
    const { size, root } = this.#tree;
    const edge = new Map<number, { tile: TileAddress; hashes: Hash[] }>();
    for (let level = 0; size >= pageColumns ** level; level++) {
      const index = Math.floor(size / pageColumns ** (level + 1));
      const width = pageWidth({ level, index }, size);
      if (width === 0) continue;
      const hashes = await hashesOf({ level, index, width });
      if (!Array.isArray(hashes))
        return hashes ?? new AuditFault('WRONG_TILE', `/${tilePath({ level, index, width })} is missing`);
      edge.set(level, { tile: { level, index, width }, hashes });
    }
    const hashAt = (at: { readonly level: number; readonly index: number }): Hash => {
      const { level, row, column } = placeOf(at);
      return foldComplete(edge.get(level)!.hashes.slice(column * 2 ** row, (column + 1) * 2 ** row));
    };
    const given = foldRoot(sha256, size, rootPlan(size).map(hashAt));
    if (!equalHashes(given, root))
      return new AuditFault(
        'WRONG_TILE',
        `the tiles on the edge of size ${size} result in a different root than the signed one`,
      );
    return [...edge.values()].reverse();
  }

  /** Copies the tiles below a verified tile that are not in the folder's earlier tree. */
  async #below({ level, index }: TileAddress, hashes: readonly Hash[]): Promise<AuditFault | undefined> {
    if (level === 0) return undefined;
    const first = index * pageColumns;
    const leaves = pageColumns ** level;
    const from = this.#options.recheck ? 0 : this.#options.from;
    let column = Math.max(0, Math.floor(from / leaves) - first);
    while (column < hashes.length) {
      const group = hashes.slice(column, column + (level === 1 ? concurrency : 1));
      const copies = group.map((hash, i) => this.#copy({ level: level - 1, index: first + column + i }, hash));
      for (const failed of await Promise.all(copies)) if (failed !== undefined) return failed;
      column += group.length;
      if (level === 1) this.#options.onProgress?.((first + column) * leaves, this.#tree.size);
    }
    return undefined;
  }

  /** Copies a full tile, whose root must be `expected`, and all tiles below it. */
  async #copy(at: { level: number; index: number }, expected: Hash): Promise<AuditFault | undefined> {
    const tile = { ...at, width: pageColumns };
    const existing = await this.#existing(tile);
    if (existing !== undefined && equalHashes(foldComplete(existing), expected))
      return (await this.#below(tile, existing)) ?? this.#entriesOf(tile, existing);
    const hashes = await fetchTile(this.#log, tile);
    if (hashes instanceof AuditFault) return hashes;
    if (!equalHashes(foldComplete(hashes), expected))
      return new AuditFault('WRONG_TILE', `/${tilePath(tile)} is not the tile covered by the signed root`);
    return (await this.#below(tile, hashes)) ?? this.#store(tile, hashes);
  }

  async #store(tile: TileAddress, hashes: readonly Hash[]): Promise<AuditFault | undefined> {
    const existing = await this.#existing(tile);
    const isUnchanged = existing?.every((hash, i) => equalHashes(hash, hashes[i]!)) ?? false;
    if (!isUnchanged) await this.#write(tilePath(tile), tile, joined(hashes));
    return this.#entriesOf(tile, hashes);
  }

  async #write(path: string, { level, index }: TileAddress, bytes: Uint8Array): Promise<void> {
    const isOld = (index + 1) * pageColumns ** (level + 1) <= this.#options.from;
    const isRepair = this.#options.recheck && (isOld || (await this.#folder.read(path)) !== undefined);
    await this.#folder.write(path, bytes);
    if (isRepair) this.#options.onRepaired?.(path);
  }

  async #existing(tile: TileAddress): Promise<Hash[] | undefined> {
    const bytes = await this.#folder.read(tilePath(tile));
    if (bytes?.length !== tile.width * hashBytes) return undefined;
    return Array.from({ length: tile.width }, (_, i) => bytes.subarray(i * hashBytes, (i + 1) * hashBytes));
  }

  /** Copies the entry bundle for a tile of leaf hashes. */
  async #entriesOf({ level, index, width }: TileAddress, hashes: readonly Hash[]): Promise<AuditFault | undefined> {
    const { entries: areWanted, recheck } = this.#options;
    if (level > 0 || !(areWanted || recheck)) return undefined;
    const path = entriesPath(index, width);
    const wrongIn = (list: readonly Uint8Array[]) =>
      hashes.findIndex((hash, i) => list[i] === undefined || !equalHashes(leafHash(sha256, list[i]), hash));
    const existing = await this.#folder.read(path);
    if (existing === undefined ? !areWanted : wrongIn(decoded(existing, width)) < 0) return undefined;
    if (!areWanted)
      return new AuditFault('WRONG_TILE', `/${path} is damaged; fetching entries requires a token that may read them`);
    const entries = await fetchEntryBundle(this.#log, index, width);
    if (entries instanceof AuditFault) return entries;
    const wrong = wrongIn(entries);
    if (wrong >= 0)
      return new AuditFault('WRONG_TILE', `/${path}: entry ${index * pageColumns + wrong} differs from the logged one`);
    await this.#write(path, { level, index, width }, encodeEntryBundle(entries));
    return undefined;
  }

  /** Copies bundles that an earlier run omitted, because it had no token to read entries. */
  async #earlierEntries(): Promise<AuditFault | undefined> {
    const end = Math.floor(this.#options.from / pageColumns);
    const last = end === 0 ? undefined : await this.#folder.read(entriesPath(end - 1, pageColumns));
    if (end === 0 || last !== undefined) return undefined;
    for (let index = 0; index < end; index++) {
      const tile = { level: 0, index, width: pageColumns };
      const hashes = await this.#existing(tile);
      if (hashes === undefined) return new AuditFault('WRONG_TILE', `${tilePath(tile)} is missing in the folder`);
      const failed = await this.#entriesOf(tile, hashes);
      if (failed !== undefined) return failed;
    }
    return undefined;
  }
}

function joined(hashes: readonly Hash[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(hashes.length * hashBytes);
  for (const [i, hash] of hashes.entries()) bytes.set(hash, i * hashBytes);
  return bytes;
}

/** Decodes the entries of a bundle; empty if it is damaged. */
function decoded(bytes: Uint8Array, width: number): readonly Uint8Array[] {
  return caught(TlogError, [], () => decodeEntryBundle(bytes, width));
}
