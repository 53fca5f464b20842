import { readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { backupRestored, entryOf } from '../contract/critical-events.ts';
import type { SignedTreeHead } from '../contract/resources/transparency.ts';
import { omitUndefined } from '../database/omit-undefined.ts';
import { restoreMark, takeDataFolder } from '../files/data-folder.ts';
import { flushFolder } from '../files/durable-file.ts';
import { datedForAppend } from '../ledger/entry-window.ts';
import type { AgentOptions } from '../ledger/keys/agent-keys.ts';
import type { Appended } from '../ledger/ledger.ts';
import { recordInstance } from '../ledger/lives/instance.ts';
import { openLedger } from '../ledger/open.ts';
import { readLogPositions } from '../store/log-positions.ts';
import { BackupError } from './backup-error.ts';
import { carryKeys } from './carry-keys.ts';
import { copyFile, exists, makeFolder } from './files.ts';
import { settingsFile } from './manifest.ts';
import { prepareRestore, staging } from './prepare-restore.ts';
import { openPrivateKeys, writePrivateKeys } from './private-keys.ts';
import { type RestoreMarker, readMarker } from './restore-marker.ts';

/** Steps of a restore, in order. A crash leaves the state of the last completed step. */
export type RestoreStep =
  | 'staged'
  | 'marked'
  | 'moved-aside'
  | 'moved-in'
  | 'keys-carried'
  | 'logged'
  | 'settings-in'
  | 'unmarked';

export interface RestoreOptions {
  /** Folder of the backup. It is not modified. */
  readonly backup: string;
  readonly dataDir: string;
  readonly anchorPath: string;
  /** Whether an existing log and events in the data folder may be moved aside. */
  readonly replace: boolean;
  /** The passphrase that encrypts new private keys. */
  readonly keyPassphrase?: string;
  /**
   * File of age identities. If given, the private keys of the backup are decrypted into a separate folder,
   * and are never used.
   */
  readonly identityFile?: string;
  /** The ssh-agent that holds the keys of the restored log, if they are not in files. */
  readonly agent?: AgentOptions;
  /** Configured origin of the log, without the suffix for its life. */
  readonly origin?: string;
  /** Returns the time in epoch milliseconds. */
  now(): number;
  /** Called when a step is complete and on disk. */
  onStep?(step: RestoreStep): void;
}

export interface Restored {
  readonly backupId: string;
  /** The last head of the restored log; absent if the log is empty. */
  readonly sth?: SignedTreeHead;
  /** The largest known head of the replaced log. */
  readonly replaced?: SignedTreeHead;
  /** Folder with the replaced content; absent if nothing was replaced. */
  readonly aside?: string;
  /** Folder with the private keys of the backup; absent without `identityFile`. */
  readonly privateKeys?: string;
  /**
   * Which settings are in use: `restored` means the settings of the backup, and `kept` means existing
   * settings. Absent if the backup has no settings.
   */
  readonly settings?: 'restored' | 'kept';
  /** Position of the log entry that records the restore. */
  readonly entry: Appended;
  /** Whether this run completed an interrupted restore. */
  readonly resumed: boolean;
}

/**
 * Replaces the content of the data folder with a backup. The log continues as a new life, with new keys and a
 * new origin; its first new entries are `log.life_started` and `backup.restored`.
 *
 * No file is moved before the backup has been copied into the data folder and verified there. Then the marker
 * is written, and no service starts until the marker is removed. After a crash, the same command continues from
 * the marker. Replaced content is moved aside, never deleted. The journal is continued. Existing settings are
 * kept, because they describe this host; otherwise the settings of the backup are moved in last, so that no
 * part of a restore runs with them.
 *
 * @throws BackupError, or Error if another process holds the lock on the data folder
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { dataDir, onStep = () => undefined } = options;
  const folder = takeDataFolder(dataDir, { restoring: true });
  try {
    const begun = await readMarker(dataDir);
    if (begun !== undefined) await requireSame(begun, options.backup);
    const { backup, identityFile } = options;
    const opened = identityFile === undefined ? undefined : await openPrivateKeys(backup, identityFile);
    const marker = begun ?? (await prepareRestore(options, onStep));
    await moveAside(dataDir, marker);
    onStep('moved-aside');
    await moveIn(dataDir);
    onStep('moved-in');
    await carryKeys(join(dataDir, marker.aside, 'keys'), join(dataDir, 'keys'), marker);
    onStep('keys-carried');
    const entry = await logRestore(options, marker);
    onStep('logged');
    const privateKeys = opened && join(dataDir, `private-keys-of-${marker.backup_id}`);
    if (privateKeys !== undefined) await writePrivateKeys(privateKeys, opened!);
    const settings = await takeSettings(dataDir);
    onStep('settings-in');
    await rm(join(dataDir, staging), { recursive: true, force: true });
    await rm(join(dataDir, restoreMark));
    await flushFolder(dataDir);
    onStep('unmarked');
    return {
      ...resultOf(dataDir, marker, entry, settings, begun !== undefined),
      ...(privateKeys === undefined ? {} : { privateKeys }),
    };
  } finally {
    folder.release();
  }
}

/** Throws if the backup differs from the one whose restore was interrupted. */
async function requireSame(marker: RestoreMarker, backup: string): Promise<void> {
  if (resolve(backup) === marker.from) return;
  throw new BackupError(
    `a restore of ${marker.from} was interrupted; complete it first: run \`candor restore ${marker.from}\` again`,
  );
}

/**
 * Moves old files aside. New files are moved in only after all old files were moved aside. A file that exists both in
 * the data folder and aside was therefore created in the data folder later, and stays there. A crash between two
 * renames leaves some files aside, and the marker.
 */
async function moveAside(dataDir: string, marker: RestoreMarker): Promise<void> {
  const aside = join(dataDir, marker.aside);
  if (marker.names.length > 0) await makeFolder(aside);
  for (const name of marker.names) {
    if (!(await exists(join(dataDir, name))) || (await exists(join(aside, name)))) continue;
    await rename(join(dataDir, name), join(aside, name));
  }
  await moveAnchorAside(dataDir, marker);
  if (marker.names.length > 0) await flushFolder(aside);
  await flushFolder(dataDir);
}

/**
 * Moves the anchor aside. An anchor on another volume cannot be renamed across volumes, so it is copied and
 * flushed, then removed.
 */
async function moveAnchorAside(dataDir: string, { anchor_path, aside, names }: RestoreMarker): Promise<void> {
  const name = 'anchor-elsewhere.json';
  const target = join(dataDir, aside);
  if (resolve(anchor_path) === join(resolve(dataDir), 'anchor.json') || !names.includes(name)) return;
  const here = await readFile(anchor_path, 'utf8').catch(() => undefined);
  const kept = await readFile(join(target, name), 'utf8').catch(() => undefined);
  if (here === undefined || (kept !== undefined && kept !== here)) return;
  if (kept === undefined) {
    await rm(join(target, `${name}.new`), { force: true });
    await copyFile(anchor_path, join(target, `${name}.new`));
    await rename(join(target, `${name}.new`), join(target, name));
    await flushFolder(target);
  }
  await rm(anchor_path);
}

/**
 * Moves the new files in. Files already moved in are no longer in `restoring/`. An existing journal is continued
 * instead of replaced.
 */
async function moveIn(dataDir: string): Promise<void> {
  const from = join(dataDir, staging);
  for (const name of ['siem.mdb', 'ledger.mdb', 'keys', 'format.json', 'policy.in-effect.json', 'journal.ndjson']) {
    if (!(await exists(join(from, name)))) continue;
    if (name === 'journal.ndjson' && (await exists(join(dataDir, name)))) continue;
    await rename(join(from, name), join(dataDir, name));
  }
  await flushFolder(dataDir);
}

/**
 * Opens the restored log with the checks of a normal start, so that a log that would fail them is not
 * restored, and logs the restore.
 */
async function logRestore(options: RestoreOptions, marker: RestoreMarker): Promise<Appended> {
  const { dataDir, keyPassphrase, agent, origin } = options;
  const { backup_id, sth, replaced, entry_id, started_at, anchor_path } = marker;
  await recordInstance(dataDir); // a backup lacks instance.json, but its log may record that the file exists
  const ledger = await openLedger({
    dataDir,
    anchorPath: anchor_path,
    acceptClock: true, // the last head may be as old as the backup, so the log would refuse the clock
    ...omitUndefined({ keyPassphrase, agent, origin }),
    logPositions: () => readLogPositions(dataDir),
  });
  try {
    const { health } = await ledger.status();
    if (health.state === 'degraded') throw new BackupError(`the restored log failed verification: ${health.advice}`);
    const event = backupRestored({ backup_id, sth, replaced }, 'system');
    const restored = entryOf(event, entry_id, Date.parse(started_at));
    const [entry] = await ledger.append([datedForAppend(restored, Date.now())]);
    return entry!;
  } finally {
    await ledger.close();
  }
}

async function takeSettings(dataDir: string): Promise<Restored['settings']> {
  const [from, to] = [join(dataDir, staging, settingsFile), join(dataDir, settingsFile)];
  if (!(await exists(from))) return undefined;
  if (await exists(to)) return 'kept';
  await rename(from, to);
  await flushFolder(dataDir);
  return 'restored';
}

function resultOf(
  dataDir: string,
  marker: RestoreMarker,
  entry: Appended,
  settings: Restored['settings'],
  resumed: boolean,
): Restored {
  const { backup_id, sth, replaced, aside, names } = marker;
  return {
    backupId: backup_id,
    ...omitUndefined({ sth, replaced, settings }),
    ...(names.length === 0 ? {} : { aside: join(dataDir, aside) }),
    entry,
    resumed,
  };
}
