import { rm, stat, statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { SignedTreeHead } from '../contract/resources/transparency.ts';
import { checkFormat } from '../files/data-folder.ts';
import { flushFolder } from '../files/durable-file.ts';
import { checkAnchorFolder } from '../ledger/anchor.ts';
import { knownLife, previousOf } from '../ledger/check/known-life.ts';
import { fromJson, toJson } from '../ledger/heads.ts';
import { KeyRing } from '../ledger/keys/key-ring.ts';
import { openAgent } from '../ledger/keys/open-agent.ts';
import { startLife } from '../ledger/keys/start-life.ts';
import { lifeStartOf } from '../ledger/lives/continue-copy.ts';
import { limits } from '../limits.ts';
import { uuid7 } from '../uuid.ts';
import { BackupError, DamagedBackupError } from './backup-error.ts';
import { copyFile, exists, makeFolder, namesIn } from './files.ts';
import { type Manifest, parseManifest, readManifest } from './manifest.ts';
import { keepPublicHalves } from './private-keys.ts';
import type { RestoreOptions, RestoreStep } from './restore.ts';
import { type RestoreMarker, readMarker, writeMarker } from './restore-marker.ts';
import { verifyCopy } from './verify.ts';

/**
 * Folder in the data folder to which a backup is copied. The copy is verified there before it replaces the
 * content.
 */
export const staging = 'restoring';

/**
 * Names that a restore replaces. The editable policy file is one of them, because it would otherwise be
 * loaded over the policy of the backup. The journal is continued. All other files stay in place: backup
 * folders of any name, files that earlier restores moved aside, the anchor's volume, the operator's own
 * files.
 */
const replacing =
  /^(keys|(siem|ledger)\.mdb([.-].*)?|anchor\.json([.-].*)?|instance\.json|policy(\.in-effect|\.pending)?\.json)$/;

/**
 * Performs every step of a restore that may be refused, before any file is moved: copies the backup into the
 * data folder, verifies the copy, and checks the content to be replaced. The last step writes the marker.
 */
export async function prepareRestore(
  options: RestoreOptions,
  onStep: (step: RestoreStep) => void,
): Promise<RestoreMarker> {
  const { backup, dataDir, anchorPath, replace } = options;
  const manifest = parseManifest(await readManifest(backup));
  await checkAnchorFolder(anchorPath);
  const content = await contentOf(dataDir);
  const anchor = await exists(anchorPath);
  if (!replace) refuseContent(dataDir, content, anchor ? anchorPath : undefined);
  await requireDiskSpace(dataDir, manifest);

  const stage = join(dataDir, staging);
  await rm(stage, { recursive: true, force: true });
  const startedAt = options.now();
  let replaced: SignedTreeHead | undefined;
  try {
    await copyInto(stage, backup, manifest);
    await requireSound(stage, manifest);
    await keepPublicHalves(join(stage, 'keys'));
    replaced = await startNewLife(stage, manifest, startedAt, options);
  } catch (error) {
    await rm(stage, { recursive: true, force: true });
    throw error;
  }
  onStep('staged');

  const elsewhere = anchor && resolve(anchorPath) !== join(resolve(dataDir), 'anchor.json');
  await writeMarker(dataDir, {
    backup_id: manifest.id,
    from: resolve(backup),
    entry_id: uuid7(startedAt),
    started_at: new Date(startedAt).toISOString(),
    aside: `replaced-${new Date(startedAt).toISOString().replaceAll(/[-:.]/g, '')}`,
    names: [...content, ...(elsewhere ? ['anchor-elsewhere.json'] : [])],
    anchor_path: resolve(anchorPath),
    ...(manifest.sth === undefined ? {} : { sth: manifest.sth }),
    ...(replaced === undefined ? {} : { replaced }),
  });
  onStep('marked');
  return (await readMarker(dataDir))!;
}

/**
 * Generates the keys of a new life for the staged log. The private keys of the backup never sign again. Each restored
 * copy of a backup gets different keys, so two copies never sign under the same name.
 *
 * @returns the largest known head of the replaced log; undefined if no head is known
 */
async function startNewLife(
  stage: string,
  { sth }: Manifest,
  nowMs: number,
  { dataDir, anchorPath, keyPassphrase, agent: agentOptions, origin }: RestoreOptions,
): Promise<SignedTreeHead | undefined> {
  const stagedKeys = join(stage, 'keys');
  const found = await knownLife(dataDir, anchorPath, stagedKeys);
  const restored = await knownLife(stage, join(stage, 'anchor.json'));
  const others = await namesIn(join(dataDir, 'keys'));
  const isOtherLog = others.length > 0 && !(await namesIn(stagedKeys)).some((name) => others.includes(name));
  const replaced = isOtherLog ? restored : found;
  const head = replaced.head ?? (sth && fromJson(sth));
  const keys = KeyRing.load(stagedKeys);
  keys.encryptNewKeys(keyPassphrase);
  const agent = await openAgent(dataDir, agentOptions, keys, () => undefined, join(dataDir, 'keys'));
  const previous = previousOf({ head, origin: replaced.origin ?? restored.origin });
  const start = lifeStartOf('restored', { clock: () => BigInt(nowMs) * 1_000_000n }, previous);
  await startLife(keys, { start, origin, fromSize: sth?.tree_size ?? 0 });
  await agent?.close();
  return found.head && toJson(found.head);
}

/** Returns the names in the data folder that a restore replaces. */
async function contentOf(dataDir: string): Promise<string[]> {
  return (await namesIn(dataDir)).filter((name) => replacing.test(name)).sort();
}

function refuseContent(dataDir: string, content: readonly string[], anchor: string | undefined): void {
  if (content.length === 0 && anchor === undefined) return;
  const found =
    content.length > 0 ? `the data folder ${dataDir} has ${content.join(', ')}` : `there is an anchor ${anchor}`;
  throw new BackupError(`${found}; restore into another folder, or use --replace to move it aside`);
}

async function requireDiskSpace(dataDir: string, { size }: Manifest): Promise<void> {
  const { bavail, bsize } = await statfs(dataDir);
  if (bavail * bsize < size + limits.minFreeDiskBytes) {
    throw new BackupError(
      `the volume of ${dataDir} has ${bavail * bsize} bytes free, but the backup needs ${size} and ${limits.minFreeDiskBytes} must stay free`,
    );
  }
}

async function copyInto(stage: string, backup: string, { files }: Manifest): Promise<void> {
  await makeFolder(join(stage, 'keys'));
  for (const { name, size, sha256 } of files) {
    const from = join(backup, name);
    if (!(await exists(from))) throw new DamagedBackupError(`${name} is missing from the backup ${backup}`);
    const stats = await stat(from);
    if (!stats.isFile()) throw new DamagedBackupError(`${name} in the backup is not a file`);
    const found = stats.size;
    if (found !== size)
      throw new DamagedBackupError(`${name} in the backup has ${found} bytes instead of the ${size} in the manifest`);
    if ((await copyFile(from, join(stage, name))).sha256 !== sha256)
      throw new DamagedBackupError(`${name} in the backup is damaged: its SHA-256 differs from the manifest`);
  }
  await flushFolder(join(stage, 'keys'));
  await flushFolder(stage);
}

async function requireSound(stage: string, manifest: Manifest): Promise<void> {
  checkFormat(join(stage, 'format.json'));
  const { sth } = await verifyCopy(stage);
  if (sth?.signature !== manifest.sth?.signature)
    throw new DamagedBackupError('the log in the backup ends with a different head than the manifest');
}
