import { accessSync, constants, lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';

interface Content {
  readonly kind: Kind;
  /**
   * Access that start-up requires. Undefined if the service can start without it: the code that reads the file then
   * reports the error.
   */
  readonly access?: number;
}

const { R_OK: read, W_OK: write, X_OK: search } = constants;

/** All names that the program stores in a data folder, except files moved aside by restores and rebuilds. */
const contents: Readonly<Record<string, Content>> = {
  lock: { kind: 'file', access: read | write },
  'format.json': { kind: 'file', access: read },
  'restore.json': { kind: 'file', access: read },
  'config.json': { kind: 'file', access: read },
  'siem.mdb': { kind: 'file', access: read | write },
  'siem.mdb.json': { kind: 'file' },
  'siem.mdb-lock': { kind: 'file', access: read | write },
  'ledger.mdb': { kind: 'file', access: read | write },
  'ledger.mdb-lock': { kind: 'file', access: read | write },
  keys: { kind: 'folder', access: read | search },
  'anchor.json': { kind: 'file' },
  'journal.ndjson': { kind: 'file' },
  'instance.json': { kind: 'file' },
  'clock.json': { kind: 'file' },
  'scrub.json': { kind: 'file' },
  'policy.json': { kind: 'file' },
  // The access policy in folders of earlier versions, until the first start moves it into siem.mdb.
  'policy.in-effect.json': { kind: 'file', access: read },
  'policy.pending.json': { kind: 'file', access: read },
  rules: { kind: 'folder' },
  restoring: { kind: 'folder' },
  backups: { kind: 'folder' },
};
const keyFile: Content = { kind: 'file', access: read };

/** The names that the program stores in a data folder. */
export const dataFolderNames: readonly string[] = Object.keys(contents);

/**
 * Checks type and access of all files in a data folder before any of them is opened. Opening a pipe waits
 * forever, and LMDB ends the process if its lock file is a folder or a broken link. The content of a file is
 * checked by the code that reads it.
 *
 * @throws Error with a one-line message about the first unusable file
 */
export function checkDataFolderFiles(folder: string): void {
  for (const [name, content] of Object.entries(contents)) requireUsable(join(folder, name), content);
  for (const name of filesIn(folder, 'keys')) requireUsable(join(folder, name), keyFile);
}

/** Returns a warning about files that another user owns and could change; an empty list without such files. */
export function foreignFiles(folder: string): string[] {
  const user = process.geteuid?.();
  const names = [...dataFolderNames, ...filesIn(folder, 'keys'), ...filesIn(folder, 'rules')];
  const foreign = names.filter((name) => {
    const owner = ownerOf(join(folder, name));
    return owner !== undefined && owner !== user;
  });
  if (foreign.length === 0) return [];
  return [
    `in the data folder ${folder}, another user owns ${named(foreign)} and may change them: run ` +
      `\`chown -R ${user} ${folder}\``,
  ];
}

function requireUsable(path: string, { kind, access = constants.F_OK }: Content): void {
  const problem = kindProblem(path, kind);
  if (problem !== undefined)
    throw new Error(`${problem}: move it away; if data was lost, restore a backup with \`candor restore\``);
  try {
    accessSync(path, access);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    const { uid } = statSync(path);
    throw new Error(
      `${path} cannot be read and written to (${code}): it belongs to user ${uid}, and this process runs as user ` +
        `${process.geteuid?.()}; run \`chown\` and \`chmod\` on it, or start the program as its owner`,
    );
  }
}

function ownerOf(path: string): number | undefined {
  try {
    return statSync(path).uid;
  } catch {
    return undefined;
  }
}

const named = (names: readonly string[]): string =>
  names.length <= maxNamed
    ? names.join(', ')
    : `${names.slice(0, maxNamed).join(', ')} and ${names.length - maxNamed} more files`;

/** Maximum number of files named in a warning. */
const maxNamed = 10;

/**
 * Returns the paths of the files in a subfolder of the data folder. If the subfolder cannot be read, returns an
 * empty list: the code that reads the files reports the error.
 */
function filesIn(folder: string, name: string): string[] {
  try {
    return readdirSync(join(folder, name)).map((file) => join(name, file));
  } catch {
    return [];
  }
}

export type Kind = 'file' | 'folder';

/**
 * Returns the reason why a path cannot be used as a file or a folder; undefined if it can be used, or if it
 * does not exist.
 */
export function kindProblem(path: string, kind: Kind): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  const target = found?.isSymbolicLink() ? statSync(path, { throwIfNoEntry: false }) : found;
  if (found === undefined) return undefined;
  if (target === undefined) return `${path} is a broken link, and must be a ${kind}`;
  const isRight = kind === 'file' ? target.isFile() : target.isDirectory();
  return isRight ? undefined : `${path} is a ${kindOf(target)}, and must be a ${kind}`;
}

function kindOf(stat: Stats): string {
  if (stat.isDirectory()) return 'folder';
  if (stat.isFile()) return 'file';
  if (stat.isFIFO()) return 'pipe';
  return stat.isSocket() ? 'socket' : 'device';
}
