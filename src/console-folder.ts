import { fileURLToPath } from 'node:url';

/**
 * Where the build of the console lies: in `dist/console`, which a checkout has beside `src`, and an installed package
 * around it.
 */
export function consoleFolder(): string {
  const folder = import.meta.url.endsWith('.ts') ? '../dist/console' : '../console';
  return fileURLToPath(new URL(folder, import.meta.url));
}
