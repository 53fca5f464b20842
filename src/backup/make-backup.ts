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

/** What a backup is made of and how it is checked. */
export interface BackupSources {
  /** Where backups lie, one folder each. */
  readonly dir: string;
  readonly dataDir: string;
  readonly store: Pick<Store, 'copyTo'>;
  readonly ledger: Pick<Ledger, 'copyTo'>;
  /** `verifyCopy`, off the threads that are busy. */
  verify(folder: string, signal: AbortSignal): Promise<Verified>;
  /** age recipients for whom the private keys are encrypted; without any, a backup has no private keys. */
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

export interface Made {
  readonly manifest: Manifest;
  /** SHA-256 of manifest.json, hex. */
  readonly manifestSha256: string;
  readonly path: string;
}

/**
 * Copies the whole data folder while commits and appends go on, checks the copy from the disk, and only then gives it
 * its name. What fails, or is given up by `signal`, leaves nothing behind.
 *
 * The order makes the copy whole: events first, the log after. An outbox row that was settled between the two copies
 * is in the log's, one that wasn't is still in the outbox's; and the journal before the log, so that it tells of no
 * head that the copy doesn't have. The policy before both: a change of it is in the outbox before it takes effect, so
 * that the copy has no policy that its log wouldn't know.
 *
 * Private keys are left out, or encrypted to the operator's recipients: a restored log makes keys of its own.
 *
 * Settings that lie in the data folder come along, secrets among them as they are: the copy is as private as the
 * folder. Files elsewhere that CANDOR_CONFIG or settings name are their operator's to keep.
 *
 * @throws BackupError, or the failure of the disk
 */
export async function makeBackup(
  sources: BackupSources,
  { id, createdAt, actor, signal }: BackupOrder,
): Promise<Made> {
  const { dir, dataDir, store, ledger } = sources;
  const partial = join(dir, await partialName(dataDir, id));
  const path = join(dir, folderName(id, createdAt));
  const copy = (name: string) => copyFile(join(dataDir, name), join(partial, name));
  await checkFolder(dir);
  await makeFolder(dir);
  await requireRoom(dir, dataDir);
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
      throw new BackupError('the copy of the log ends with another head than the log said');
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
    // Before it has its name: what can't be read can't be restored.
    const manifest = parseManifest(text);
    await replaceFile(join(partial, manifestFile), text, { mode: 0o600 });
    // A crash before this is a partial folder, which the next start removes; after it, a backup.
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

/** A backup must not take the room that the service needs to go on: copies are at most as large as what they are of. */
async function requireRoom(dir: string, dataDir: string): Promise<void> {
  const bytes = databaseBytes(dataDir);
  const { bavail, bsize } = await statfs(dir);
  if (bavail * bsize >= bytes + limits.minFreeDiskBytes) return;
  throw new BackupError(
    `the volume of ${dir} has ${bavail * bsize} bytes free; a backup may take ${bytes}, and ` +
      `${limits.minFreeDiskBytes} are left for the service`,
  );
}
