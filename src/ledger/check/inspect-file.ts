import { corrupt, halfWritten } from '../distrust.ts';
import { DatabaseFile, NotADatabase, type PageDamage } from './database-file.ts';

/**
 * Inspects ledger.mdb before LMDB maps it: LMDB does not validate page numbers, and an invalid page number ends the
 * process.
 * Reads the meta pages, the list of free pages, and the paths to the first and the last row of each table, which a
 * start and the first appends need. Other pages are checked when they are read, or by `candor fsck`.
 *
 * Returns whether the file is shorter than its pages in use. The caller then degrades the log once it is open, and
 * serves the remaining data.
 *
 * @throws UntrustedLogError if the file is not a database or an inspected page is damaged; Error with a one-line
 * message if the file cannot be read
 */
export function inspectFile(path: string): { readonly cut: boolean } {
  const file = open(path);
  try {
    if (file.tornMeta !== undefined) throw halfWritten(`meta page ${file.tornMeta} of ledger.mdb is damaged`);
    const damaged = file.checkEdges();
    const cut = file.missingPages > 0 && (damaged !== undefined || file.lacksPagesInUse());
    if (damaged === undefined) return { cut };
    throw cut ? halfWritten(`ledger.mdb is cut short (${shown(damaged)})`) : corrupt(shown(damaged));
  } finally {
    file.close();
  }
}

/**
 * Inspects the file before a thread maps a log that start-up has not opened.
 *
 * @throws Error with a one-line message
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

/** Returns the reason why start-up does not trust a truncated file. */
export function cutShort(): Error {
  return halfWritten('ledger.mdb is shorter than its pages in use');
}

function open(path: string): DatabaseFile {
  try {
    return new DatabaseFile(path);
  } catch (error) {
    if (error instanceof NotADatabase) throw corrupt(`ledger.mdb is not a database: ${error.message}`);
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`${path} cannot be read (${code ?? String(error)})`);
  }
}

function shown({ table, page, what }: PageDamage): string {
  return `page ${page} of ledger.mdb, in the table ${table}, is not valid: ${what}`;
}
