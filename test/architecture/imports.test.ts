import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { layers } from './layers.ts';
import { files, type Import, importsOf, root, target } from './read-imports.ts';

/** For each vendor package, the only file that may import it. */
const vendors = {
  'uWebSockets.js': 'src/http/uws.ts',
  piscina: 'src/rpc/pool.ts',
  lmdb: 'src/database/lmdb.ts',
  saxes: 'src/discovery/xml.ts',
  flatbuffers: 'src/analytics/arrow/flatbuffer.ts',
  uplot: 'src/console/ui/chart.tsx',
  '@tanstack/virtual-core': 'src/console/ui/virtual-rows.ts',
} as const;

const imports = files.flatMap(importsOf);
const shown = ({ file, from }: Import) => `${file} imports ${from}`;

/** Returns the layer of a file: `http` for `src/http/live/hub.ts`, `limits` for `src/limits.ts`. */
function layerOf(file: string): string | undefined {
  return /^src\/([^/]+?)(?:\.ts|\/.*)$/.exec(file)?.[1];
}

describe('the layers', () => {
  it('are checked against imports that are read from the sources', () => {
    expect(files).toContain('src/contract/routes.ts');
    expect(imports.some(({ typesOnly }) => typesOnly)).toBe(true);
    expect(imports.some(({ from }) => from === 'typebox')).toBe(true);
  });

  it.each(Object.entries(layers))(
    'include %s, whose imports are only from folders that it may import',
    (layer, { may, types = [] }) => {
      const wrong = imports.filter((one) => {
        const to = target(one);
        if (layerOf(one.file) !== layer || to === undefined) return false;
        const into = layerOf(to);
        if (into === undefined) return true;
        return into !== layer && !may.includes(into) && !(one.typesOnly && types.includes(into));
      });
      expect(wrong.map(shown)).toEqual([]);
    },
  );

  it('may import values only from layers in earlier rows of the table', () => {
    const order = Object.keys(layers);
    const isAbove = (into: string, row: number) => order.includes(into) && order.indexOf(into) < row;
    const wrong = order.flatMap((layer, row) =>
      layers[layer]!.may.filter((into) => !isAbove(into, row)).map((into) => `${layer}: ${into}`),
    );
    expect(wrong).toEqual([]);
  });

  it('have a row for every folder of src except the two folders that compose all other folders', () => {
    const named = new Set(files.map(layerOf).filter((layer) => layer !== undefined));
    const free = new Set(['main', 'cli']);
    expect([...named].filter((layer) => !free.has(layer) && !Object.hasOwn(layers, layer))).toEqual([]);
  });

  it('refer to workers by URL only', () => {
    const wrong = imports.filter((one) => one.file.startsWith('src/') && target(one)?.startsWith('workers/'));
    expect(wrong.filter(({ typesOnly }) => !typesOnly).map(shown)).toEqual([]);
  });

  it('do not import files outside src and workers', () => {
    const wrong = imports.filter((one) => !/^(src|workers)\//.test(target(one) ?? 'src/'));
    expect(wrong.filter((one) => !target(one)?.endsWith('package.json')).map(shown)).toEqual([]);
  });
});

it.each(Object.entries(vendors))('%s is imported in %s only', (vendor, only) => {
  const users = imports.filter(({ from }) => from === vendor || from.startsWith(`${vendor}/`)).map(({ file }) => file);
  expect([...new Set(users)].filter((file) => file !== only)).toEqual([]);
});

it('client, console, contract and tlog run in a browser: they do not import Node modules', () => {
  const wrong = imports.filter(
    ({ file, from }) => /^src\/(client|console|contract|tlog)\//.test(file) && from.startsWith('node:'),
  );
  expect(wrong.map(shown)).toEqual([]);
});

it('the parsers of addresses, scans and event ids that client and console use do not import Node modules', () => {
  const of = imports.filter(({ file }) => /^src\/(client|console)\//.test(file)).map(target);
  const used = [...new Set(of.filter((file) => /^src\/(events|net)\//.test(file ?? '')))].sort();
  expect(used).toEqual(['src/events/event-id.ts', 'src/net/ip.ts', 'src/net/scan-ports.ts', 'src/net/scan-targets.ts']);
  const theirs = imports.filter(({ file, typesOnly }) => used.includes(file) && !typesOnly).map(target);
  const others = [...new Set(theirs)].filter((file) => !used.includes(file)).sort();
  expect(others).toEqual(['src/errors.ts', 'src/limits.ts', 'src/sketch/hash.ts', 'src/uuid.ts']);
  expect(imports.filter(({ file }) => others.includes(file)).map(shown)).toEqual([]);
});

it('Node modules are imported with the prefix node:, so that no package can replace them', () => {
  const bare =
    /^(assert|buffer|child_process|crypto|events|fs|http|https|net|os|path|stream|timers|tls|url|util|worker_threads|zlib)(\/|$)/;
  expect(imports.filter(({ from }) => bare.test(from)).map(shown)).toEqual([]);
});

it('a worker file has at most 40 lines, and only exposes functions from src', () => {
  const workers = files.filter((file) => file.startsWith('workers/'));
  for (const file of workers) {
    const lines = readFileSync(join(root, file), 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '');
    expect(lines.length, file).toBeLessThanOrEqual(40);
    expect(importsOf(file).map(shown).join('\n')).toMatch(
      // The ssh-agent worker does not use src/rpc, because its callers block their event loop while they wait.
      /rpc\/(expose|pool)\.ts|ssh-agent\/blocking-agent\.ts|store\/projector-thread\.ts/,
    );
  }
  const strange = imports.filter(
    (one) => one.file.startsWith('workers/') && !target(one)?.startsWith('src/') && one.from !== 'node:worker_threads',
  );
  expect(strange.map(shown)).toEqual([]);
});

it('no file has a vague name', () => {
  const vague = /(^|\/)(utils?|helpers?|managers?|misc)(\.|\/|-)/;
  expect(files.filter((file) => vague.test(file))).toEqual([]);
});
