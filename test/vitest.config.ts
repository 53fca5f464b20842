import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { env } from './compiled-sources.ts';
import { retry } from './flaky-tests.ts';

const root = new URL('..', import.meta.url).pathname;

/** Folders of tests that start processes and wait for them, in order of execution. */
const slow = ['system', 'scripts', 'cli', 'backup'];

/**
 * Folders of tests without side effects on their process: the next file runs in the same process, with loaded
 * modules. Folders of one group share processes, in this order; a folder that matches several groups belongs to
 * the first. Memory of vitest's data about each file, and of the databases' allocators, is freed when the
 * processes end.
 */
const together = [
  [...slow, 'bench', 'crypto', 'docs', 'interop', 'service', 'sketch', 'ssh-agent', 'timestamps'],
  ['alerts/triage'],
  ['store', '*/store', 'alerts', 'database'],
  ['http'],
  ['ledger', 'client'],
  ['admission', 'config', 'detect', 'discovery', 'identities', 'rpc', 'tlog', 'witness'],
  [
    'analytics',
    'architecture',
    'console',
    'contract',
    'events',
    'ingest',
    'inventory',
    'net',
    'rollups',
    'rules',
    'topology',
  ],
];

const filesOf = (folders: readonly string[]) => folders.map((folder) => `test/${folder}/**/*.test.ts`);

const folders = readdirSync(new URL('.', import.meta.url), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !together.flat().includes(entry.name))
  .map(({ name }) => name);
/** Files that replace modules. They need a new process: a module can only be replaced before it is loaded. */
const replacing = globSync(filesOf(together.flat()), { cwd: root }).filter((file) =>
  /\bvi\.(mock|doMock)\(/.test(readFileSync(join(root, file), 'utf8')),
);

/**
 * Runs one project after the other, because a process ends when the next file belongs to another project. Projects with
 * a process per file come first, and slow projects before fast ones, so that the last file does not run alone while other
 * workers are idle.
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

// These tests need a browser: `npm run test:console`.
const exclude = ['test/console/browser/**'];

export default defineConfig({
  root,
  test: {
    globalSetup: 'test/compiled-sources.ts',
    // One thread per pool saves the start of two threads for each service; tests with high load set both
    // pools to two.
    env: { ...env, CANDOR_THREADS_INGEST: '1', CANDOR_THREADS_ANALYTICS: '1' },
    // Tests use real processes, worker threads and databases: separate processes isolate native add-ons.
    pool: 'forks',
    // On two cores, three workers leave a fifth of the time unused, as they wait for deadlines and disks;
    // more than four would starve a server under test.
    maxWorkers: 4,
    sequence: { sequencer: SlowFirst },
    // These limits end tests that hang. On a busy machine, other tests may take many times their usual time.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    retry,
    projects: [
      {
        extends: true,
        test: { name: 'apart', include: [...filesOf(folders), 'test/*.test.ts', ...replacing], exclude },
      },
      ...together.map((group, index) => ({
        extends: true as const,
        test: {
          name: nameOf(group),
          include: filesOf(group),
          exclude: [...exclude, ...replacing, ...filesOf(together.slice(0, index).flat())],
          isolate: false,
        },
      })),
    ],
  },
});
