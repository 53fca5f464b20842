import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build } from 'vite';

/** Extensions of files to compress; other files are already compressed. */
const compressible = new Set(['.css', '.js', '.json', '.svg']);

/**
 * Builds the console of the project in `root` into the folder `built`, with a Brotli and a gzip form of each file that
 * compression makes smaller. The folder is replaced as a whole, so that a service that starts at the same time reads
 * the old or the new build. If two builds run at the same time, the build that ends last remains.
 */
export async function buildConsole(root: string, built: string): Promise<void> {
  const began = new Date();
  const fresh = join(built, '..', `.console-${randomUUID()}`);
  const remove = () => rmSync(fresh, { recursive: true, force: true });
  process.once('exit', remove);
  try {
    await build({
      configFile: join(root, 'src/console/vite.config.ts'),
      build: { outDir: fresh, emptyOutDir: true },
    });
    await compress(join(fresh, 'console'));
    // Dates the build to its beginning: sources that change during the build must be newer than the build.
    utimesSync(join(fresh, 'index.html'), began, began);
    replace(built, fresh);
  } finally {
    remove();
    process.off('exit', remove);
  }
}

async function compress(folder: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    if (!compressible.has(extname(name))) continue;
    const path = join(folder, name);
    const plain = readFileSync(path);
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
    };
    writeFileSync(`${path}.br`, await promisify(brotliCompress)(plain, { params }));
    writeFileSync(`${path}.gz`, await promisify(gzip)(plain, { level: constants.Z_BEST_COMPRESSION }));
  }
}

/**
 * Replaces a folder. A folder cannot be renamed to the path of a non-empty folder, so the old folder is moved away
 * first.
 */
function replace(built: string, fresh: string): void {
  const aside = `${fresh}-old`;
  for (;;) {
    try {
      renameSync(built, aside);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    rmSync(aside, { recursive: true, force: true });
    try {
      renameSync(fresh, built);
      return;
    } catch (error) {
      // Between the two renames, another build has moved its folder to `built`.
      if (!['ENOTEMPTY', 'EEXIST'].includes(String((error as NodeJS.ErrnoException).code))) throw error;
    }
  }
}
