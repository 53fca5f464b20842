import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import * as candor from './candor.ts';
import * as clickhouse from './clickhouse.ts';
import * as duckdb from './duckdb.ts';
import type { Variant } from './engine.ts';
import { startInProcess } from './in-process.ts';
import { installed } from './packages.ts';
import type { Peer } from './peer.ts';
import * as postgresql from './postgresql.ts';

/** A participant. In every round, participants run in the order of `entries`. */
export interface Entry extends Omit<Variant, 'note'> {
  readonly engine: 'candor' | 'ClickHouse' | 'DuckDB' | 'PostgreSQL';
  readonly variant: string;
  /** Share of a round's lines for this participant: less for much slower engines. */
  readonly share: number;
  /** Starts the participant; undefined if it cannot be installed. @throws Error with the reason if it does not start */
  start(folder: string): Promise<Peer | undefined>;
}

const candors = (['with detection', 'without detection'] as const).map(
  (variant): Entry => ({
    engine: 'candor',
    variant,
    share: 1,
    durable: true,
    perBody: true,
    start: () => candor.startCandor(variant),
  }),
);

const embedded = [
  { engine: 'ClickHouse', key: 'clickhouse', variants: clickhouse.variants },
  { engine: 'DuckDB', key: 'duckdb', variants: duckdb.variants },
] as const;

const embeddedEntries = embedded.flatMap(({ engine, key, variants }) =>
  Object.entries(variants).map(
    ([variant, { note, durable, perBody }]): Entry => ({
      engine,
      variant,
      share: 1,
      durable,
      perBody,
      async start(folder) {
        const packages = await installed(key);
        return startInProcess({
          engine,
          variant,
          packages,
          folder: emptyFolder(folder, `${key} ${variant}`),
          module: `./${key}.ts`,
          note: `in its process, lines from files; ${note}`,
        });
      },
    }),
  ),
);

const servers = Object.entries(postgresql.variants).map(
  ([variant, { note, durable, perBody }]): Entry => ({
    engine: 'PostgreSQL',
    variant,
    share: 1 / 4,
    durable,
    perBody,
    async start(folder) {
      const packages = postgresql.programs();
      if (packages === undefined) return undefined;
      return startInProcess({
        engine: 'PostgreSQL',
        variant,
        packages,
        folder: emptyFolder(folder, 'postgresql'),
        module: './postgresql.ts',
        note: `a quarter of the lines; ${note}`,
      });
    },
  }),
);

export const entries: readonly Entry[] = [...candors, ...embeddedEntries, ...servers];

function emptyFolder(folder: string, name: string): string {
  const path = join(folder, name.replaceAll(/[^a-z_]+/gi, '-'));
  mkdirSync(path);
  return path;
}
