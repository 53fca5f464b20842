import { existsSync, statSync } from 'node:fs';
import { copyFile, mkdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { caught } from '../../errors.ts';
import { flushFolder } from '../../files/durable-file.ts';
import { readAnchor } from '../anchor.ts';
import type { LedgerOptions } from '../durable-ledger.ts';
import { fromJson, milliseconds } from '../heads.ts';
import { KeyRing } from '../keys/key-ring.ts';
import { openAgent } from '../keys/open-agent.ts';
import { startLife } from '../keys/start-life.ts';
import { lifeStartOf, openAndClose } from '../lives/continue-copy.ts';
import { recordInstance } from '../lives/instance.ts';
import type { SignedHead } from '../storage/storage.ts';
import { DatabaseFile, NotADatabase } from './database-file.ts';
import { type KnownLife, knownLife, previousOf } from './known-life.ts';

export interface NewLog {
  /** Folder that now holds the remains of the old log. */
  readonly kept: string;
  readonly moved: readonly string[];
  /** The largest known head of the old log. */
  readonly replaced: SignedHead | undefined;
}

/** Thrown if the folder still has a log. The message names the alternative. */
export class LogThereError extends Error {
  override readonly name = 'LogThereError';
}

/**
 * Begins a new log in place of a lost one, at the operator's command. The remains of the old log (anchor, journal,
 * keys, an unusable file) are moved aside and never deleted; the events stay. The new log has new keys, because heads
 * of two logs signed by one key would be a fork. The old public keys are not published, because they signed nothing in
 * the new log; holders of old proofs have the old keys. The first entry of the new log begins a life of the log and
 * names the last known head of the old log.
 *
 * If the command crashes before the new keys exist, the folder has no log, and the next run of the command continues.
 * After a later crash, the next start of the service begins the log.
 *
 * @throws LogThereError if ledger.mdb has heads or cannot be read, unless `evenIfThere`
 */
export async function beginNewLog(options: LedgerOptions & { readonly evenIfThere?: boolean }): Promise<NewLog> {
  const { dataDir, clock, evenIfThere = false } = options;
  const anchorPath = options.anchorPath ?? join(dataDir, 'anchor.json');
  if (canHoldLog(join(dataDir, 'ledger.mdb')) && !evenIfThere)
    throw new LogThereError(
      `${dataDir} has a log. \`candor rebuild\` recovers what it still holds; to abandon it anyway, add --accept-loss`,
    );
  const known = await lostLife(dataDir, anchorPath);
  const at = clock === undefined ? new Date() : new Date(milliseconds(clock()));
  const kept = join(dataDir, `lost-log-${at.toISOString().replaceAll(/[:.]/g, '-')}`);
  await mkdir(kept, { mode: 0o700 });
  const moved: string[] = [];
  const names = ['ledger.mdb', 'ledger.mdb-lock', 'journal.ndjson', 'keys'].map((name) => join(dataDir, name));
  for (const path of [...names, anchorPath].filter((one) => existsSync(one))) {
    await move(path, join(kept, basename(path)));
    moved.push(basename(path));
  }
  await flushFolder(kept);
  await flushFolder(dataDir);
  const keys = new KeyRing(join(dataDir, 'keys'));
  keys.encryptNewKeys(options.keyPassphrase);
  const agent = await openAgent(dataDir, options.agent, keys, () => undefined);
  const start = lifeStartOf('begun_anew', options, previousOf(known));
  await startLife(keys, { start, origin: options.origin, fromSize: 0 });
  await agent?.close();
  await recordInstance(dataDir);
  await openAndClose(options);
  return { kept, moved, replaced: known.head };
}

/**
 * Returns whether a file may hold a log. Entries without a signed head were never acknowledged, so a file without a
 * head contains no log. A file that cannot be opened may still hold the whole log.
 */
function canHoldLog(path: string): boolean {
  if (!existsSync(path) || statSync(path).size === 0) return false;
  return caught(NotADatabase, true, () => {
    const file = new DatabaseFile(path);
    try {
      return (file.tables(() => {}).get('heads')?.rows ?? 1) > 0;
    } finally {
      file.close();
    }
  });
}

/**
 * Returns the known facts about the lost log. If the log's keys are lost too, the anchor is accepted without a
 * signature check.
 */
async function lostLife(dataDir: string, anchorPath: string): Promise<KnownLife> {
  const known = await knownLife(dataDir, anchorPath);
  const begun = KeyRing.load(join(dataDir, 'keys')).files.find((file) => file.svc_life_start !== undefined);
  const earlier = begun?.svc_life_start?.previous; // left by an interrupted run
  if (earlier !== undefined) return { origin: earlier.origin, head: earlier.head && fromJson(earlier.head) };
  const anchor = await readAnchor(anchorPath).catch(() => undefined);
  return { ...known, head: known.head ?? (anchor?.kind === 'head' ? anchor.head : undefined) };
}

/** Moves a file, also across volumes. */
async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    await copyFile(from, to);
    await rm(from);
  }
}
