import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfigFile } from '../src/config/config-file.ts';
import { readTlsFiles } from '../src/http/tls-files.ts';
import { limits } from '../src/limits.ts';
import { readFile } from '../src/read-file.ts';
import { loadPolicy } from '../src/witness/policy-file.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'candor-read-'));
  mkdirSync(join(folder, 'folder'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  symlinkSync('/dev/zero', join(folder, 'zeros'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const written = (bytes: number): string => {
  const path = join(folder, `of-${bytes}`);
  writeFileSync(path, Buffer.alloc(bytes, 'x'));
  return path;
};

test('as many bytes as there may be, and none more', () => {
  expect(Buffer.from(readFile(written(10), 10).bytes).toString()).toBe('x'.repeat(10));
  expect(readFile(written(0), 10).bytes).toHaveLength(0);
  expect(() => readFile(written(11), 10)).toThrow(expect.objectContaining({ problem: 'too_large' }));
});

test('a file that claims no size is read as far as it goes', () => {
  expect(readFile('/proc/self/status', 2 ** 20).bytes.length).toBeGreaterThan(100);
  expect(() => readFile('/proc/self/status', 10)).toThrow(expect.objectContaining({ problem: 'too_large' }));
});

test('what is not there or may not be read says why', () => {
  expect(() => readFile(join(folder, 'none'), 10)).toThrow(
    expect.objectContaining({ problem: 'unreadable', code: 'ENOENT' }),
  );
  expect(() => readFile(join(folder, 'zeros', 'x'), 10)).toThrow(
    expect.objectContaining({ problem: 'unreadable', code: 'ENOTDIR' }),
  );
});

describe.each(['folder', 'pipe', 'zeros'])('a %s', (name) => {
  const path = () => join(folder, name);
  test('is no file', () =>
    expect(() => readFile(path(), 10)).toThrow(expect.objectContaining({ problem: 'no_file' })));

  test('is refused wherever a setting names it', () => {
    expect(() => readTlsFiles({ cert: path(), key: path() })).toThrow(/it is not a file/);
    expect(() => loadPolicy(path())).toThrow(/it is not a file/);
    expect(() => readConfigFile({ path: path(), named: true })).toThrow(/wanted a regular file/);
  });
});

test('a file of witnesses that is too large is not read whole', () => {
  expect(() => loadPolicy(written(limits.maxPolicyBytes + 1))).toThrow(/it has more than 262144 bytes/);
});
