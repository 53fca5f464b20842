/**
 * What the threads that run all the time load at their start. Each loads its modules anew, so a package that a thread
 * has no use for costs every start, and memory for good: typebox alone 0.3 s and 19 MB a thread.
 */
import { expect, it } from 'vitest';
import { files, importsOf, target } from './read-imports.ts';

/** Packages that a worker may reach by static imports that run. */
const mayLoad: Readonly<Record<string, readonly string[]>> = {
  'workers/analytics.ts': ['@noble/hashes', 'flatbuffers', 'lmdb', 'piscina', 'tldts'],
  // Reads the XML of nmap: 2 ms and 0.3 MB a thread.
  'workers/discovery.ts': ['saxes'],
  // Rules ask for registered domains.
  'workers/ingest.ts': ['@noble/hashes', 'piscina', 'tldts'],
  'workers/ledger.ts': ['canonicalize', 'jose', 'lmdb'],
  'workers/log-reader.ts': ['jose', 'lmdb'],
  // It parses rules, which are YAML; correlations hash what is long.
  'workers/rules.ts': ['@noble/hashes', 'lmdb', 'piscina', 'tldts', 'yaml'],
  'workers/ssh-agent.ts': [],
  'workers/store.ts': ['@noble/hashes', 'lmdb', 'tldts'],
};
/** Workers of one task, such as a check, after which they end: they may validate what they read. */
const passing = ['workers/backup.ts', 'workers/fsck.ts'];

/** Each package that is loaded with the file, and the imports that lead to it. */
function loadedWith(entry: string): Map<string, string> {
  const packages = new Map<string, string>();
  const ways = new Map([[entry, entry]]);
  // What is added meanwhile is looked at, too.
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

/** `ajv/dist/2020.js` is of `ajv`, `@noble/hashes/sha2.js` of `@noble/hashes`. */
function packageOf(specifier: string): string {
  return /^(@[^/]+\/)?[^/]+/.exec(specifier)![0];
}

it.each(Object.entries(mayLoad))('%s loads only the packages that it needs', (worker, may) => {
  const needless = [...loadedWith(worker)].filter(([name]) => !may.includes(name));
  expect(needless.map(([name, way]) => `${name} by ${way}`)).toEqual([]);
});

it('every worker is of one of these kinds', () => {
  const workers = files.filter((file) => file.startsWith('workers/'));
  expect([...Object.keys(mayLoad), ...passing].toSorted()).toEqual(workers);
});

it('finds what a worker loads', () => {
  expect([...loadedWith('workers/backup.ts').keys()]).toEqual(
    expect.arrayContaining(['ajv', 'typebox', 'lmdb']),
  );
});
