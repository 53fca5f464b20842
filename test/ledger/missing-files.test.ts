import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { banner } from '../../src/ledger/banner.ts';
import { entries, folder, open } from './fixture.ts';

async function logOf(size: number): Promise<string> {
  const dataDir = folder();
  const ledger = await open(dataDir);
  if (size > 0) await ledger.append(entries(0, size));
  await ledger.close();
  return dataDir;
}

test.each(['anchor.json', 'journal.ndjson'])(
  'a log whose %s is gone goes on, and says so until there is a new one',
  async (name) => {
    const dataDir = await logOf(3);
    rmSync(join(dataDir, name));
    const ledger = await open(dataDir);
    const status = await ledger.status();
    expect(status.health).toEqual({ state: 'ok' });
    expect(status.warnings).toEqual([expect.stringContaining(name)]);
    expect(banner(status)).toContain(status.warnings[0]);
    await ledger.append(entries(3, 4));
    await ledger.close();
    expect(existsSync(join(dataDir, name))).toBe(true);
    expect((await (await open(dataDir)).status()).warnings).toEqual([]);
  },
);

test('an anchor that is configured elsewhere is named by its path', async () => {
  const anchorPath = join(folder(), 'elsewhere.json');
  const { warnings } = await (await open(await logOf(2), { anchorPath })).status();
  expect(warnings).toEqual([expect.stringContaining(anchorPath)]);
});

test('an empty log and a new one miss nothing', async () => {
  expect((await (await open(await logOf(0))).status()).warnings).toEqual([]);
  expect((await (await open(folder())).status()).warnings).toEqual([]);
});
