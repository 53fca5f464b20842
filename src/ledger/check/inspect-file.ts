import { corrupt, halfWritten } from '../distrust.ts';
import { DatabaseFile, NotADatabase, type PageDamage } from './database-file.ts';

/**
 * Looks at ledger.mdb before LMDB maps it: LMDB follows what it finds, and a wild page number ends the process. Read are
 * the meta pages, the list of free pages, and the way to the first and the last row of each table, which is what a start
 * and the first appends go by; the rest is read when somebody asks for it, or by `candor fsck`.
 *
 * Returns that the file is shorter than its pages in use, for the caller to degrade the log once it is open: what is
 * left of it can be served.
 *
 * @throws Distrust where it can't be opened; Error with one clear line where the file may not be read at all.
 */
export function inspectFile(path: string): { readonly cut: boolean } {
  const file = open(path);
  try {
    if (file.tornMeta !== undefined)
      throw halfWritten(`meta page ${file.tornMeta} of ledger.mdb is not whole`);
    const damaged = file.checkEdges();
    const cut = file.missingPages > 0 && (damaged !== undefined || file.lacksPagesInUse());
    if (damaged === undefined) return { cut };
    throw cut ? halfWritten(`ledger.mdb is cut short (${shown(damaged)})`) : corrupt(shown(damaged));
  } finally {
    file.close();
  }
}

/**
 * The same look before a thread maps a log that start-up has not opened.
 *
 * @throws Error with one clear line
 */
export function requireReadableLog(path: string): void {
  const file = open(path);
  try {
    const damaged = file.checkEdges();
    if (damaged !== undefined) throw new Error(shown(damaged));
  } finally {
    file.close();
  }
}

/** What start-up says of a file that was cut. */
export function cutShort(): Error {
  return halfWritten('ledger.mdb is shorter than what it says is in use');
}

function open(path: string): DatabaseFile {
  try {
    return new DatabaseFile(path);
  } catch (error) {
    if (error instanceof NotADatabase) throw corrupt(`ledger.mdb is no database: ${error.message}`);
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`${path} cannot be read (${code ?? String(error)})`);
  }
}

function shown({ table, page, what }: PageDamage): string {
  return `page ${page} of ledger.mdb, in the table ${table}, cannot be followed: ${what}`;
}
