import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type RestoreOptions, restoreBackup } from '../../src/backup/restore.ts';
import { type Parts, type PartsOptions, startParts } from './parts.ts';

export type { Parts };

export function newFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'candor-backup-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Opens the parts of a data folder, which are closed when the test ends. */
export async function openParts(dataDir: string, options: PartsOptions = {}): Promise<Parts> {
  const parts = await startParts(dataDir, options);
  onTestFinished(parts.close);
  return parts;
}

/** Makes a backup and waits until it has ended. */
export async function backUp({ backups }: Pick<Parts, 'backups'>) {
  const { id } = await backups.begin('system');
  return backups.ended(id);
}

export function restore(backup: string, dataDir: string, more: Partial<RestoreOptions> = {}) {
  return restoreBackup({
    backup,
    dataDir,
    anchorPath: join(dataDir, 'anchor.json'),
    replace: false,
    now: Date.now,
    ...more,
  });
}
