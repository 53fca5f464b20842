import { fileURLToPath } from 'node:url';

/**
 * Returns the folder of the built console: in a checkout `dist/console`, which is beside `src`; in an
 * installed package `console` in the folder of the code.
 */
export function consoleFolder(): string {
  const folder = import.meta.url.endsWith('.ts') ? '../../dist/console' : '../../console';
  return fileURLToPath(new URL(folder, import.meta.url));
}
