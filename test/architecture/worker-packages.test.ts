/**
 * Packages that the permanent threads load at their start. Each thread loads its own modules, so an unused
 * package costs time at every start, and memory permanently: typebox alone 0.3 s and 19 MB per thread.
 */
import { expect, it } from 'vitest';
import { files, importsOf, target } from './read-imports.ts';

/** Packages that a worker may reach by static imports that are executed. */
const mayLoad: Readonly<Record<string, readonly string[]>> = {
  'workers/analytics.ts': ['@noble/hashes', 'flatbuffers', 'lmdb', 'piscina', 'tldts'],
  // Parses the XML of nmap: 2 ms and 0.3 MB per thread.
  'workers/discovery.ts': ['saxes'],
  // Rules compare registered domains.
  'workers/ingest.ts': ['@noble/hashes', 'piscina', 'tldts'],
  'workers/ledger.ts': ['canonicalize', 'jose', 'lmdb'],
  'workers/log-reader.ts': ['jose', 'lmdb'],
  'workers/merger.ts': ['@noble/hashes', 'lmdb', 'tldts'],
  'workers/projector.ts': ['@noble/hashes', 'lmdb', 'tldts'],
  // Parses rules from YAML; correlations hash long values.
  'workers/rules.ts': ['@noble/hashes', 'lmdb', 'piscina', 'tldts', 'yaml'],
  'workers/ssh-agent.ts': [],
  'workers/store.ts': ['@noble/hashes', 'lmdb', 'tldts'],
};
/** Workers that end after one task, such as a check: they may load validators. */
const passing = ['workers/backup.ts', 'workers/fsck.ts'];

/** Returns each package that the file loads, and the imports that lead to the package. */
function loadedWith(entry: string): Map<string, string> {
  const packages = new Map<string, string>();
  const ways = new Map([[entry, entry]]);
  // The loop also visits entries that it adds.
  for (const [file, way] of ways) {
    for (const one of importsOf(file)) {
      if (one.typesOnly || one.dynamic || one.from.startsWith('node:')) continue;
      const to = target(one);
      if (to === undefined) packages.set(packageOf(one.from), way);
      else if (!ways.has(to)) ways.set(to, `${way} → ${to}`);
    }
  }
  return packages;
}

/**
 * Returns the package of a specifier: `ajv` for `ajv/dist/2020.js`, `@noble/hashes` for
 * `@noble/hashes/sha2.js`.
 */
function packageOf(specifier: string): string {
  return /^(@[^/]+\/)?[^/]+/.exec(specifier)![0];
}

it.each(Object.entries(mayLoad))('%s loads only the packages that it needs', (worker, may) => {
  const needless = [...loadedWith(worker)].filter(([name]) => !may.includes(name));
  expect(needless.map(([name, way]) => `${name} by ${way}`)).toEqual([]);
});

it('every worker is listed, either with its packages or as short-lived', () => {
  const workers = files.filter((file) => file.startsWith('workers/'));
  expect([...Object.keys(mayLoad), ...passing].toSorted()).toEqual(workers);
});

it('the check finds the packages that a worker loads', () => {
  expect([...loadedWith('workers/backup.ts').keys()]).toEqual(expect.arrayContaining(['ajv', 'typebox', 'lmdb']));
});
