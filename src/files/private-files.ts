import { statSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/** Makes all files that this process creates from now on private to its user: files 0600, folders 0700. */
export function keepFilesPrivate(): void {
  // The umask applies to all threads, and only the main thread may set it.
  if (isMainThread) process.umask(0o077);
}

/** Returns a warning if other users of this machine can access a folder. */
export function openToOthers(folder: string): string[] {
  const mode = statSync(folder).mode & 0o777;
  if ((mode & 0o077) === 0) return [];
  return [
    `the folder ${folder} contains private keys, and other users of this machine can access it (mode ` +
      `${mode.toString(8).padStart(4, '0')}): run \`chmod 700 ${folder}\``,
  ];
}
