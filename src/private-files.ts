import { statSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/** From now on, whatever this process makes is its user's alone: files 0600, folders 0700. */
export function keepFilesPrivate(): void {
  // One mask holds for all threads, and only the main one may set it.
  if (isMainThread) process.umask(0o077);
}

/** What to tell the operator of a folder that others on this machine may look into; nothing of one that they may not. */
export function openToOthers(folder: string): string[] {
  const mode = statSync(folder).mode & 0o777;
  if ((mode & 0o077) === 0) return [];
  return [
    `the folder ${folder} holds private keys, and others on this machine may look into it (mode ` +
      `${mode.toString(8).padStart(4, '0')}): run \`chmod 700 ${folder}\``,
  ];
}
