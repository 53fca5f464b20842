/** What the threads of the service begin with, the main one too, each as one module. */
import { readdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { build, type Plugin, type Rolldown } from 'vite';

const root = new URL('..', import.meta.url).pathname;

/** Paths in the project. Commands other than `start` load little, and sooner as they are. */
export const entries: readonly string[] = [
  'src/main.ts',
  ...readdirSync(`${root}workers`).map((name) => `workers/${name}`),
];

/** Packages with parts that are native or run in threads of their own: they find those beside themselves. */
const apart = ['lmdb', 'uWebSockets.js', '@node-rs/argon2', 'piscina', 'pino'];

/** Modules look for rules, threads and the version beside where they lie. */
const ownUrl: Plugin = {
  name: 'own-url',
  enforce: 'pre',
  transform: (code, id) => code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href)),
};

/** An entry with all that it imports, but for the packages that stay apart, in the order in which Node would run it. */
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
      // Nothing is left out or named otherwise: what runs is what was written.
      rolldownOptions: { treeshake: false, output: { codeSplitting: false, keepNames: true } },
    },
  });
  const { output } = built as Rolldown.RolldownOutput;
  const [{ code }, ...others] = output;
  if (others.length > 0) throw new Error(`${entry} has become ${output.length} files`);
  return code;
}
