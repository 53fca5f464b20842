import { cpSync, existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Copies a data folder as a clone of the whole volume would, so that the log does not detect the copy. */
export function cloneFolder(from: string, to: string): void {
  cpSync(from, to, { recursive: true, filter: (path) => !path.endsWith('instance.json') });
  if (!existsSync(join(from, 'instance.json'))) return;
  const file = join(to, 'instance.json');
  rmSync(file, { force: true });
  writeFileSync(file, '', { mode: 0o600 });
  writeFileSync(file, JSON.stringify({ format: 1, instance: 'clone', inode: String(statSync(file).ino) }));
}
