import { readdirSync } from 'node:fs';
import { relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { env } from './compiled-sources.ts';

const root = new URL('..', import.meta.url).pathname;

/** Folders of tests that start processes and wait for them, in the order in which they are begun. */
const slow = ['system', 'scripts', 'cli', 'backup', 'config', 'auth', 'store', 'ledger', 'client', 'http'];

/** Folders of tests that leave nothing behind in their process: the next file goes on in it, with what is loaded. */
const together = [
  'analytics',
  'architecture',
  'auth',
  'client',
  'config',
  'console',
  'contract',
  'detect',
  'discovery',
  'events',
  'http',
  'ingest',
  'inventory',
  'ledger',
  'rollups',
  'rpc',
  'rules',
  'store',
  'tlog',
  'topology',
  'triage',
  'triage-endpoint',
  'witness',
];

/** These replace a module by one that counts: it must not be loaded already. */
const alone = ['test/http/sessions.test.ts'];

const folders = readdirSync(new URL('.', import.meta.url), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

const filesOf = (folders: readonly string[]) => folders.map((folder) => `test/${folder}/**/*.test.ts`);

/**
 * The slow ones first: the last of all then doesn't run alone while other workers have nothing to do. Those that share
 * processes are behind all that don't, as a process ends where the next file may not run in it.
 */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification): number => {
      const folder = slow.indexOf(relative(root, moduleId).split('/')[1] ?? '');
      return (project.config.isolate ? 0 : 100) + (folder < 0 ? slow.length : folder);
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

// They need a browser: `npm run test:console`.
const exclude = ['test/console/browser/**'];

export default defineConfig({
  root,
  test: {
    globalSetup: 'test/compiled-sources.ts',
    // Two threads less for each service to start; tests with much at once set them to two.
    env: { ...env, CANDOR_THREADS_INGEST: '1', CANDOR_THREADS_ANALYTICS: '1' },
    // Real processes, worker threads and databases: separate processes keep native add-ons apart.
    pool: 'forks',
    // On two cores, two at a time leave a seventh of the time unused, as they wait for deadlines and disks; more than
    // three would starve a server under test.
    maxWorkers: 3,
    sequence: { sequencer: SlowFirst },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'apart',
          include: [
            ...filesOf(folders.filter((folder) => !together.includes(folder))),
            'test/*.test.ts',
            ...alone,
          ],
          exclude,
        },
      },
      {
        extends: true,
        test: {
          name: 'together',
          include: filesOf(together),
          exclude: [...exclude, ...alone],
          isolate: false,
        },
      },
    ],
  },
});
