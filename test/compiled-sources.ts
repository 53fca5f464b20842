/**
 * Hundreds of processes are started by the tests, with up to six threads each, and most of what a start costs is the
 * finding, stripping and compiling of the same 2,900 modules: in a run of the tests each is stripped and compiled once.
 * With BUNDLED_ENTRIES=1, as in CI, what a thread of the service begins with comes as one module that has all the others
 * in it: a start takes 1.9 s of processor time then, 3.1 s with the modules one by one, and to make them takes 3 s. (The
 * installed package, which has a test of its own, always runs them one by one.) This is the folder where all that is kept
 * meanwhile.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { limits } from '../src/limits.ts';
import { bundle, entries } from './bundled-entries.ts';

/** A process that is just ending may write there once more. */
const removal = { recursive: true, force: true, maxRetries: 5 } as const;

const folder = join(tmpdir(), `candor-compiled-${process.pid}`);

const preload = `--import=${fileURLToPath(new URL('strip-once.js', import.meta.url))}`;

export const env = {
  // As src/http/header-limit.ts: a bundle loads uWebSockets.js, which reads it, before its own first line.
  UWS_HTTP_MAX_HEADERS_SIZE: String(limits.maxHeaderBytes),
  STRIPPED_SOURCES: folder,
  NODE_COMPILE_CACHE: folder,
  NODE_OPTIONS: [process.env.NODE_OPTIONS, preload].filter(Boolean).join(' '),
};

/** As vitest's global setup. */
export default async function setup(): Promise<() => Promise<void>> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Who begins late makes the folder again, empty.
  process.once('exit', () => rmSync(folder, removal));
  // As strip-once.js keeps and ends what it has stripped: an entry is there already.
  for (const entry of process.env.BUNDLED_ENTRIES === '1' ? entries : [])
    writeFileSync(join(folder, entry.replaceAll('/', '!')), `${await bundle(entry)}\n//`);
  return async () => {
    // Processes write what they have compiled at their end, and that of vitest's last one may come later than this.
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
