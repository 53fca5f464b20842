import { randomUUID } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { open, readFile, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { flushFolder } from '../../files/durable-file.ts';
import { copied, instanceUnreadable } from '../distrust.ts';

export const instanceFile = 'instance.json';

/** Pause that is longer than the clock resolution of any file system, in milliseconds. */
const clockStepMs = 20;

interface Instance {
  readonly format: 1;
  /** A random id of this folder. */
  readonly instance: string;
  /** Inode of this file, in decimal digits. A copy has a different inode. */
  readonly inode: string;
  /** Birth time of this file, in whole milliseconds; absent on file systems that do not record it. */
  readonly birthtime_ms?: number;
}

/**
 * Checks that the data folder is not a copy. `instance.json` records its own inode and birth time, which survive a
 * rename, a bind mount and a new container, but differ in a copy of the file. A block-level clone of the volume has the
 * same inode and birth time and is not detected.
 *
 * @param wasWritten - returns whether the log records that the file was written; folders of earlier versions get the
 * file at their next start
 * @returns whether the file exists
 * @throws UntrustedLogError `copied`
 */
export async function checkInstance(dataDir: string, wasWritten: () => boolean): Promise<boolean> {
  const path = join(dataDir, instanceFile);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && !wasWritten()) return false;
    throw instanceUnreadable(path, (error as Error).message);
  }
  const recorded = parse(text);
  if (recorded === undefined) throw instanceUnreadable(path, 'it is not the file that this program wrote');
  const found = await stat(path, { bigint: true });
  const moved = recorded.inode !== String(found.ino);
  const reborn =
    recorded.birthtime_ms !== undefined &&
    isRecorded(found) &&
    recorded.birthtime_ms !== Number(found.birthtimeNs / 1_000_000n);
  if (moved || reborn) throw copied(dataDir);
  return true;
}

/** Records the current location of the folder: writes and flushes a new `instance.json`. */
export async function recordInstance(dataDir: string): Promise<void> {
  const path = join(dataDir, instanceFile);
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    // If birth times are not recorded, systems report the time of the last change instead, which is not constant.
    await sleep(clockStepMs);
    await file.chmod(0o600);
    const made = await file.stat({ bigint: true });
    const instance: Instance = {
      format: 1,
      instance: randomUUID(),
      inode: String(made.ino),
      ...(isRecorded(made) ? { birthtime_ms: Number(made.birthtimeNs / 1_000_000n) } : {}),
    };
    await file.writeFile(`${JSON.stringify(instance)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
  await flushFolder(dirname(path));
}

/** Returns whether the system records birth times. Otherwise it reports 0 or the time of the last change. */
function isRecorded({ birthtimeNs, ctimeNs }: BigIntStats): boolean {
  return birthtimeNs > 0n && birthtimeNs !== ctimeNs;
}

function parse(text: string): Instance | undefined {
  try {
    const { format, instance, inode, birthtime_ms } = JSON.parse(text) as Partial<Instance>;
    const isTime = birthtime_ms === undefined || Number.isSafeInteger(birthtime_ms);
    const isWhole = format === 1 && typeof instance === 'string' && /^\d+$/.test(String(inode)) && isTime;
    return isWhole ? (JSON.parse(text) as Instance) : undefined;
  } catch {
    return undefined;
  }
}
