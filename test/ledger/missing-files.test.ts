import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { banner } from '../../src/ledger/banner.ts';
import { fsck } from '../../src/ledger/check/fsck.ts';
import { rebuild } from '../../src/ledger/check/rebuild.ts';
import type { LedgerKeyPurpose } from '../../src/ledger/ledger.ts';
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

test('no finding is reported for an empty log or a new log', async () => {
  expect((await (await open(await logOf(0))).status()).findings).toEqual([]);
  expect((await (await open(folder())).status()).findings).toEqual([]);
});

test('a journal truncated to its first line does not hide that the anchor is missing', async () => {
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

test.each<LedgerKeyPurpose>(['transparency-sth', 'event-signing', 'checkpoint'])(
  'without anchor and journal, the sizes in the files of a %s key reveal an older database',
  async (purpose) => {
    const dataDir = await logOf(3);
    const [file, older] = [join(dataDir, 'ledger.mdb'), join(dataDir, 'older')];
    copyFileSync(file, older);
    const ledger = await open(dataDir);
    await ledger.append(entries(3, 6));
    const key = (await ledger.keyRecords()).find((one) => one.purpose === purpose)!;
    if (purpose === 'checkpoint') await ledger.revokeKey(key.kid, 'stolen', 'system');
    else await ledger.rotateKey(purpose, 'system');
    await ledger.close();
    for (const name of ['anchor.json', 'journal.ndjson']) rmSync(join(dataDir, name));
    expect((await fsck({ dataDir })).counts).toEqual({});
    copyFileSync(older, file);
    const { health } = await (await open(dataDir)).status();
    expect(health).toMatchObject({ state: 'degraded', fault: 'rollback' });
    expect(await fsck({ dataDir })).toMatchObject({ isRolledBack: true, counts: { keys_ahead: 1 } });

    expect(await rebuild({ dataDir })).toMatchObject({ outcome: 'refused', lost: { from: 3 } });
    expect(await rebuild({ dataDir, acceptLoss: true })).toMatchObject({ outcome: 'accepted' });
    const after = await open(dataDir);
    expect((await after.status()).health).toEqual({ state: 'ok' });
    await after.close();
    expect((await fsck({ dataDir, signatures: true })).counts).toEqual({});
  },
);
