import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

/**
 * Returns the path of nmap; undefined if nmap is not installed or must not be run.
 *
 * @param setting - `discovery.nmap`: `off`, `auto`, or a path
 * @param searchPath - colon-separated folders for `auto`; relative folders are ignored
 */
export function findNmap(setting: string, searchPath: string): string | undefined {
  if (setting === 'off') return undefined;
  if (setting !== 'auto') return isProgram(setting) ? setting : undefined;
  return searchPath
    .split(':')
    .filter(isAbsolute)
    .map((folder) => join(folder, 'nmap'))
    .find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
