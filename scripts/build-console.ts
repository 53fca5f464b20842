/**
 * `npm run build:console`: builds the web console into dist/console. With `--if-changed`, it builds only if the
 * sources have changed since the last build. Each start from a checkout first runs it with `--if-changed`.
 */
import { constants } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { reasonToBuild } from './build-console/freshness.ts';

const root = join(import.meta.dirname, '..');
const built = join(root, 'dist', 'console');
const { values: options } = parseArgs({ options: { 'if-changed': { type: 'boolean', default: false } } });

// `process.exit` runs the handler that removes an incomplete build.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => process.exit(128 + constants.signals[signal]));

const say = (line: string): void => void process.stderr.write(`${line}\n`);

const reason = options['if-changed'] ? reasonToBuild(root, built) : 'requested';
if (reason === undefined) say('console: up to date');
else {
  say(`console: building (${reason}) …`);
  try {
    const began = performance.now();
    const { buildConsole } = await import('./build-console/build.ts');
    await buildConsole(root, built);
    say(`console: built in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  } catch (error) {
    const isBare = (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND';
    say(`console: not built: ${isBare ? 'its build tools are not installed; run npm ci' : String(error)}`);
    process.exitCode = 1;
  }
}
