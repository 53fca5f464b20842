import { existsSync, statSync } from 'node:fs';
import { copyFile, mkdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { flushFolder } from '../../durable-file.ts';
import { readAnchor } from '../anchor.ts';
import type { LedgerOptions } from '../durable-ledger.ts';
import { milliseconds } from '../heads.ts';
import { Journal } from '../journal.ts';
import { openLedger } from '../open.ts';
import type { SignedHead } from '../storage/storage.ts';
import { DatabaseFile, NotADatabase } from './database-file.ts';
import { PublicKeys } from './public-keys.ts';

export interface BegunAnew {
  /** Folder in which the traces of the old log are kept now. */
  readonly kept: string;
  readonly moved: readonly string[];
  /** The largest head of the old log that anything remembers. */
  readonly replaced: SignedHead | undefined;
}

/** There is a log in the folder. The message says what to do instead. */
export class LogThereError extends Error {
  override readonly name = 'LogThereError';
}

/**
 * Begins a new log where one was lost, because the operator says so. What is left of the old one (anchor, journal, keys, a
 * file that is no log) is moved aside and deleted by nobody; the events stay. The new log has keys of its own: a key serves
 * one log, and heads of two logs under one key would be a fork. The old public keys are published no longer, for nothing
 * here is signed by them; whoever holds old proofs holds old keys with them. The journal's first lines say what was lost.
 *
 * A crash in between leaves a folder that has still lost its log, and the next run goes on.
 *
 * @throws LogThereError where ledger.mdb has heads or can't be read, unless `evenIfThere`.
 */
export async function beginAnew(
  options: LedgerOptions & { readonly evenIfThere?: boolean },
): Promise<BegunAnew> {
  const { dataDir, clock, evenIfThere = false } = options;
  const anchorPath = options.anchorPath ?? join(dataDir, 'anchor.json');
  if (mayHoldLog(join(dataDir, 'ledger.mdb')) && !evenIfThere)
    throw new LogThereError(
      `${dataDir} has a log. \`candor rebuild\` saves what can be saved of it; to give it up all the same, add --accept-loss`,
    );
  const replaced = await largestKnown(dataDir, anchorPath);
  const at = clock === undefined ? new Date() : new Date(milliseconds(clock()));
  const kept = join(dataDir, `lost-log-${at.toISOString().replaceAll(/[:.]/g, '-')}`);
  await mkdir(kept, { mode: 0o700 });
  const moved: string[] = [];
  const names = ['ledger.mdb', 'ledger.mdb-lock', 'journal.ndjson', 'keys'].map((name) =>
    join(dataDir, name),
  );
  for (const path of [...names, anchorPath].filter((one) => existsSync(one))) {
    await move(path, join(kept, basename(path)));
    moved.push(basename(path));
  }
  await flushFolder(kept);
  await flushFolder(dataDir);
  await initialise(options, replaced, at);
  return { kept, moved, replaced };
}

async function initialise(options: LedgerOptions, replaced: SignedHead | undefined, at: Date): Promise<void> {
  const ledger = await openLedger({ ...options, beginAnew: true });
  await ledger.close();
  const journal = new Journal(join(options.dataDir, 'journal.ndjson'));
  await journal.write({ event: 'rebuilt', at, head: undefined, health: { state: 'ok' }, replaced });
}

/** A file without a head holds nothing that was promised; one that can't be opened may still hold all of it. */
function mayHoldLog(path: string): boolean {
  if (!existsSync(path) || statSync(path).size === 0) return false;
  try {
    const file = new DatabaseFile(path);
    try {
      return (file.tables(() => {}).get('heads')?.rows ?? 1) > 0;
    } finally {
      file.close();
    }
  } catch (error) {
    if (error instanceof NotADatabase) return true;
    throw error;
  }
}

/** Signed, where the keys are still there; the anchor's word otherwise. */
async function largestKnown(dataDir: string, anchorPath: string): Promise<SignedHead | undefined> {
  const keys = PublicKeys.load(join(dataDir, 'keys'));
  const journal = await new Journal(join(dataDir, 'journal.ndjson'))
    .read(keys.isSigned)
    .catch(() => undefined);
  const anchor = await readAnchor(anchorPath).catch(() => undefined);
  const anchored = anchor?.kind === 'head' ? anchor.head : undefined;
  const largest = journal?.largest;
  return largest !== undefined && largest.size >= (anchored?.size ?? 0) ? largest : anchored;
}

/** Between volumes, too. */
async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    await copyFile(from, to);
    await rm(from);
  }
}
