import { join } from 'node:path';
import { readAnchor } from '../anchor.ts';
import { headJudge, toJson } from '../heads.ts';
import { Journal } from '../journal.ts';
import type { LifeStart } from '../keys/key-file.ts';
import { KeyRing } from '../keys/key-ring.ts';
import type { SignedHead } from '../storage/storage.ts';
import { DatabaseFile } from './database-file.ts';
import { Findings } from './findings.ts';
import { readHeads } from './heads.ts';

/** The current life of the log in a data folder. */
export interface KnownLife {
  /** The largest head signed in this life. */
  readonly head: SignedHead | undefined;
  /** The log's name in checkpoints. */
  readonly origin: string | undefined;
}

/**
 * Returns the largest known head of the log in a data folder, from those files that are readable: database, anchor and
 * journal. The log promised at least this head. Only heads signed by a key of the current life are considered. If the
 * folder has lost its keys, the folder `otherKeys` of a backup is used.
 */
export async function knownLife(dataDir: string, anchorPath: string, otherKeys?: string): Promise<KnownLife> {
  const own = KeyRing.load(join(dataDir, 'keys'));
  const keys = own.all().length > 0 || otherKeys === undefined ? own : KeyRing.load(otherKeys);
  const { isSigned, isCurrent } = headJudge(keys);
  const anchor = await readAnchor(anchorPath).catch(() => undefined);
  const last = lastHeadIn(join(dataDir, 'ledger.mdb'));
  const latest = last !== undefined && isSigned(last) ? last : undefined;
  const journal = await new Journal(join(dataDir, 'journal.ndjson'))
    .read(headJudge(keys, latest))
    .catch(() => undefined);
  const heads = [last, anchor?.kind === 'head' ? anchor.head : undefined, journal?.largest]
    .filter((head) => head !== undefined)
    .filter((head) => isSigned(head) && isCurrent(head));
  const [head] = heads.sort((a, b) => b.size - a.size);
  const named = keys.all().filter(({ purpose, file }) => purpose === 'checkpoint' && file.svc_life === keys.life);
  return { head, origin: named.at(-1)?.file.svc_origin };
}

/** Returns the previous life in the form in which the first entry of a new life contains it. */
export function previousOf({ head, origin }: KnownLife): Pick<LifeStart, 'previous'> {
  if (origin === undefined) return {};
  return { previous: { origin, ...(head === undefined ? {} : { head: toJson(head) }) } };
}

/**
 * Returns the last readable head in a database that may be damaged, for example when a backup is restored; undefined
 * without a readable head.
 */
export function lastHeadIn(path: string): SignedHead | undefined {
  let file: DatabaseFile;
  try {
    file = new DatabaseFile(path);
  } catch {
    return undefined;
  }
  try {
    const onDamage = () => undefined;
    let last: SignedHead | undefined;
    for (const head of readHeads({ file, tables: file.tables(onDamage), findings: new Findings(), onDamage }))
      last = head;
    return last;
  } finally {
    file.close();
  }
}
