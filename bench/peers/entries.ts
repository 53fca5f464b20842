import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import * as candor from './candor.ts';
import * as clickhouse from './clickhouse.ts';
import type { Contestant } from './contestant.ts';
import * as duckdb from './duckdb.ts';
import { startInProcess } from './in-process.ts';
import { installed } from './packages.ts';
import * as postgresql from './postgresql.ts';

/** Who takes part, in the order of every round. */
export interface Entry {
  readonly engine: 'candor' | 'ClickHouse' | 'DuckDB' | 'PostgreSQL';
  readonly variant: string;
  /** Part of a round's lines that it is given: less for what is much slower. */
  readonly share: number;
  /** Whether it promises that what it has taken outlives a power cut. */
  readonly durable: boolean;
  /** Whether it commits each 10,000 lines, as a body is acknowledged. */
  readonly perBody: boolean;
  /** Undefined where it isn't installed and can't be. @throws Error that says why it does not start */
  start(folder: string): Promise<Contestant | undefined>;
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
    ([variant, note]): Entry => ({
      engine,
      variant,
      share: 1,
      durable: engine === 'DuckDB' || variant.endsWith('fsync'),
      perBody: !variant.includes('one INSERT'),
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
  ([variant, note]): Entry => ({
    engine: 'PostgreSQL',
    variant,
    share: 1 / 4,
    durable: true,
    perBody: false,
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
