/**
 * Runs a store on a volume that really fills up: a small volume in memory, mounted only for a child process
 * of the test.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs a shell command with a volume of this many MiB at `$0`, and `more` as `$1` …; returns its output. */
export function inVolume(mib: number, command: string, ...more: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'candor-volume-'));
  try {
    const script = `mount -t tmpfs -o size=${mib}m none "$0" && ${command}`;
    return execFileSync('unshare', ['-rm', 'sh', '-c', script, folder, ...more], { encoding: 'utf8' });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns whether the process may mount volumes. */
export function mayMount(): boolean {
  try {
    inVolume(1, 'true');
    return true;
  } catch {
    return false;
  }
}
