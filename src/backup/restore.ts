import { readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { backupRestored, entryOf } from '../contract/critical-events.ts';
import type { SignedTreeHead } from '../contract/resources/transparency.ts';
import { restoreMark, takeDataFolder } from '../data-folder.ts';
import { flushFolder } from '../durable-file.ts';
import { datedForAppend } from '../ledger/entry-window.ts';
import type { AgentOptions } from '../ledger/keys/agent-keys.ts';
import type { Appended } from '../ledger/ledger.ts';
import { recordInstance } from '../ledger/lives/instance.ts';
import { openLedger } from '../ledger/open.ts';
import { readNotedPlaces } from '../store/lmdb/noted-places.ts';
import { BackupError } from './backup-error.ts';
import { carryKeys } from './carry-keys.ts';
import { copyFile, exists, makeFolder } from './files.ts';
import { policyFile, settingsFile } from './manifest.ts';
import { type Mark, readMark } from './mark.ts';
import { prepareRestore, staging } from './prepare-restore.ts';
import { openPrivateKeys, writePrivateKeys } from './private-keys.ts';

/** The places where a crash leaves something different behind, in order. */
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
  /** Folder of the backup. It is only read. */
  readonly backup: string;
  readonly dataDir: string;
  readonly anchorPath: string;
  /** Whether a log and events that are in the data folder may be moved aside. */
  readonly replace: boolean;
  /** New private keys are encrypted under it. */
  readonly keyPassphrase?: string;
  /** File of age identities: the private keys of the backup are put into a folder aside, and never used. */
  readonly identityFile?: string;
  /** Holds the keys of the restored log, where they are not files. */
  readonly agent?: AgentOptions;
  /** Configured origin of the log, without the suffix of its life. */
  readonly origin?: string;
  /** Epoch milliseconds. */
  now(): number;
  /** Called when a step is done and on disk. */
  onStep?(step: RestoreStep): void;
}

export interface Restored {
  readonly backupId: string;
  /** Head with which the restored log ended; absent for an empty one. */
  readonly sth?: SignedTreeHead;
  /** The largest head known of the log that was replaced. */
  readonly replaced?: SignedTreeHead;
  /** Where the content that was there lies now; absent where there was none. */
  readonly aside?: string;
  /** Where the private keys of the backup lie; absent without `identityFile`. */
  readonly privateKeys?: string;
  /** Whether settings came with the backup; `kept`: some did, and those that were there stay. */
  readonly settings?: 'restored' | 'kept';
  /** Where the log tells of it. */
  readonly entry: Appended;
  /** Whether an earlier run had begun it. */
  readonly resumed: boolean;
}

/**
 * Puts a backup in the place of what is in the data folder. The log continues as a new life, with new keys and a new
 * origin; its first new entries are `log.life_started` and `backup.restored`.
 *
 * Nothing moves before the backup has been copied beside it and verified there. Then a mark is set, and until it is
 * gone no service starts: after a crash in between, the same command goes on where it was. What it replaces is moved
 * aside, never deleted. The journal stays and goes on. So do settings, which say what
 * this place is like; where there are none, those of the backup come in, last, so that no part of a restore runs with
 * them.
 *
 * @throws BackupError; Error when another process has the folder
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { dataDir, onStep = () => undefined } = options;
  const folder = takeDataFolder(dataDir, { restoring: true });
  try {
    const begun = await readMark(dataDir);
    if (begun !== undefined) await requireSame(begun, options.backup);
    const { backup, identityFile } = options;
    const opened = identityFile === undefined ? undefined : await openPrivateKeys(backup, identityFile);
    const mark = begun ?? (await prepareRestore(options, onStep));
    await moveAside(dataDir, mark);
    onStep('moved-aside');
    await moveIn(dataDir);
    onStep('moved-in');
    await carryKeys(join(dataDir, mark.aside, 'keys'), join(dataDir, 'keys'), mark);
    onStep('keys-carried');
    const entry = await logRestore(options, mark);
    onStep('logged');
    const privateKeys = opened && join(dataDir, `private-keys-of-${mark.backup_id}`);
    if (privateKeys !== undefined) await writePrivateKeys(privateKeys, opened!);
    const settings = await takeSettings(dataDir);
    onStep('settings-in');
    await rm(join(dataDir, staging), { recursive: true, force: true });
    await rm(join(dataDir, restoreMark));
    await flushFolder(dataDir);
    onStep('unmarked');
    return {
      ...resultOf(dataDir, mark, entry, settings, begun !== undefined),
      ...(privateKeys === undefined ? {} : { privateKeys }),
    };
  } finally {
    folder.release();
  }
}

/** Another backup than the one that is half in place can't be mixed in. */
async function requireSame(mark: Mark, backup: string): Promise<void> {
  if (resolve(backup) === mark.from) return;
  throw new BackupError(
    `a restore of ${mark.from} was interrupted; complete it first: run \`candor restore ${mark.from}\` again`,
  );
}

/**
 * What is both here and aside has come in since: nothing comes in before everything is aside. A crash between any two
 * renames leaves a folder that has lost some of its files to `aside`, and the mark.
 */
async function moveAside(dataDir: string, mark: Mark): Promise<void> {
  const aside = join(dataDir, mark.aside);
  if (mark.names.length > 0) await makeFolder(aside);
  for (const name of mark.names) {
    if (!(await exists(join(dataDir, name))) || (await exists(join(aside, name)))) continue;
    await rename(join(dataDir, name), join(aside, name));
  }
  await moveAnchorAside(dataDir, mark);
  if (mark.names.length > 0) await flushFolder(aside);
  await flushFolder(dataDir);
}

/** An anchor on another volume can't be renamed into this one: copied, flushed, then removed there. */
async function moveAnchorAside(dataDir: string, { anchor_path, aside, names }: Mark): Promise<void> {
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

/** What has gone in is no longer in `restoring/`. The old journal goes on where there is one. */
async function moveIn(dataDir: string): Promise<void> {
  const from = join(dataDir, staging);
  for (const name of ['siem.mdb', 'ledger.mdb', 'keys', 'format.json', policyFile, 'journal.ndjson']) {
    if (!(await exists(join(from, name)))) continue;
    if (name === 'journal.ndjson' && (await exists(join(dataDir, name)))) continue;
    await rename(join(from, name), join(dataDir, name));
  }
  await flushFolder(dataDir);
}

/** Opened as any start opens it; what start-up doesn't trust is not restored. */
async function logRestore(options: RestoreOptions, mark: Mark): Promise<Appended> {
  const { dataDir, keyPassphrase, agent, origin } = options;
  const { backup_id, sth, replaced, entry_id, started_at, anchor_path } = mark;
  await recordInstance(dataDir); // the backup has none, and its log may record that there was one
  const ledger = await openLedger({
    dataDir,
    anchorPath: anchor_path,
    acceptClock: true, // the log is as old as the backup
    ...(keyPassphrase === undefined ? {} : { keyPassphrase }),
    ...(agent === undefined ? {} : { agent }),
    ...(origin === undefined ? {} : { origin }),
    notedPlaces: () => readNotedPlaces(dataDir),
  });
  try {
    const { health } = await ledger.status();
    if (health.state === 'degraded') throw new BackupError(`the restored log is not sound: ${health.advice}`);
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
  mark: Mark,
  entry: Appended,
  settings: Restored['settings'],
  resumed: boolean,
): Restored {
  const { backup_id, sth, replaced, aside, names } = mark;
  return {
    backupId: backup_id,
    ...(sth === undefined ? {} : { sth }),
    ...(replaced === undefined ? {} : { replaced }),
    ...(names.length === 0 ? {} : { aside: join(dataDir, aside) }),
    ...(settings === undefined ? {} : { settings }),
    entry,
    resumed,
  };
}
