import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { files, type Import, importsOf, root, target } from './read-imports.ts';

interface Layer {
  readonly may: readonly string[];
  readonly types?: readonly string[];
}

/**
 * Who may import whom. `types` are layers of which only types may be imported: interfaces that something else
 * implements. What is missing here may import everything.
 */
const layers: Record<string, Layer> = {
  contract: { may: ['errors', 'limits', 'uuid'] },
  config: {
    may: [
      'contract',
      'errors',
      'limits',
      'durable-file',
      'read-file',
      'unique-keys',
      'write-errors',
      'data-folder-files',
      'volume-turns',
    ],
  },
  tlog: { may: [] },
  sketch: { may: [] },
  admission: { may: [] },
  events: { may: ['sketch', 'contract', 'errors', 'limits', 'uuid'] },
  rpc: { may: ['errors', 'limits'] },
  sha256: { may: [], types: ['tlog'] },
  'ssh-agent': { may: ['limits', 'worker-url'] },
  ledger: {
    may: [
      'sketch',
      'tlog',
      'ssh-agent',
      'rpc',
      'contract',
      'errors',
      'limits',
      'lmdb',
      'uuid',
      'sha256',
      'ed25519',
      'durable-file',
      'free-bytes',
      'read-file',
      'worker-url',
      'write-errors',
    ],
  },
  witness: {
    may: [
      'tlog',
      'contract',
      'errors',
      'limits',
      'sha256',
      'ed25519',
      'durable-file',
      'data-folder',
      'read-file',
    ],
    types: ['ledger'],
  },
  timestamps: { may: ['tlog', 'contract', 'errors', 'limits', 'sha256', 'read-file'], types: ['ledger'] },
  ingest: { may: ['events', 'inventory', 'contract', 'errors', 'limits'] },
  detect: { may: ['sketch', 'events', 'contract', 'limits'] },
  inventory: { may: ['sketch', 'events', 'contract', 'errors', 'limits'] },
  topology: { may: ['sketch', 'inventory', 'events', 'contract', 'errors', 'limits'] },
  rollups: { may: ['inventory', 'events', 'contract', 'errors', 'limits'] },
  triage: { may: ['contract'] },
  'triage-endpoint': { may: ['triage', 'events', 'contract', 'limits'], types: ['store'] },
  store: {
    may: [
      'sketch',
      'triage',
      'detect',
      'events',
      'inventory',
      'topology',
      'rollups',
      'contract',
      'rpc',
      'errors',
      'limits',
      'lmdb',
      'free-bytes',
      'uuid',
      // The store builds the tree over the receipts that one entry covers.
      'tlog',
      'sha256',
    ],
  },
  analytics: {
    may: ['contract', 'events', 'inventory', 'store', 'topology', 'rollups', 'errors', 'limits'],
  },
  backup: {
    may: [
      'store',
      'ledger',
      'contract',
      'events',
      'tlog',
      'errors',
      'limits',
      'uuid',
      'durable-file',
      'data-folder',
      'check-folder',
      'read-file',
      'volume-turns',
      'write-errors',
    ],
  },
  rules: {
    may: ['detect', 'events', 'contract', 'store', 'rpc', 'errors', 'limits', 'uuid', 'read-file'],
  },
  discovery: {
    may: ['admission', 'contract', 'events', 'rpc', 'errors', 'limits', 'worker-url'],
    types: ['store'],
  },
  'data-folder': { may: ['private-files', 'data-folder-files', 'write-errors'] },
  'data-folder-files': { may: ['file-kind'] },
  lmdb: { may: ['file-kind'] },
  'volume-turns': { may: ['errors', 'limits'] },
  lifecycle: { may: ['limits', 'volume-turns'] },
  requirements: { may: ['config', 'http', 'witness', 'check-folder', 'volume-turns'] },
  limits: { may: [], types: ['limit-meanings'] },
  'write-errors': { may: ['errors'] },
  announce: { may: ['ledger', 'version'], types: ['config'] },
  auth: {
    may: [
      'contract',
      'errors',
      'limits',
      'durable-file',
      'read-file',
      'unique-keys',
      'write-errors',
      'keyed-slots',
      'address-group',
    ],
    types: ['store', 'ledger'],
  },
  http: {
    may: [
      'admission',
      'contract',
      'sha256',
      'events',
      'topology',
      'tlog',
      'errors',
      'limits',
      'limit-meanings',
      'uuid',
      'keyed-slots',
      'address-group',
      'read-file',
      'volume-turns',
    ],
    types: [
      'store',
      'ledger',
      'auth',
      'ingest',
      'rpc',
      'analytics',
      'config',
      'backup',
      'discovery',
      'rules',
    ],
  },
  client: { may: ['contract', 'events', 'tlog', 'errors', 'limits'] },
  console: { may: ['client', 'contract', 'events', 'tlog', 'errors', 'limits'] },
};

/** The one file that may import a vendor's package. */
const vendors = {
  'uWebSockets.js': 'src/http/uws.ts',
  piscina: 'src/rpc/pool.ts',
  lmdb: 'src/lmdb.ts',
  saxes: 'src/discovery/xml.ts',
  flatbuffers: 'src/analytics/arrow-flatbuffer.ts',
  uplot: 'src/console/ui/chart.tsx',
  '@tanstack/virtual-core': 'src/console/ui/virtual-rows.ts',
} as const;

const imports = files.flatMap(importsOf);
const shown = ({ file, from }: Import) => `${file} imports ${from}`;

/** `src/http/live/hub.ts` is of layer `http`, `src/limits.ts` of layer `limits`. */
function layerOf(file: string): string | undefined {
  return /^src\/([^/]+?)(?:\.ts|\/.*)$/.exec(file)?.[1];
}

/** A file directly under `src/` is a layer of its own; all but the composition root import nothing of ours. */
const leaves = files.map((file) => /^src\/([^/]+)\.ts$/.exec(file)?.[1]).filter((leaf) => leaf !== undefined);
const alone = Object.fromEntries(leaves.filter((leaf) => leaf !== 'main').map((leaf) => [leaf, { may: [] }]));
const table: Record<string, Layer> = { ...alone, ...layers };

describe('the layers', () => {
  it('are read from the sources', () => {
    expect(files).toContain('src/contract/routes.ts');
    expect(imports.some(({ typesOnly }) => typesOnly)).toBe(true);
    expect(imports.some(({ from }) => from === 'typebox')).toBe(true);
  });

  it.each(Object.entries(table))('%s imports only what it may', (layer, { may, types = [] }) => {
    const wrong = imports.filter((one) => {
      const to = target(one);
      if (layerOf(one.file) !== layer || to === undefined) return false;
      const into = layerOf(to);
      if (into === undefined) return true;
      return into !== layer && !may.includes(into) && !(one.typesOnly && types.includes(into));
    });
    expect(wrong.map(shown)).toEqual([]);
  });

  it('have a row for every folder of src but the two that put things together', () => {
    const named = new Set(files.map(layerOf).filter((layer) => layer !== undefined));
    const free = new Set(['main', 'cli']);
    expect([...named].filter((layer) => !free.has(layer) && !Object.hasOwn(table, layer))).toEqual([]);
  });

  it('name no worker but by its URL', () => {
    const wrong = imports.filter((one) => one.file.startsWith('src/') && target(one)?.startsWith('workers/'));
    expect(wrong.filter(({ typesOnly }) => !typesOnly).map(shown)).toEqual([]);
  });

  it('import nothing outside src and workers', () => {
    const wrong = imports.filter((one) => !/^(src|workers)\//.test(target(one) ?? 'src/'));
    expect(wrong.filter((one) => !target(one)?.endsWith('package.json')).map(shown)).toEqual([]);
  });
});

it.each(Object.entries(vendors))('%s is imported in %s only', (vendor, only) => {
  const users = imports
    .filter(({ from }) => from === vendor || from.startsWith(`${vendor}/`))
    .map(({ file }) => file);
  expect([...new Set(users)].filter((file) => file !== only)).toEqual([]);
});

it('client, console, contract and tlog run in a browser: they import nothing of Node', () => {
  const wrong = imports.filter(
    ({ file, from }) => /^src\/(client|console|contract|tlog)\//.test(file) && from.startsWith('node:'),
  );
  expect(wrong.map(shown)).toEqual([]);
});

it('of events, client and console have what reads addresses and ids, and that imports nothing of Node', () => {
  const of = imports.filter(({ file }) => /^src\/(client|console)\//.test(file)).map(target);
  const used = [...new Set(of.filter((file) => file?.startsWith('src/events/')))].sort();
  expect(used).toEqual(['src/events/event-id.ts', 'src/events/ip.ts']);
  const theirs = imports.filter(({ file, typesOnly }) => used.includes(file) && !typesOnly).map(target);
  expect(theirs.sort()).toEqual(['src/sketch/hash.ts', 'src/uuid.ts']);
  expect(imports.filter(({ file }) => theirs.includes(file)).map(shown)).toEqual([]);
});

it('Node is imported as node:, so that no package can stand in for it', () => {
  const bare =
    /^(assert|buffer|child_process|crypto|events|fs|http|https|net|os|path|stream|timers|tls|url|util|worker_threads|zlib)(\/|$)/;
  expect(imports.filter(({ from }) => bare.test(from)).map(shown)).toEqual([]);
});

it('a worker connects, exposes, and does nothing else', () => {
  const workers = files.filter((file) => file.startsWith('workers/'));
  for (const file of workers) {
    const lines = readFileSync(join(root, file), 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '');
    expect(lines.length, file).toBeLessThanOrEqual(40);
    expect(importsOf(file).map(shown).join('\n')).toMatch(
      // An ssh-agent is waited for without an event loop, which src/rpc needs.
      /rpc\/(expose|pool)\.ts|ssh-agent\/blocking-agent\.ts/,
    );
  }
  const strange = imports.filter(
    (one) =>
      one.file.startsWith('workers/') &&
      !target(one)?.startsWith('src/') &&
      one.from !== 'node:worker_threads',
  );
  expect(strange.map(shown)).toEqual([]);
});

it('no file is named after nothing in particular', () => {
  const vague = /(^|\/)(utils?|helpers?|managers?|misc)(\.|\/|-)/;
  expect(files.filter((file) => vague.test(file))).toEqual([]);
});
