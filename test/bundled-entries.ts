/** Bundles each entry point of the service's threads, including the main thread, into one module. */
import { readdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { build, type Plugin, type Rolldown } from 'vite';

const root = new URL('..', import.meta.url).pathname;

/**
 * Entry points, as paths in the project. Commands other than `start` load few modules, so they start faster without a
 * bundle. The process that appends to the log runs nearly a hundred times under strace, which delays its system calls.
 */
export const entries: readonly string[] = [
  'src/main.ts',
  'test/ledger/append-child.ts',
  ...readdirSync(`${root}workers`).map((name) => `workers/${name}`),
];

/** Packages with native parts or separate threads, which they load from their own folder. */
const apart = ['lmdb', 'uWebSockets.js', '@node-rs/argon2', 'piscina', 'pino'];

/** Modules look for rules, threads and the version relative to their own location. */
const ownUrl: Plugin = {
  name: 'own-url',
  enforce: 'pre',
  transform: (code, id) => code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href)),
};

/**
 * Bundles an entry with all its imports, except the packages that stay separate, in the order in which Node
 * would run them.
 */
export async function bundle(entry: string): Promise<string> {
  const built = await build({
    root,
    configFile: false,
    logLevel: 'warn',
    plugins: [ownUrl],
    ssr: { noExternal: true, external: apart },
    build: {
      ssr: entry,
      write: false,
      minify: false,
      target: 'node22',
      // Nothing is left out or renamed: the bundle runs the code as written.
      rolldownOptions: { treeshake: false, output: { codeSplitting: false, keepNames: true } },
    },
  });
  const { output } = built as Rolldown.RolldownOutput;
  const [{ code }, ...others] = output;
  if (others.length > 0) throw new Error(`bundling ${entry} produced ${output.length} files instead of one`);
  return code;
}
