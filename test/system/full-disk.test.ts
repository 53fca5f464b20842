/**
 * A log whose volume really fills up: a small volume in memory, mounted only for a child process of the test.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { limits } from '../../src/limits.ts';

const mount = 'mount -t tmpfs -o size=24m none "$0"';

function mayMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'candor-volume-'));
  try {
    execFileSync('unshare', ['-rm', 'sh', '-c', mount, folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe.skipIf(!mayMount())('a full disk', () => {
  test('makes the log refuse entries early, or stop if a write fails; with free space again, all acknowledged entries are present', () => {
    const folder = mkdtempSync(join(tmpdir(), 'candor-volume-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const child = new URL('../ledger/full-disk-child.ts', import.meta.url).pathname;
    const command = `${mount} && exec "$1" "$2" "$0"`;
    const output = execFileSync('unshare', ['-rm', 'sh', '-c', command, folder, process.execPath, child]);
    const [refused, broken, after] = output
      .toString('utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));

    expect(refused).toMatchObject({
      what: 'refused',
      seen: { code: 'UNAVAILABLE', details: { reason: 'disk_full' } },
      fatal: [],
    });
    expect(refused.logged).toBeGreaterThan(10);
    expect(refused.seen.free).toBeLessThan(limits.minFreeLedgerDiskBytes + 2 ** 20);
    expect(refused.seen.free).toBeGreaterThan(limits.minFreeLedgerDiskBytes - 2 ** 20);

    expect(broken).toMatchObject({ what: 'broken', seen: { code: 'WORKER_LOST' } });
    expect(broken.fatal).toHaveLength(1);

    const { logged } = broken;
    expect(after).toMatchObject({
      seen: { health: { state: 'ok' }, size: logged },
      logged: logged + 1,
      fatal: [],
    });
  });
});
