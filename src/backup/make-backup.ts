import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { rename, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkFolder } from '../files/check-folder.ts';
import { flushFolder, replaceFile } from '../files/durable-file.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { limits } from '../limits.ts';
import type { Store } from '../store/store.ts';
import { BackupError } from './backup-error.ts';
import { copyFile, exists, makeFolder } from './files.ts';
import { folderName, partialName } from './folders.ts';
import { type Manifest, manifestFile, parseManifest, settingsFile, writeManifest } from './manifest.ts';
import { privateKeysFile, sealPrivateKeys } from './private-keys.ts';
import type { Verified } from './verify.ts';

/** Sources of a backup, and the function that verifies it. */
export interface BackupSources {
  /** Folder of the backups, each of which has a subfolder. */
  readonly dir: string;
  readonly dataDir: string;
  readonly store: Pick<Store, 'copyTo'>;
  readonly ledger: Pick<Ledger, 'copyTo'>;
  /** Runs `verifyCopy` outside the threads that serve requests. */
  verify(folder: string, signal: AbortSignal): Promise<Verified>;
  /** age recipients to whom the private keys are encrypted; without recipients, a backup has no private keys. */
  readonly recipients?: readonly string[];
  readonly productVersion: string;
  /** Returns the time in epoch milliseconds. */
  now(): number;
}

export interface BackupOrder {
  readonly id: string;
  /** When the backup is created, epoch milliseconds. */
  readonly createdAt: number;
  /** The id of a principal, or `system`. */
  readonly actor: string;
  readonly signal: AbortSignal;
}

export interface CompletedBackup {
  readonly manifest: Manifest;
  /** SHA-256 of manifest.json, hex. */
  readonly manifestSha256: string;
  readonly path: string;
}

/**
 * Copies the data folder while commits and appends continue, verifies the copy as read from disk, and then
 * renames the copy to its final name. A failed or cancelled backup leaves no files.
 *
 * The order of the copies keeps them consistent. Events are copied before the log: an outbox row that was settled
 * between the two copies is in the copied log, and any other row is still in the copied outbox. The journal is copied
 * before the log, so that the copied log has every head in the copied journal.
 *
 * Private keys are omitted, or encrypted to the operator's recipients: a restored log generates its own keys.
 *
 * Settings in the data folder are copied with their secrets, so the copy is as confidential as the folder.
 * Files elsewhere that CANDOR_CONFIG or settings refer to are not included.
 *
 * @throws BackupError, or the error of the file system
 */
export async function makeBackup(
  sources: BackupSources,
  { id, createdAt, actor, signal }: BackupOrder,
): Promise<CompletedBackup> {
  const { dir, dataDir, store, ledger } = sources;
  const partial = join(dir, await partialName(dataDir, id));
  const path = join(dir, folderName(id, createdAt));
  const copy = (name: string) => copyFile(join(dataDir, name), join(partial, name));
  await checkFolder(dir);
  await makeFolder(dir);
  await requireDiskSpace(dir, dataDir);
  try {
    await makeFolder(partial);
    if (await exists(join(dataDir, settingsFile))) await copy(settingsFile);
    await store.copyTo(partial);
    signal.throwIfAborted();
    if (await exists(join(dataDir, 'journal.ndjson'))) await copy('journal.ndjson');
    const log = await ledger.copyTo(partial);
    signal.throwIfAborted();
    const sealed = await sealPrivateKeys(join(dataDir, 'keys'), sources.recipients ?? []);
    if (sealed !== undefined)
      await writeFile(join(partial, privateKeysFile), sealed, { mode: 0o600, flag: 'wx', flush: true });
    await copy('format.json');
    const verified = await sources.verify(partial, signal);
    if (verified.sth?.signature !== log.head?.signature) {
      throw new BackupError('the copied log ends with a different head than the log reported');
    }
    const text = writeManifest({
      id,
      created_at: new Date(createdAt).toISOString(),
      finished_at: new Date(sources.now()).toISOString(),
      actor,
      product_version: sources.productVersion,
      private_keys: sealed === undefined ? 'none' : 'encrypted',
      size: verified.files.reduce((sum, { size }) => sum + size, 0),
      ...verified,
      files: [...verified.files],
    });
    // The manifest is checked before the rename, because a backup whose manifest cannot be parsed cannot be
    // restored.
    const manifest = parseManifest(text);
    await replaceFile(join(partial, manifestFile), text, { mode: 0o600 });
    // A crash before the rename leaves a partial folder, which the next start removes; a crash after the
    // rename leaves a complete backup.
    await rename(partial, path);
    await flushFolder(dir);
    return { manifest, manifestSha256: sha256(text), path };
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw signal.aborted ? signal.reason : error;
  }
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Returns the approximate size of the files that a backup copies. */
export function databaseBytes(dataDir: string): number {
  const sizes = ['siem.mdb', 'ledger.mdb'].map(
    (name) => statSync(join(dataDir, name), { throwIfNoEntry: false })?.size ?? 0,
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/**
 * Throws if the volume does not have enough space for the copy and the service. A copy is at most as large as
 * its source.
 */
async function requireDiskSpace(dir: string, dataDir: string): Promise<void> {
  const bytes = databaseBytes(dataDir);
  const { bavail, bsize } = await statfs(dir);
  if (bavail * bsize >= bytes + limits.minFreeDiskBytes) return;
  throw new BackupError(
    `the volume of ${dir} has ${bavail * bsize} bytes free, but a backup may take ${bytes} and ` +
      `${limits.minFreeDiskBytes} are reserved for the service; free some space`,
  );
}
