/** A store whose volume fills up, for real: a small one in memory, mounted where only a child of the test sees it. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const mount = 'mount -t tmpfs -o size=16m none "$0"';

function inVolume(command: string, ...more: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'candor-volume-'));
  try {
    const script = `${mount} && ${command}`;
    return execFileSync('unshare', ['-rm', 'sh', '-c', script, folder, ...more], { encoding: 'utf8' });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function mayMount(): boolean {
  try {
    inVolume('true');
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(!mayMount())('a full disk', () => {
  test('takes nothing of the inventory away that belongs to a stored event, and adds nothing', () => {
    const child = new URL('full-disk-child.ts', import.meta.url).pathname;
    const output = inVolume('exec "$1" "$2" "$0"', process.execPath, child);
    const told = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(told).toMatchObject([
      { what: 'room again', right: true },
      { what: 'reported again', right: true, refused: 0 },
      { what: 'opened again', right: true },
    ]);
    expect(told[0].refused).toBeGreaterThan(0);
    expect(told[2].events).toBeGreaterThan(5000);
    expect(told[2].services).toBe(told[1].services);
  });
});
