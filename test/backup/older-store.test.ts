/**
 * An older siem.mdb with a log that has more entries is reported until it is accepted or the newer file is
 * restored.
 */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { acceptOlderStore, continueCopy } from '../../src/ledger/lives/continue-copy.ts';
import { readLogPositions } from '../../src/store/log-positions.ts';
import { backUp, newFolder, openParts, type Parts, restore } from './fixture.ts';
import { alertsOf } from './writers.ts';

async function addAlerts(parts: Parts, from: number): Promise<void> {
  await parts.store.commit(alertsOf(from, 3));
  parts.pump.wake();
  await parts.pump.idle();
}

/**
 * Prepares a folder: logs three alerts, copies siem.mdb and siem.mdb.json, then runs `then`. `putBack` restores a file
 * from the copy.
 */
async function folderAfter(then: (parts: Parts) => Promise<unknown>) {
  const [dataDir, older] = [newFolder(), newFolder()];
  const first = await openParts(dataDir);
  await addAlerts(first, 0);
  await first.close();
  for (const name of ['siem.mdb', 'siem.mdb.json']) cpSync(join(dataDir, name), join(older, name));
  const second = await openParts(dataDir);
  await then(second);
  await second.close();
  return { dataDir, putBack: (name: string) => cpSync(join(older, name), join(dataDir, name)) };
}

/** Starts the parts, and returns the finding about the age of siem.mdb, if any. */
async function reported(dataDir: string, meanwhile?: (parts: Parts) => Promise<unknown>) {
  const parts = await openParts(dataDir);
  const { health, findings } = await parts.ledger.status();
  expect(health).toEqual({ state: 'ok' });
  await meanwhile?.(parts);
  await parts.close();
  return findings.find(({ code }) => code === 'store_older')?.message;
}

const moreAlerts = (parts: Parts) => addAlerts(parts, 10);
/** Adds an audit record, which is stored but not logged. */
const lowAlert = (parts: Parts) =>
  parts.store.addAudit([{ time: '2026-11-21T08:00:00.000Z', id: crypto.randomUUID() } as never]);

describe('an older copy of siem.mdb', () => {
  test('is reported at each start until the operator accepts the older copy, even if siem.mdb.json is removed', async () => {
    const { dataDir, putBack } = await folderAfter(moreAlerts);
    expect(await reported(dataDir)).toBeUndefined();
    putBack('siem.mdb');
    expect(await reported(dataDir)).toContain('siem.mdb is an older copy');
    rmSync(join(dataDir, 'siem.mdb.json'));
    expect(await reported(dataDir)).toContain('`candor rebuild --accept-older-store`');
    await acceptOlderStore({ dataDir });
    expect(await reported(dataDir)).toBeUndefined();
    expect(await reported(dataDir, (parts) => addAlerts(parts, 20))).toBeUndefined();
    putBack('siem.mdb');
    expect(await reported(dataDir)).toContain('siem.mdb is an older copy');
    expect(await reported(dataDir, (parts) => addAlerts(parts, 30))).toContain('is an older copy');
    expect(await reported(dataDir)).toContain('is an older copy');
  });

  test('is no longer reported once the newer file is restored; an older file with later changes is still reported', async () => {
    const { dataDir, putBack } = await folderAfter(moreAlerts);
    const newer = readFileSync(join(dataDir, 'siem.mdb'));
    expect(await reported(dataDir)).toBeUndefined();
    putBack('siem.mdb');
    for (let run = 0; run < 4; run++) expect(await reported(dataDir, lowAlert)).toContain('is an older copy');
    writeFileSync(join(dataDir, 'siem.mdb'), newer);
    expect(await reported(dataDir)).toBeUndefined();
    expect(await reported(dataDir, moreAlerts)).toBeUndefined();
  });

  test('is reported even if nothing has been logged since the copy', async () => {
    const { dataDir, putBack } = await folderAfter(async (parts) => {
      for (let n = 0; n < 3; n++) await lowAlert(parts);
    });
    putBack('siem.mdb');
    expect(await reported(dataDir)).toMatch(/it has \d+ transactions, but at least \d+ were committed/);
  });

  test('is reported because of missing entries if siem.mdb.json is older as well, or missing', async () => {
    const { dataDir, putBack } = await folderAfter(moreAlerts);
    putBack('siem.mdb');
    putBack('siem.mdb.json');
    expect(await reported(dataDir)).toContain('the log has entries 3 to 5, but entry 3 is not recorded in siem.mdb');
    putBack('siem.mdb');
    rmSync(join(dataDir, 'siem.mdb.json'));
    expect(await reported(dataDir)).toContain('the log has entries 3 to 5');
  });
});

describe('no older copy of siem.mdb is reported', () => {
  test('after a crash between appending entries to the log and recording their positions in siem.mdb', async () => {
    const { dataDir } = await folderAfter(async (parts) => {
      await parts.store.commit(alertsOf(10, 3));
      await parts.ledger.append(await parts.store.outbox(10));
      await parts.pump.close();
    });
    expect(await reported(dataDir)).toBeUndefined();
  });

  test('because of log entries that siem.mdb did not cause', async () => {
    const { dataDir } = await folderAfter(async (parts) => {
      await backUp(parts);
      await parts.ledger.rotateKey('event-signing', 'system');
    });
    expect(await reported(dataDir)).toBeUndefined();
  });

  test('after a restore, although the restored copy has fewer transactions, and in a later life', async () => {
    let backup = '';
    const { dataDir } = await folderAfter(async (parts) => {
      backup = (await backUp(parts)).attributes.path!;
      await moreAlerts(parts);
    });
    await restore(backup, dataDir, { replace: true });
    expect(await reported(dataDir, (parts) => addAlerts(parts, 30))).toBeUndefined();
    await continueCopy({ dataDir, logPositions: () => readLogPositions(dataDir) });
    expect(await reported(dataDir, (parts) => addAlerts(parts, 40))).toBeUndefined();
    expect(await reported(dataDir)).toBeUndefined();
  });

  test('if siem.mdb.json is damaged, or siem.mdb is new', async () => {
    const { dataDir } = await folderAfter(moreAlerts);
    const record = join(dataDir, 'siem.mdb.json');
    writeFileSync(record, readFileSync(record, 'utf8').replace(/:(\d)/, ':9$1'));
    expect(await reported(dataDir)).toBeUndefined();
    rmSync(join(dataDir, 'siem.mdb'));
    expect(await reported(dataDir)).toBeUndefined();
    expect(await reported(dataDir, (parts) => addAlerts(parts, 50))).toBeUndefined();
    expect(await reported(dataDir)).toBeUndefined();
  });
});
