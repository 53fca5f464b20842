import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { takeDataFolder } from '../../src/files/data-folder.ts';
import { foreignFiles } from '../../src/files/data-folder-files.ts';

let folder: string;
let format: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'candor-folder-'));
  format = join(folder, 'format.json');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a new folder gets the format, and the next start accepts it', () => {
  takeDataFolder(folder).release();
  const written = readFileSync(format, 'utf8');
  expect(JSON.parse(written)).toEqual({ format: 1 });
  takeDataFolder(folder).release();
  expect(readFileSync(format, 'utf8')).toBe(written);
});

test.for([
  ['{"format":2}', /has format 2; this program supports format 1: use a newer version/],
  ['', /format\.json is damaged/],
  ['{"format"', /format\.json is damaged/],
  ['null', /format\.json is damaged/],
] as const)('a folder with format %j is refused with one clear line, and is unlocked again', ([text, wanted]) => {
  writeFileSync(format, text);
  for (let i = 0; i < 2; i++) expect(() => takeDataFolder(folder)).toThrow(wanted);
  expect(readFileSync(format, 'utf8')).toBe(text);
});

const odd: Readonly<Record<string, (path: string) => void>> = {
  folder: (path) => mkdirSync(path),
  file: (path) => writeFileSync(path, ''),
  pipe: (path) => execFileSync('mkfifo', [path]),
  'broken link': (path) => symlinkSync(join(folder, 'nowhere'), path),
};
const files = ['format.json', 'siem.mdb', 'siem.mdb-lock', 'ledger.mdb-lock', 'lock', 'anchor.json', 'keys/a.json'];

test.for([
  ...files.flatMap((name) => ['folder', 'pipe', 'broken link'].map((kind) => [name, kind, 'file'] as const)),
  ...['file', 'pipe', 'broken link'].map((kind) => ['keys', kind, 'folder'] as const),
])('%s that is a %s is refused before it is opened', ([name, kind, wanted]) => {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  odd[kind]!(path);
  const message = `${path} is a ${kind}, and must be a ${wanted}: move it away`;
  expect(() => takeDataFolder(folder)).toThrow(message);
  rmSync(path, { recursive: true });
  takeDataFolder(folder).release();
});

test.skipIf(process.geteuid?.() !== 0)('a file of another user is reported, or refused if it cannot be read', () => {
  const open = mkdtempSync('/tmp/candor-data-'); // Every user can enter /tmp, but perhaps not tmpdir().
  onTestFinished(() => rmSync(open, { recursive: true }));
  takeDataFolder(open).release();
  chownSync(join(open, 'format.json'), 65_534, 65_534);
  expect(foreignFiles(open)).toEqual([expect.stringContaining('another user owns format.json and')]);
  for (const name of ['keys', 'rules']) {
    mkdirSync(join(open, name));
    writeFileSync(join(open, name, 'one'), '');
    chownSync(join(open, name, 'one'), 65_534, 65_534);
  }
  const all = expect.stringContaining('another user owns format.json, keys/one, rules/one and');
  expect(foreignFiles(open)).toEqual([all]);
  chmodSync(open, 0o777);
  // The user changes after the code was loaded, because that user may not be able to read the code.
  const script = `import('${new URL('../../src/files/data-folder.ts', import.meta.url)}').then(({ takeDataFolder }) => {
      process.setuid(65_534);
      takeDataFolder(process.argv[1]);
    })`;
  const { stderr } = spawnSync(process.execPath, ['-e', script, open], { encoding: 'utf8' });
  expect(stderr).toContain(
    `${join(open, 'lock')} cannot be read and written to (EACCES): it belongs to user 0, and this process runs as user 65534`,
  );
});
