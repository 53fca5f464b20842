import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { entriesPath, parseEntriesPath, parseTilePath, type TileAddress, tilePath } from '../../src/tlog/tile.ts';
import { faultOf } from './faults.ts';
import { mutated } from './mutations.ts';
import { tilesOf } from './tiles-of.ts';

const tile = fc.record({
  level: fc.integer({ min: 0, max: 63 }),
  index: fc.maxSafeNat(),
  width: fc.integer({ min: 1, max: 256 }),
});

const paths: [string, TileAddress][] = [
  ['0/000', { level: 0, index: 0, width: 256 }],
  ['0/999', { level: 0, index: 999, width: 256 }],
  ['0/x001/000', { level: 0, index: 1000, width: 256 }],
  ['3/x001/x234/067', { level: 3, index: 1_234_067, width: 256 }],
  ['3/x001/x234/067.p/8', { level: 3, index: 1_234_067, width: 8 }],
  ['63/x001/x000/000.p/255', { level: 63, index: 1_000_000, width: 255 }],
  ['0/x002/x147/x483/648.p/1', { level: 0, index: 2 ** 31, width: 1 }],
  ['1/x004/x294/x967/296', { level: 1, index: 2 ** 32, width: 256 }],
  ['0/x009/x007/x199/x254/x740/991', { level: 0, index: 2 ** 53 - 1, width: 256 }],
];

describe('the path of a tile', () => {
  test.each(paths)('%s is formatted and parsed', (path, tile) => {
    expect(tilePath(tile)).toBe(`tile/${path}`);
    expect(parseTilePath(path)).toEqual(tile);
    const { index, width } = tile;
    const entries = path.slice(path.indexOf('/') + 1);
    expect(entriesPath(index, width)).toBe(`tile/entries/${entries}`);
    expect(parseEntriesPath(entries)).toEqual({ index, width });
  });

  test('round-trips', () => {
    fc.assert(
      fc.property(tile, (tile) => {
        expect(parseTilePath(tilePath(tile).slice('tile/'.length))).toEqual(tile);
        const { index, width } = tile;
        expect(parseEntriesPath(entriesPath(index, width).slice('tile/entries/'.length))).toEqual({
          index,
          width,
        });
      }),
    );
  });

  test('has one spelling: formatting a parsed path yields the same text', () => {
    const good = fc.constantFrom(...paths.map(([path]) => path));
    const other = fc.oneof(good.chain(mutated), fc.string({ unit: 'binary', maxLength: 40 }));
    fc.assert(
      fc.property(other, (path) => {
        const faults = [
          faultOf(() => expect(tilePath(parseTilePath(path))).toBe(`tile/${path}`)),
          faultOf(() => {
            const { index, width } = parseEntriesPath(path);
            expect(entriesPath(index, width)).toBe(`tile/entries/${path}`);
          }),
        ];
        for (const fault of faults) expect([undefined, 'bad_tile']).toContain(fault);
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    ['no characters', ''],
    ['no index', '0'],
    ['no level', '000'],
    ['an empty level', '/000'],
    ['a leading slash', '/0/000'],
    ['a trailing slash', '0/000/'],
    ['a level with a leading zero', '00/000'],
    ['level 01', '01/000'],
    ['level 64', '64/000'],
    ['level 100', '100/000'],
    ['a level below 0', '-1/000'],
    ['the level of sumdb’s data tiles', 'data/000'],
    ['an index of two digits', '0/00'],
    ['an index of four digits', '0/0000'],
    ['an x on the last group', '0/x000'],
    ['no x on the first group', '0/001/000'],
    ['a capital X', '0/X001/000'],
    ['a leading group of zeros', '0/x000/001'],
    ['two leading groups of zeros', '0/x000/x000/001'],
    ['index 2^53', '0/x009/x007/x199/x254/x740/992'],
    ['seven groups', '0/x001/x000/x000/x000/x000/x000/000'],
    ['a thousand groups', `0/${'x001/'.repeat(1000)}000`],
    ['an empty group', '0/x001//000'],
    ['width 0', '0/000.p/0'],
    ['an explicit width of 256', '0/000.p/256'],
    ['width 257', '0/000.p/257'],
    ['width 999', '0/000.p/999'],
    ['a width with a leading zero', '0/000.p/08'],
    ['no width', '0/000.p/'],
    ['no slash before the width', '0/000.p8'],
    ['nothing after .p', '0/000.p'],
    ['a width on the first group', '0/x001.p/8/000'],
    ['a plus', '0/+00'],
    ['a space', '0/ 00'],
    ['an exponent', '0/1e1'],
    ['hexadecimal', '0/0x1'],
    ['a trailing newline', '0/000\n'],
    ['digits of another script', '0/\u0660\u0660\u0660'],
    ['percent-encoding', '0/%30%30%30'],
    ['the prefix', 'tile/0/000'],
  ])('with %s is rejected', (_what, path) => {
    expect(faultOf(() => parseTilePath(path))).toBe('bad_tile');
    if (path.startsWith('0/')) expect(faultOf(() => parseEntriesPath(path.slice(2)))).toBe('bad_tile');
  });

  test.each<TileAddress>([
    { level: -1, index: 0, width: 1 },
    { level: 64, index: 0, width: 1 },
    { level: 0.5, index: 0, width: 1 },
    { level: 0, index: -1, width: 1 },
    { level: 0, index: 2 ** 53, width: 1 },
    { level: 0, index: 0.5, width: 1 },
    { level: 0, index: Number.NaN, width: 1 },
    { level: 0, index: 0, width: 0 },
    { level: 0, index: 0, width: 257 },
    { level: 0, index: 0, width: 1.5 },
  ])('cannot be formatted for level $level, index $index, width $width', (tile) => {
    expect(faultOf(() => tilePath(tile))).toBe('bad_tile');
  });
});

describe('the tiles of a tree', () => {
  /** Counts the tiles of each level and width. */
  const counted = (size: number, from?: number) => {
    const counts = new Map<string, number>();
    for (const { level, width } of tilesOf(size, from)) {
      const key = `level ${level}, width ${width}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return Object.fromEntries(counts);
  };

  test('match the specification’s examples of 70,000 and 256 leaves', () => {
    expect(counted(70_000)).toEqual({
      'level 0, width 256': 273,
      'level 0, width 112': 1,
      'level 1, width 256': 1,
      'level 1, width 17': 1,
      'level 2, width 1': 1,
    });
    const last = tilesOf(70_000).filter(({ width }) => width < 256);
    expect(last.map(tilePath)).toEqual(['tile/0/273.p/112', 'tile/1/001.p/17', 'tile/2/000.p/1']);
    expect(counted(256)).toEqual({ 'level 0, width 256': 1, 'level 1, width 1': 1 });
  });

  test('contain each complete node of their levels once', () => {
    for (const size of [0, 1, 4, 255, 256, 257, 1000, 65_535, 65_536, 65_541, 65_792, 70_000, 131_073]) {
      const tiles = tilesOf(size);
      expect(new Set(tiles.map(tilePath)).size).toBe(tiles.length);
      for (let level = 0; level < 4; level++) {
        const widths = tiles.filter((tile) => tile.level === level).map(({ width }) => width);
        expect(widths.reduce((sum, width) => sum + width, 0)).toBe(Math.floor(size / 256 ** level));
      }
    }
  });

  test('since an earlier size are the tiles that changed, without tiles that were already full', () => {
    const size = fc.oneof(
      fc.nat(300_000),
      fc.nat(1100).map((n) => n * 256),
      fc.constantFrom(65_536, 65_541, 131_072, 131_100),
    );
    fc.assert(
      fc.property(size, size, (a, b) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b)];
        const full = new Set(
          tilesOf(from)
            .filter(({ width }) => width === 256)
            .map(tilePath),
        );
        const wanted = tilesOf(to)
          .map(tilePath)
          .filter((path) => !full.has(path));
        expect(tilesOf(to, from).map(tilePath)).toEqual(wanted);
      }),
      { numRuns: 50 },
    );
  });

  test.each([2 ** 31, 2 ** 32, 2 ** 40, 2 ** 53 - 1])('end at the end of a tree of %d leaves', (size) => {
    const tiles = tilesOf(size, size - 1);
    expect(tiles[0]).toEqual({ level: 0, index: Math.ceil(size / 256) - 1, width: ((size - 1) % 256) + 1 });
    for (const { level, index, width } of tiles) {
      const columns = Math.floor(size / 256 ** level);
      expect([columns - 256 * index, width]).toContain(width);
      expect(BigInt(index) * 256n + BigInt(width)).toBe(BigInt(columns));
    }
    expect(new Set(tiles.map(({ level }) => level)).size).toBe(Math.floor(Math.log2(size) / 8 + 1e-9) + 1);
  });
});
