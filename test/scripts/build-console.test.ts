/** The build of the console, on a project with a console of three lines. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { buildConsole } from '../../scripts/build-console/build.ts';
import { reasonToBuild } from '../../scripts/build-console/freshness.ts';
import { readConsole } from '../../src/http/console-files.ts';

let root: string;
let built: string;
const source = (name: string) => join(root, 'src', 'console', name);

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'candor-console-build-'));
  built = join(root, 'dist', 'console');
  mkdirSync(join(root, 'src', 'console', 'pages'), { recursive: true });
  mkdirSync(join(root, 'src', 'contract'));
  writeFileSync(
    source('vite.config.ts'),
    `export default {
      root: import.meta.dirname,
      build: { outDir: 'elsewhere', assetsDir: 'console', assetsInlineLimit: 0 },
      logLevel: 'silent',
    };`,
  );
  writeFileSync(source('index.html'), '<!doctype html><script type="module" src="./main.ts"></script>');
  writeFileSync(source('main.ts'), "import './main.css'; document.title = 'the first console' as string;");
  writeFileSync(source('main.css'), 'body { color: red }');
  writeFileSync(source('pages/alerts.ts'), '');
  writeFileSync(join(root, 'src', 'contract', 'routes.ts'), '');
  writeFileSync(join(root, 'package-lock.json'), '{}');
});
afterEach(() => rmSync(root, { recursive: true }));

const texts = (extension: string) =>
  readdirSync(join(built, 'console'))
    .filter((name) => name.endsWith(extension))
    .map((name) => join(built, 'console', name));

describe('the build', () => {
  test('writes each file with its compressed forms, for the service to read', async () => {
    await buildConsole(root, built);
    const plain = [...texts('.js'), ...texts('.css')];
    expect(plain).toHaveLength(2);
    for (const path of plain) {
      expect(brotliDecompressSync(readFileSync(`${path}.br`)).equals(readFileSync(path))).toBe(true);
      expect(gunzipSync(readFileSync(`${path}.gz`)).equals(readFileSync(path))).toBe(true);
    }
    const log = pino({ enabled: false });
    const read = await readConsole(built, { log, limitReached: () => {} });
    expect(read?.files).toHaveLength(2);
    const [html] = read!.document.variants.filter(({ coding }) => coding === undefined);
    for (const { path } of read!.files) expect(String(html?.bytes)).toContain(`"${path}"`);
    expect(existsSync(source('elsewhere'))).toBe(false);
    // The user who runs the service may differ from the user who built the console.
    expect(statSync(built).mode & 0o055).toBe(0o055 & ~process.umask());
  });

  test('replaces the previous console completely', async () => {
    await buildConsole(root, built);
    const [before] = texts('.js');
    writeFileSync(source('main.ts'), "document.title = 'the second console' as string;");
    await buildConsole(root, built);
    expect(texts('.js')).toHaveLength(1);
    expect(texts('.js')).not.toEqual([before]);
    expect(readFileSync(texts('.js')[0]!, 'utf8')).toContain('the second console');
    expect(readdirSync(join(root, 'dist'))).toEqual(['console']);
  });

  test('leaves a complete console if two builds run concurrently', async () => {
    await Promise.all([buildConsole(root, built), buildConsole(root, built)]);
    expect(readdirSync(join(root, 'dist'))).toEqual(['console']);
    expect(texts('.js')).toHaveLength(1);
    expect(texts('.js.br')).toHaveLength(1);
  });

  test('leaves the previous console if it fails', async () => {
    await buildConsole(root, built);
    const before = texts('');
    writeFileSync(source('main.ts'), "import './missing.ts';");
    await expect(buildConsole(root, built)).rejects.toThrow('missing.ts');
    expect(texts('')).toEqual(before);
    expect(readdirSync(join(root, 'dist'))).toEqual(['console']);
  });
});

describe('the console', () => {
  const minute = 60;
  const now = Date.now() / 1000;

  /** Writes a console dated a minute after every other file. */
  function builtLater(): void {
    for (const path of [source('vite.config.ts'), source('index.html'), source('main.ts'), source('main.css')])
      utimesSync(path, now, now);
    for (const path of ['src/console', 'src/console/pages', 'src/contract', 'package-lock.json'])
      utimesSync(join(root, path), now, now);
    mkdirSync(built, { recursive: true });
    writeFileSync(join(built, 'index.html'), '');
    utimesSync(join(built, 'index.html'), now + minute, now + minute);
  }
  const change = (path: string) => utimesSync(join(root, path), now + 2 * minute, now + 2 * minute);

  test('is built if no build exists', () => {
    expect(reasonToBuild(root, built)).toBe('not built yet');
  });

  test('is not rebuilt if none of its files has changed', () => {
    builtLater();
    expect(reasonToBuild(root, built)).toBeUndefined();
    writeFileSync(join(root, 'src', 'main.ts'), '');
    change('src/main.ts');
    expect(reasonToBuild(root, built)).toBeUndefined();
  });

  test.each(['src/console/main.ts', 'src/console/pages/alerts.ts', 'src/contract/routes.ts', 'package-lock.json'])(
    'is rebuilt after a change to %s',
    (path) => {
      builtLater();
      change(path);
      expect(reasonToBuild(root, built)).toBe(`${path} has changed`);
    },
  );

  test('is rebuilt after a file is removed', () => {
    builtLater();
    rmSync(source('pages/alerts.ts'));
    change('src/console/pages');
    expect(reasonToBuild(root, built)).toBe('src/console/pages has changed');
  });

  test('is rebuilt after a change during the build', async () => {
    // A change within the millisecond of a build's start counts as changed.
    await sleep(5);
    const building = buildConsole(root, built);
    const inTheMiddle = new Date();
    await building;
    expect(reasonToBuild(root, built)).toBeUndefined();
    utimesSync(source('main.ts'), inTheMiddle, new Date(inTheMiddle.getTime() + 1));
    expect(reasonToBuild(root, built)).toBe('src/console/main.ts has changed');
  });
});
