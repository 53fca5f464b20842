import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Kind, kindProblem } from './file-kind.ts';

interface Content {
  readonly kind: Kind;
  /** Access that a start needs. If absent, the reader of the file reports its own faults, and the service goes on. */
  readonly access?: number;
}

const { R_OK: read, W_OK: write, X_OK: search } = constants;

/** Everything that the program keeps in a data folder, besides what restores and rebuilds moved aside. */
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
  'policy.in-effect.json': { kind: 'file', access: read },
  'policy.pending.json': { kind: 'file', access: read },
  rules: { kind: 'folder' },
  restoring: { kind: 'folder' },
  backups: { kind: 'folder' },
};
const keyFile: Content = { kind: 'file', access: read };

/** Names in a data folder. */
export const dataFolderNames: readonly string[] = Object.keys(contents);

/**
 * Checks type and access of everything that a data folder may have, before anything in it is opened: to open a pipe waits
 * for ever, and LMDB ends the process where its lock file is a folder or a link to nothing. Content is checked by its owners.
 *
 * @throws Error with one clear line about the first file that cannot be used
 */
export function checkDataFolderFiles(folder: string): void {
  for (const [name, content] of Object.entries(contents)) requireUsable(join(folder, name), content);
  for (const name of keyFiles(folder)) requireUsable(join(folder, 'keys', name), keyFile);
}

/** Warnings for the operator about files that another user owns, and so may change. */
export function foreignFiles(folder: string): string[] {
  const user = process.geteuid?.();
  const foreign = dataFolderNames.filter((name) => {
    const owner = statSync(join(folder, name), { throwIfNoEntry: false })?.uid;
    return owner !== undefined && owner !== user;
  });
  if (foreign.length === 0) return [];
  return [
    `in the data folder ${folder}, another user owns ${foreign.join(', ')}, and may change them: run ` +
      `\`chown -R ${user} ${folder}\``,
  ];
}

function requireUsable(path: string, { kind, access = constants.F_OK }: Content): void {
  const problem = kindProblem(path, kind);
  if (problem !== undefined)
    throw new Error(
      `${problem}: move it away; where data were lost, \`candor restore\` brings a backup back`,
    );
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

function keyFiles(folder: string): string[] {
  try {
    return readdirSync(join(folder, 'keys'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
