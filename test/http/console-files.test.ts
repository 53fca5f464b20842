import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ConsoleFiles, readConsole } from '../../src/http/console-files.ts';
import { type LimitName, limits } from '../../src/limits.ts';
import { type BuiltConsole, buildFixture, builtBrotli, builtGzip, font, html, style } from './built-console.ts';

async function reading(folder: string) {
  const reached: LimitName[] = [];
  const logged: Record<string, unknown>[] = [];
  const log = pino({}, { write: (line: string) => logged.push(JSON.parse(line)) });
  const files = await readConsole(folder, { log, limitReached: (limit) => reached.push(limit) });
  return { files, reached, logged };
}

const variant = ({ document, files }: ConsoleFiles, path: string, coding?: 'br' | 'gzip') =>
  [document, ...files].find((file) => file.path === path)?.variants.find((one) => one.coding === coding);

describe('the folder of a built console', () => {
  let fixture: BuiltConsole;
  let files: ConsoleFiles;
  beforeAll(async () => {
    fixture = buildFixture();
    const read = await reading(fixture.folder);
    expect([read.reached, read.logged]).toEqual([[], []]);
    files = read.files!;
  });
  afterAll(() => fixture.remove());

  test('is read with the media types of its files, and without unrelated files', () => {
    const types = files.files.map(({ path, mediaType }) => [path, mediaType]);
    expect(types.sort()).toEqual([
      ['/console/icon-D15ea5e0.svg', 'image/svg+xml'],
      ['/console/main-BxY3_-9a.js', 'text/javascript; charset=utf-8'],
      ['/console/mono-Ab12Cd34.woff2', 'font/woff2'],
      ['/console/style-C0ffee00.css', 'text/css; charset=utf-8'],
    ]);
  });

  test('keeps precompressed files of the build unchanged', () => {
    const path = '/console/main-BxY3_-9a.js';
    expect(variant(files, path, 'br')?.bytes.equals(builtBrotli)).toBe(true);
    expect(variant(files, path, 'gzip')?.bytes.equals(builtGzip)).toBe(true);
  });

  test('has compressed forms of other files, unless they would not shrink, and always of the document', () => {
    const path = '/console/style-C0ffee00.css';
    expect(String(brotliDecompressSync(variant(files, path, 'br')!.bytes))).toBe(style);
    expect(String(gunzipSync(variant(files, path, 'gzip')!.bytes))).toBe(style);
    expect(String(brotliDecompressSync(variant(files, '/', 'br')!.bytes))).toBe(html);
    const icon = files.files.find((file) => file.path.endsWith('.svg'));
    expect(icon?.variants.map(({ coding }) => coding)).not.toContain('gzip');
    expect(files.files.find((file) => file.path.endsWith('.woff2'))?.variants).toEqual([
      { coding: undefined, bytes: font, etag: expect.stringMatching(/^"[\w-]{22}"$/) },
    ]);
  });

  test('has a separate validator for each coding, the same at every start', async () => {
    const all = ({ document, files }: ConsoleFiles) =>
      [document, ...files].flatMap(({ variants }) => variants.map(({ etag }) => etag)).sort();
    expect(new Set(all(files)).size).toBe(all(files).length);
    expect(all((await reading(fixture.folder)).files!)).toEqual(all(files));
  });
});

describe('an unreadable console is left out, with one line in the log', () => {
  const folder = mkdtempSync(join(tmpdir(), 'candor-console-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  function folderWith(name: string): string {
    const assets = join(folder, name, 'console');
    mkdirSync(assets, { recursive: true });
    writeFileSync(join(folder, name, 'index.html'), html);
    return assets;
  }

  test('if the folder does not exist', async () => {
    const { files, reached, logged } = await reading(join(folder, 'none'));
    expect([files, reached]).toEqual([undefined, []]);
    expect(logged).toEqual([
      expect.objectContaining({ level: 30, msg: expect.stringContaining('npm run build:console') }),
    ]);
  });

  test('if a file is in place of the folder', async () => {
    writeFileSync(join(folder, 'file'), '');
    const { files, logged } = await reading(join(folder, 'file'));
    expect(files).toBeUndefined();
    expect(logged).toEqual([expect.objectContaining({ level: 50 })]);
  });

  test('if its files exceed the memory limit', async () => {
    const large = join(folderWith('large'), 'main.js');
    writeFileSync(large, '');
    truncateSync(large, limits.maxConsoleBytes);
    const { files, reached, logged } = await reading(join(folder, 'large'));
    expect([files, reached]).toEqual([undefined, ['maxConsoleBytes']]);
    expect(logged).toEqual([expect.objectContaining({ level: 50 })]);
  });

  test('if it has more files than the limit', async () => {
    const assets = folderWith('many');
    for (let n = 0; n < limits.maxConsoleFiles; n++) writeFileSync(join(assets, `f${n}.js`), '');
    const { files, reached } = await reading(join(folder, 'many'));
    expect([files, reached]).toEqual([undefined, ['maxConsoleFiles']]);
    rmSync(join(assets, 'f0.js'));
    expect((await reading(join(folder, 'many'))).files?.files).toHaveLength(limits.maxConsoleFiles - 1);
  });
});
