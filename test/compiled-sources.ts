/**
 * A folder of stripped and compiled sources, kept for one run of the tests. The tests start hundreds of
 * processes with up to six threads each, and most of the cost of a start is finding, stripping and compiling
 * the same 2,900 modules. With this folder, each module is stripped and compiled once. With
 * BUNDLED_ENTRIES=1, as in CI, each thread of the service loads one bundle with all modules: a start
 * takes 1.9 s of CPU time instead of 3.1 s, and making the bundles takes 3 s. (The installed package, which
 * has its own test, is never bundled.)
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { limits } from '../src/limits.ts';
import { bundle, entries } from './bundled-entries.ts';

/** A process that is ending may still write to the folder. */
const removal = { recursive: true, force: true, maxRetries: 5 } as const;

const folder = join(tmpdir(), `candor-compiled-${process.pid}`);

const preload = `--import=${fileURLToPath(new URL('strip-types-hook.js', import.meta.url))}`;

export const env = {
  // src/http/header-limit.ts sets this variable too late for a bundle: uWebSockets.js reads it before the first line of
  // the bundle runs.
  UWS_HTTP_MAX_HEADERS_SIZE: String(limits.maxHeaderBytes),
  STRIPPED_SOURCES: folder,
  NODE_COMPILE_CACHE: folder,
  NODE_OPTIONS: [process.env.NODE_OPTIONS, preload].filter(Boolean).join(' '),
};

/** Vitest's global setup. */
export default async function setup(): Promise<() => Promise<void>> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // A process that starts late creates the folder again, empty.
  process.once('exit', () => rmSync(folder, removal));
  // strip-types-hook.js finds the bundle in place of the stripped entry.
  for (const entry of process.env.BUNDLED_ENTRIES === '1' ? entries : [])
    writeFileSync(join(folder, entry.replaceAll('/', '!')), `${await bundle(entry)}\n//`);
  return async () => {
    // Processes write compiled code when they exit, and the last vitest process may exit after this function.
    for (let tries = 50; ; tries--) {
      try {
        rmSync(folder, removal);
        return;
      } catch (error) {
        if (tries === 0) throw error;
        await setTimeout(100);
      }
    }
  };
}
