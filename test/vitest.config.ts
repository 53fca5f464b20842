import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { env } from './compiled-sources.ts';

const root = new URL('..', import.meta.url).pathname;

/** Folders of tests that start processes and wait for them, in the order in which they are begun. */
const slow = ['system', 'scripts', 'cli', 'backup'];

/**
 * Folders of tests that leave nothing behind in their process: the next file goes on in it, with what is loaded. Those
 * that stand together share processes, in this order; what vitest keeps of each file, and the allocators of the
 * databases, ends with them.
 */
const together = [
  ['store'],
  ['http'],
  ['ledger', 'client'],
  ['auth', 'config', 'detect', 'discovery', 'rpc', 'tlog', 'witness'],
  [
    'analytics',
    'architecture',
    'console',
    'contract',
    'events',
    'ingest',
    'inventory',
    'rollups',
    'rules',
    'topology',
  ],
  ['triage', 'triage-endpoint'],
];

const filesOf = (folders: readonly string[]) => folders.map((folder) => `test/${folder}/**/*.test.ts`);

const folders = readdirSync(new URL('.', import.meta.url), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !together.flat().includes(entry.name))
  .map(({ name }) => name);
/** A module is replaced only where it is not loaded yet. */
const replacing = globSync(filesOf(together.flat()), { cwd: root }).filter((file) =>
  /\bvi\.(mock|doMock)\(/.test(readFileSync(join(root, file), 'utf8')),
);

/**
 * Project by project, as a process ends where the next file may not run in it; those with a process for each file first,
 * and of these the slow ones: the last of all then doesn't run alone while other workers have nothing to do.
 */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const names = ['apart', ...together.map(nameOf)];
    const rank = ({ moduleId, project }: TestSpecification): number => {
      const folder = slow.indexOf(relative(root, moduleId).split('/')[1] ?? '');
      return names.indexOf(project.name) * 100 + (folder < 0 ? slow.length : folder);
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

const nameOf = ([first, ...others]: readonly string[]) => (others.length === 0 ? `${first}` : `${first} …`);

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
    // On two cores, three at a time leave a fifth of the time unused, as they wait for deadlines and disks; more than
    // four would starve a server under test.
    maxWorkers: 4,
    sequence: { sequencer: SlowFirst },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: { name: 'apart', include: [...filesOf(folders), 'test/*.test.ts', ...replacing], exclude },
      },
      ...together.map((group) => ({
        extends: true as const,
        test: {
          name: nameOf(group),
          include: filesOf(group),
          exclude: [...exclude, ...replacing],
          isolate: false,
        },
      })),
    ],
  },
});
