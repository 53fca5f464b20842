/** A settings file on volumes that reject writes, mounted for a child of the test only. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const child = new URL('change-child.ts', import.meta.url).pathname;
const file = 'mount -t tmpfs -o size=8k none "$0" && echo "port: 9000" > "$0/candor.yaml"';

function inNamespace(commands: string): unknown {
  const folder = mkdtempSync(join(tmpdir(), 'candor-volume-'));
  const script = `${file} && ${commands} && exec "$1" "$2" "$0"`;
  try {
    const output = execFileSync('unshare', ['-rm', 'sh', '-c', script, folder, process.execPath, child], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return JSON.parse(output.toString('utf8'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function mayMount(): boolean {
  try {
    inNamespace('true');
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(!mayMount())('changes of settings in the file named by CANDOR_CONFIG', () => {
  test.each([
    ['are stored on a volume with room', 'true', 'stored', 'port: 9001\n'],
    ['cause CONFLICT on a read-only file system', 'mount -o remount,ro "$0"', 'CONFLICT', 'port: 9000\n'],
    [
      'cause CONFLICT if the file is mounted separately',
      'mount --bind "$0/candor.yaml" "$0/candor.yaml"',
      'CONFLICT',
      'port: 9000\n',
    ],
    ['cause UNAVAILABLE on a full disk', 'head -c 4096 /dev/zero > "$0/full"', 'UNAVAILABLE', 'port: 9000\n'],
  ])('%s', (_, commands, outcome, text) => {
    expect(inNamespace(commands)).toEqual({ outcome, text });
  });
});
