import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { banner } from '../../src/ledger/banner.ts';
import { entries, folder, open } from './fixture.ts';

async function logOf(size: number): Promise<string> {
  const dataDir = folder();
  const ledger = await open(dataDir);
  if (size > 0) await ledger.append(entries(0, size));
  await ledger.close();
  await (await open(dataDir)).close(); // from now on the journal has a head
  return dataDir;
}

test.each(['anchor.json', 'journal.ndjson'])(
  'a log without its %s continues with a finding for the whole run, which the journal records',
  async (name) => {
    const dataDir = await logOf(3);
    rmSync(join(dataDir, name));
    const ledger = await open(dataDir);
    const status = await ledger.status();
    expect(status.health).toEqual({ state: 'ok' });
    const code = name === 'anchor.json' ? 'anchor_missing' : 'journal_missing';
    expect(status.findings).toMatchObject([{ code, message: expect.stringContaining(name) }]);
    expect(banner(status)).toContain(code);
    await ledger.append(entries(3, 4));
    expect((await ledger.status()).findings).toHaveLength(1);
    await ledger.close();
    expect(existsSync(join(dataDir, name))).toBe(true);
    const last = readFileSync(join(dataDir, 'journal.ndjson'), 'utf8').trim().split('\n').at(-1)!;
    expect(JSON.parse(last)).toMatchObject({ event: 'start', findings: [code] });
    expect((await (await open(dataDir)).status()).findings).toEqual([]);
  },
);

test('the finding names the configured path of the anchor', async () => {
  const anchorPath = join(folder(), 'elsewhere.json');
  const { findings } = await (await open(await logOf(2), { anchorPath })).status();
  expect(findings).toMatchObject([{ message: expect.stringContaining(anchorPath) }]);
});

test('an empty log and a new one have no finding', async () => {
  expect((await (await open(await logOf(0))).status()).findings).toEqual([]);
  expect((await (await open(folder())).status()).findings).toEqual([]);
});

test('a journal cut to its first line does not hide that the anchor is missing', async () => {
  const dataDir = folder();
  const now = BigInt(Date.now()) * 1_000_000n;
  const ledger = await open(dataDir, { clock: () => now });
  await ledger.close();
  const later = await open(dataDir, { clock: () => now + 3600n * 1_000_000_000n });
  await later.append(entries(0, 3, Number(now / 1_000_000n) + 3_600_000));
  await later.close();
  const journal = join(dataDir, 'journal.ndjson');
  writeFileSync(journal, `${readFileSync(journal, 'utf8').split('\n')[0]}\n`);
  rmSync(join(dataDir, 'anchor.json'));
  const clock = () => now + 3601n * 1_000_000_000n;
  const codes = (await (await open(dataDir, { clock })).status()).findings.map(({ code }) => code);
  expect(codes).toEqual(['anchor_missing']);
});
