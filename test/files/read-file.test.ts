import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfigFile } from '../../src/config/config-file.ts';
import { readFile, readFileLater } from '../../src/files/read-file.ts';
import { readTlsFiles, readTlsFilesLater } from '../../src/http/tls-files.ts';
import { limits } from '../../src/limits.ts';
import { loadPolicy } from '../../src/witness/policy-file.ts';

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

describe.each([
  ['synchronously', async (path: string, maxBytes: number) => readFile(path, maxBytes)],
  ['in a thread of the pool', readFileLater],
])('a file read %s', (_, read) => {
  const fails = (path: string, maxBytes: number, why: object) =>
    expect(read(path, maxBytes)).rejects.toMatchObject(why);

  test('has at most the maximum number of bytes', async () => {
    expect(Buffer.from((await read(written(10), 10)).bytes).toString()).toBe('x'.repeat(10));
    expect(Buffer.from((await read(written(10), 100)).bytes).toString()).toBe('x'.repeat(10));
    expect((await read(written(0), 10)).bytes).toHaveLength(0);
    await fails(written(11), 10, { problem: 'too_large' });
  });

  test('is not read completely if it is too large', async () => {
    const path = written(1);
    truncateSync(path, 2 ** 40); // a sparse file, larger than the memory
    await fails(path, 10, { problem: 'too_large' });
  });

  test('may be from a file system that reports no size', async () => {
    expect((await read('/proc/self/status', 2 ** 20)).bytes.length).toBeGreaterThan(100);
    await fails('/proc/self/status', 10, { problem: 'too_large' });
  });

  test('fails with the reason if it is missing or cannot be read', async () => {
    await fails(join(folder, 'none'), 10, { problem: 'unreadable', code: 'ENOENT' });
    await fails(join(folder, 'zeros', 'x'), 10, { problem: 'unreadable', code: 'ENOTDIR' });
    for (const name of ['folder', 'pipe', 'zeros']) await fails(join(folder, name), 10, { problem: 'no_file' });
  });
});

describe.each(['folder', 'pipe', 'zeros'])('a %s', (name) => {
  const path = () => join(folder, name);
  test('is refused in every setting that names a file', async () => {
    expect(() => readTlsFiles({ cert: path(), key: path() })).toThrow(/it is not a file/);
    await expect(readTlsFilesLater({ cert: path(), key: path() })).rejects.toThrow(/it is not a file/);
    await expect(loadPolicy(path())).rejects.toThrow(/it is not a file/);
    expect(() => readConfigFile({ path: path(), named: true })).toThrow(/expected a regular file/);
  });
});

test('a witness policy file above the size limit is rejected', async () => {
  const path = written(limits.maxPolicyBytes + 1);
  await expect(loadPolicy(path)).rejects.toThrow(/it has more than 262144 bytes/);
});
