/** Copies of trees from their tiles, compared with the computed trees. */
import { describe, expect, test } from 'vitest';
import { AuditFault } from '../../src/client/fault.ts';
import { Denied, type LogSource, NotFound } from '../../src/client/log-source.ts';
import { canReadEntries, type MirrorFolder, mirrorTree } from '../../src/client/mirror.ts';
import { sha256 } from '../../src/crypto/sha256.ts';
import { encodeEntryBundle } from '../../src/tlog/entry-bundle.ts';
import { GrowingTree } from '../../src/tlog/growing-tree.ts';
import { entriesPath, tilePath } from '../../src/tlog/tile.ts';
import { hashBytes, leafHash } from '../../src/tlog/tree.ts';
import { tilesOf } from '../tlog/tiles-of.ts';

type Files = Map<string, Uint8Array>;

const entry = (index: number) => new TextEncoder().encode(`entry ${index}`);

/** Returns, for each of these sizes, the tiles and bundles of the tree, and its root. */
function treesOf(...sizes: number[]): Map<number, { files: Files; root: Uint8Array }> {
  const tree = GrowingTree.load(sha256, 0, () => undefined)!;
  const pages = new Map<string, Uint8Array>();
  const trees = new Map<number, { files: Files; root: Uint8Array }>();
  for (const size of sizes) {
    while (tree.size < size) tree.append(leafHash(sha256, entry(tree.size)));
    for (const { level, index, bytes } of tree.takePages()) pages.set(`${level}/${index}`, bytes);
    const files: Files = new Map();
    for (const tile of tilesOf(size)) {
      const page = pages.get(`${tile.level}/${tile.index}`)!;
      files.set(tilePath(tile), page.slice(0, tile.width * hashBytes));
      if (tile.level > 0) continue;
      const entries = Array.from({ length: tile.width }, (_, i) => entry(256 * tile.index + i));
      files.set(entriesPath(tile.index, tile.width), encodeEntryBundle(entries));
    }
    trees.set(size, { files, root: tree.root() });
  }
  return trees;
}

class Source implements LogSource {
  readonly url = 'http://log';
  readonly asked: string[] = [];
  readonly #files: ReadonlyMap<string, Uint8Array>;
  /** Replacement responses by path. */
  lies = new Map<string, Uint8Array | AuditFault>();
  /** Number of requests that succeed before the network fails. */
  left = Number.POSITIVE_INFINITY;

  constructor(files: Files) {
    this.#files = files;
  }

  get = async (): Promise<AuditFault> => new NotFound('HTTP_REFUSED', 'tiles only');

  getBytes = async (path: string): Promise<Uint8Array | AuditFault> => {
    const name = path.slice(1);
    this.asked.push(name);
    if (this.left-- <= 0) return new AuditFault('HTTP_REFUSED', 'the network is gone');
    return this.lies.get(name) ?? this.#files.get(name) ?? new NotFound('HTTP_REFUSED', name);
  };
}

class Memory implements MirrorFolder {
  readonly files: Files = new Map();
  read = async (path: string) => this.files.get(path);
  write = async (path: string, bytes: Uint8Array) => void this.files.set(path, Uint8Array.from(bytes));
}

const sorted = (files: Files) => [...files].sort(([a], [b]) => (a < b ? -1 : 1));
const full = (files: Files) => new Map([...files].filter(([path]) => !path.includes('.p/')));

test('a copy that grows in steps has every tile and bundle of each tree', async () => {
  const sizes = [1, 2, 255, 256, 257, 511, 512, 700, 65_536, 66_000];
  const trees = treesOf(...sizes);
  const folder = new Memory();
  let from = 0;
  for (const size of sizes) {
    const { files, root } = trees.get(size)!;
    const source = new Source(files);
    expect(await mirrorTree(source, folder, { size, root }, { from, entries: true })).toBeUndefined();
    for (const [path, bytes] of files) expect(folder.files.get(path), path).toEqual(bytes);
    const grown = new Set(tilesOf(size, from).flatMap((tile) => [tilePath(tile), entriesPath(tile.index, tile.width)]));
    expect(source.asked.filter((path) => !grown.has(path) && !path.includes('.p/'))).toEqual([]);
    from = size;
  }
});

describe('a copy of 600 entries', () => {
  const trees = treesOf(300, 600);
  const { files, root } = trees.get(600)!;
  const tree = { size: 600, root };

  test.each([...files.keys()])('rejects a wrong %s, and does not write wrong data', async (path) => {
    const flipped = Uint8Array.from(files.get(path)!);
    flipped[40]! ^= 1;
    for (const lie of [flipped, files.get(path)!.slice(0, -1), new Uint8Array()]) {
      const [source, folder] = [new Source(files), new Memory()];
      source.lies.set(path, lie);
      const fault = await mirrorTree(source, folder, tree, { from: 0, entries: true });
      expect(['WRONG_TILE', 'MALFORMED_TILE']).toContain((fault as AuditFault).code);
      for (const [name, bytes] of folder.files) expect(files.get(name)).toEqual(bytes);
      expect(folder.files.has(path)).toBe(false);
    }
  });

  test('is rejected if the root differs', async () => {
    const folder = new Memory();
    const fault = await mirrorTree(
      new Source(files),
      folder,
      { size: 600, root: trees.get(300)!.root },
      { from: 0, entries: true },
    );
    expect([fault?.code, folder.files.size]).toEqual(['WRONG_TILE', 0]);
  });

  test('continues after an interruption, and fetches no full tile twice', async () => {
    const whole = new Source(files);
    await mirrorTree(whole, new Memory(), tree, { from: 0, entries: true });
    for (let left = 0; left < whole.asked.length; left++) {
      const [first, again, folder] = [new Source(files), new Source(files), new Memory()];
      first.left = left;
      expect(await mirrorTree(first, folder, tree, { from: 0, entries: true })).toBeInstanceOf(AuditFault);
      const there = new Set(full(folder.files).keys());
      expect(await mirrorTree(again, folder, tree, { from: 0, entries: true })).toBeUndefined();
      expect(again.asked.filter((path) => there.has(path))).toEqual([]);
      expect(sorted(folder.files)).toEqual(sorted(files));
    }
  });

  test('replaces the content of a damaged file', async () => {
    for (const path of files.keys()) {
      const folder = new Memory();
      for (const [name, bytes] of files) folder.files.set(name, name === path ? bytes.slice(1) : bytes);
      expect(await mirrorTree(new Source(files), folder, tree, { from: 0, entries: true })).toBeUndefined();
      expect(folder.files.get(path)).toEqual(files.get(path));
    }
  });

  test('has only hashes while entries may not be read, and fetches the entries once permitted', async () => {
    const [closed, folder] = [new Source(files), new Memory()];
    const denied = new Denied('HTTP_REFUSED', 'needs a role');
    for (const path of files.keys()) if (path.includes('entries')) closed.lies.set(path, denied);
    expect(await canReadEntries(closed, 600)).toBe(false);
    await mirrorTree(closed, folder, tree, { from: 0, entries: false });
    expect([...folder.files.keys()].filter((path) => path.includes('entries'))).toEqual([]);
    const open = new Source(files);
    expect(await canReadEntries(open, 600)).toBe(true);
    expect(await mirrorTree(open, folder, tree, { from: 600, entries: true })).toBeUndefined();
    expect(sorted(folder.files)).toEqual(sorted(files));
  });
});
