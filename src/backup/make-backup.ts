import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { rename, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkFolder } from '../check-folder.ts';
import { flushFolder, replaceFile } from '../durable-file.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { limits } from '../limits.ts';
import type { Store } from '../store/store.ts';
import { BackupError } from './backup-error.ts';
import { copyFile, exists, makeFolder } from './files.ts';
import { folderName, partialName } from './folders.ts';
import {
  type Manifest,
  manifestFile,
  parseManifest,
  policyFile,
  settingsFile,
  writeManifest,
} from './manifest.ts';
import { privateKeysFile, sealPrivateKeys } from './private-keys.ts';
import type { Verified } from './verify.ts';

/** Sources of a backup, and the function that verifies it. */
export interface BackupSources {
  /** Folder of the backups; each has a subfolder. */
  readonly dir: string;
  readonly dataDir: string;
  readonly store: Pick<Store, 'copyTo'>;
  readonly ledger: Pick<Ledger, 'copyTo'>;
  /** `verifyCopy`, run off the busy threads. */
  verify(folder: string, signal: AbortSignal): Promise<Verified>;
  /** age recipients to encrypt the private keys to; without recipients, a backup has no private keys. */
  readonly recipients?: readonly string[];
  readonly productVersion: string;
  /** Epoch milliseconds. */
  now(): number;
}

export interface BackupOrder {
  readonly id: string;
  /** Epoch milliseconds. */
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
 * Copies the data folder while commits and appends continue, verifies the copy as read from disk, and only
 * then renames it to its final name. A failed or cancelled backup leaves no files.
 *
 * The order of the copies keeps them consistent. Events are copied before the log: an outbox row that was
 * settled between the two copies is in the copied log, and any other row is still in the copied outbox. The
 * journal is copied before the log, so that it names no head that the copied log lacks. The policy comes
 * before both: a policy change is in the outbox before it takes effect, so the copied log or outbox has every
 * change of the copied policy.
 *
 * Private keys are left out, or encrypted to the operator's recipients: a restored log generates its own
 * keys.
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
    for (const name of [settingsFile, policyFile]) if (await exists(join(dataDir, name))) await copy(name);
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
    // Checked before the rename: a manifest that can't be parsed can't be restored.
    const manifest = parseManifest(text);
    await replaceFile(join(partial, manifestFile), text, { mode: 0o600 });
    // A crash before the rename leaves a partial folder, which the next start removes; a crash after it, a
    // backup.
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

/** Approximate size of the files that a backup copies. */
export function databaseBytes(dataDir: string): number {
  const sizes = ['siem.mdb', 'ledger.mdb'].map(
    (name) => statSync(join(dataDir, name), { throwIfNoEntry: false })?.size ?? 0,
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Reserves disk space for the service. A copy is at most as large as its source. */
async function requireDiskSpace(dir: string, dataDir: string): Promise<void> {
  const bytes = databaseBytes(dataDir);
  const { bavail, bsize } = await statfs(dir);
  if (bavail * bsize >= bytes + limits.minFreeDiskBytes) return;
  throw new BackupError(
    `the volume of ${dir} has ${bavail * bsize} bytes free, but a backup may take ${bytes} and ` +
      `${limits.minFreeDiskBytes} are reserved for the service; free some space`,
  );
}
