import { readFileSync } from 'node:fs';

/**
 * Returns the version in the nearest package.json above this file, which exists both in a checkout and in an
 * installed package.
 */
export function productVersion(): string {
  for (let folder = new URL('.', import.meta.url); ; folder = new URL('..', folder)) {
    try {
      return (JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')) as { version: string }).version;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || folder.pathname === '/') throw error;
    }
  }
}
