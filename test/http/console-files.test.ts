import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ConsoleFiles, readConsole } from '../../src/http/console-files.ts';
import { type LimitName, limits } from '../../src/limits.ts';
import {
  type BuiltConsole,
  buildFixture,
  builtBrotli,
  builtGzip,
  font,
  html,
  style,
} from './built-console.ts';

async function reading(folder: string) {
  const reached: LimitName[] = [];
  const logged: Record<string, unknown>[] = [];
  const log = pino({}, { write: (line: string) => logged.push(JSON.parse(line)) });
  const files = await readConsole(folder, { log, limitReached: (limit) => reached.push(limit) });
  return { files, reached, logged };
}

const variant = ({ document, files }: ConsoleFiles, path: string, coding?: 'br' | 'gzip') =>
  [document, ...files].find((file) => file.path === path)?.variants.find((one) => one.coding === coding);

describe('a folder that was built', () => {
  let fixture: BuiltConsole;
  let files: ConsoleFiles;
  beforeAll(async () => {
    fixture = buildFixture();
    const read = await reading(fixture.folder);
    expect([read.reached, read.logged]).toEqual([[], []]);
    files = read.files!;
  });
  afterAll(() => fixture.remove());

  test('is read with the types of its files, and nothing else that lies there', () => {
    const types = files.files.map(({ path, mediaType }) => [path, mediaType]);
    expect(types.sort()).toEqual([
      ['/console/icon-D15ea5e0.svg', 'image/svg+xml'],
      ['/console/main-BxY3_-9a.js', 'text/javascript; charset=utf-8'],
      ['/console/mono-Ab12Cd34.woff2', 'font/woff2'],
      ['/console/style-C0ffee00.css', 'text/css; charset=utf-8'],
    ]);
  });

  test('what the build compressed is taken as it is', () => {
    const path = '/console/main-BxY3_-9a.js';
    expect(variant(files, path, 'br')?.bytes.equals(builtBrotli)).toBe(true);
    expect(variant(files, path, 'gzip')?.bytes.equals(builtGzip)).toBe(true);
  });

  test('the rest is compressed, the document in any case, unless it would not get smaller', () => {
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

  test('each form has a validator of its own, the same at every start', async () => {
    const all = ({ document, files }: ConsoleFiles) =>
      [document, ...files].flatMap(({ variants }) => variants.map(({ etag }) => etag)).sort();
    expect(new Set(all(files)).size).toBe(all(files).length);
    expect(all((await reading(fixture.folder)).files!)).toEqual(all(files));
  });
});

describe('without a console that can be read, the service does without, and the log has one line', () => {
  const folder = mkdtempSync(join(tmpdir(), 'candor-console-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  function folderWith(name: string): string {
    const assets = join(folder, name, 'console');
    mkdirSync(assets, { recursive: true });
    writeFileSync(join(folder, name, 'index.html'), html);
    return assets;
  }

  test('no folder', async () => {
    const { files, reached, logged } = await reading(join(folder, 'none'));
    expect([files, reached]).toEqual([undefined, []]);
    expect(logged).toEqual([
      expect.objectContaining({ level: 30, msg: expect.stringContaining('npm run build:console') }),
    ]);
  });

  test('a file in its place', async () => {
    writeFileSync(join(folder, 'file'), '');
    const { files, logged } = await reading(join(folder, 'file'));
    expect(files).toBeUndefined();
    expect(logged).toEqual([expect.objectContaining({ level: 50 })]);
  });

  test('more bytes than may be held in memory', async () => {
    const large = join(folderWith('large'), 'main.js');
    writeFileSync(large, '');
    truncateSync(large, limits.maxConsoleBytes);
    const { files, reached, logged } = await reading(join(folder, 'large'));
    expect([files, reached]).toEqual([undefined, ['maxConsoleBytes']]);
    expect(logged).toEqual([expect.objectContaining({ level: 50 })]);
  });

  test('more files than any console has', async () => {
    const assets = folderWith('many');
    for (let n = 0; n < limits.maxConsoleFiles; n++) writeFileSync(join(assets, `f${n}.js`), '');
    const { files, reached } = await reading(join(folder, 'many'));
    expect([files, reached]).toEqual([undefined, ['maxConsoleFiles']]);
    rmSync(join(assets, 'f0.js'));
    expect((await reading(join(folder, 'many'))).files?.files).toHaveLength(limits.maxConsoleFiles - 1);
  });
});
