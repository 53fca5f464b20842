/**
 * Hundreds of processes are started by the tests, with up to six threads each, and most of what a start costs is the
 * stripping and the compiling of the same sources: in a run of the tests each is stripped and compiled once. This is
 * the folder where they are kept meanwhile.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** A process that is just ending may write there once more. */
const removal = { recursive: true, force: true, maxRetries: 5 } as const;

const folder = join(tmpdir(), `candor-compiled-${process.pid}`);

const preload = `--import=${fileURLToPath(new URL('strip-once.js', import.meta.url))}`;

export const env = {
  STRIPPED_SOURCES: folder,
  NODE_COMPILE_CACHE: folder,
  NODE_OPTIONS: [process.env.NODE_OPTIONS, preload].filter(Boolean).join(' '),
};

/** As vitest's global setup. */
export default function setup(): () => Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Who begins late makes the folder again, empty.
  process.once('exit', () => rmSync(folder, removal));
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
