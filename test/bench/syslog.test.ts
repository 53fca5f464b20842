/** The comparison with syslog daemons, in a short run. scripts/with-log-shippers.sh fetches the real programs. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { run } from '../../bench/syslog.ts';
import { shippers } from '../../scripts/log-shippers.ts';

const unpacked = process.env.LOG_SHIPPERS;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'candor-bench-'));
  mkdirSync(join(folder, 'temporary'));
  vi.stubEnv('TMPDIR', join(folder, 'temporary'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

/** Returns the temporary files of the run. */
const left = () => readdirSync(join(folder, 'temporary')).filter((name) => name.startsWith('candor-'));

test.skipIf(unpacked === undefined)(
  'each daemon is measured with selected and with all fields, and no temporary files remain',
  async () => {
    const rows = await run(2, 1, 500);
    for (const variant of shippers.flatMap((name) =>
      ['selected', 'all'].map((fields) => `${name}, ${fields} fields`),
    )) {
      const its = rows.filter((row) => row.variant === variant);
      expect(its.map(({ unit }) => unit)).toEqual(['lines/s', 'µs', 'MiB RssAnon, peak', 'bytes']);
      for (const { unit, value } of its) if (unit !== 'µs') expect(value, variant + unit).toBeGreaterThan(0);
    }
    expect(left()).toEqual([]);
  },
);

test('if no daemon is installed, a row for each daemon says "not measured", and Candor is measured', async () => {
  vi.stubEnv('LOG_SHIPPERS', folder);
  vi.stubEnv('PATH', folder);
  const rows = await run(1, 1, 500);
  expect(rows.filter(({ note }) => note?.startsWith('not measured')).map(({ variant }) => variant)).toEqual(shippers);
  expect(rows.find(({ variant, unit }) => variant === 'candor' && unit === 'lines/s')?.value).toBeGreaterThan(0);
  expect(left()).toEqual([]);
});
