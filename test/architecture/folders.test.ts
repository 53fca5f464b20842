import { existsSync, globSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { root } from './read-imports.ts';

/** The folders of test that are not folders of src, and what they test or hold. */
const others = {
  architecture: 'rules about the sources themselves',
  bench: 'the benchmarks in bench',
  'console/browser': 'the console in a real browser',
  'detect/rules/samples': 'records that the shipped rules must match',
  interop: 'clients and verifiers from other vendors',
  'rpc/fixtures': 'worker threads that tests start',
  scripts: 'the programs in scripts',
  system: 'the whole service, in a process of its own',
  verdicts: 'what each client reports about a damaged or dishonest log',
};

const folders = [...new Set(globSync('test/*/**/*.*', { cwd: root }).map((file) => relative('test', dirname(file))))];

/** The pages of the console have their tests in `test/console`, without the folder `pages`. */
const inSrc = (folder: string) =>
  ['console/', 'console/pages/'].some((pages) => existsSync(join(root, 'src', folder.replace(/^console\//, pages))));

it('each folder of test is a folder of src, or is listed with its meaning', () => {
  expect(folders).toContain('alerts/triage/local');
  expect(folders.filter((folder) => !inSrc(folder)).toSorted()).toEqual(Object.keys(others));
});
