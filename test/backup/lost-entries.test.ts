import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { backUpStopped } from '../../src/backup/stopped.ts';
import { beginAnew } from '../../src/ledger/check/begin-anew.ts';
import { rebuild } from '../../src/ledger/check/rebuild.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { logLostAgain } from '../../src/ledger/lost-entries.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { openStore } from '../../src/store/lmdb/store.ts';
import type { AlertUpdate } from '../../src/store/store.ts';
import { backUp, newFolder, openParts, type Parts } from './fixture.ts';
import { checkAlerts } from './logged-alerts.ts';
import { alertsOf } from './writers.ts';

async function addAlerts(parts: Parts, from: number, count: number): Promise<void> {
  await parts.store.commit(alertsOf(from, count));
  parts.pump.poke();
  await parts.pump.idle();
}

/** A stopped service with 8 alerts, whose ledger.mdb is one of the time when there were 5. The newer one lies in `kept`. */
async function wentBack() {
  const dataDir = newFolder();
  const kept = newFolder();
  const first = await openParts(dataDir);
  await addAlerts(first, 0, 5);
  await first.close();
  cpSync(join(dataDir, 'ledger.mdb'), join(kept, 'older.mdb'));
  const second = await openParts(dataDir);
  await addAlerts(second, 5, 3);
  await second.close();
  cpSync(join(dataDir, 'ledger.mdb'), join(kept, 'newer.mdb'));
  const put = (name: 'older' | 'newer') => {
    rmSync(join(dataDir, 'ledger.mdb-lock'), { force: true });
    cpSync(join(kept, `${name}.mdb`), join(dataDir, 'ledger.mdb'));
  };
  put('older');
  return { dataDir, put };
}

/** Opens it, twice: all eight alerts are in the log, once each, and a backup is whole. */
async function checkGoesOn(dataDir: string, entries: number): Promise<void> {
  for (const size of [entries, entries + 1]) {
    const parts = await openParts(dataDir);
    await parts.pump.idle();
    expect(parts.findings).toEqual([]);
    expect((await parts.ledger.status()).size).toBe(size);
    expect(await checkAlerts(parts)).toBe(8);
    const { attributes } = await backUp(parts);
    expect(attributes).toMatchObject({ state: 'completed', alerts: 8 });
    await parts.close();
  }
}

test('after a loss that was accepted, alerts whose entries are gone are logged again, once', async () => {
  const { dataDir } = await wentBack();
  expect(await rebuild({ dataDir, acceptLoss: true })).toMatchObject({ outcome: 'accepted' });
  await checkGoesOn(dataDir, 9);
});

test('in a log that was begun anew every alert is logged again, once', async () => {
  const { dataDir } = await wentBack();
  await beginAnew({ dataDir, evenIfThere: true });
  await checkGoesOn(dataDir, 9);
});

test('a start that is cut short between logging again and appending leaves each to be logged once', async () => {
  const { dataDir } = await wentBack();
  await rebuild({ dataDir, acceptLoss: true });
  const ledger = await openLedger({ dataDir });
  const store = openStore({ dataDir, alertWindowMs: 3_600_000 });
  let asked = 0;
  const dying: Pick<Ledger, 'leaf' | 'status'> = {
    status: () => ledger.status(),
    leaf: (query) => (asked++ < 2 ? ledger.leaf(query) : Promise.reject(new Error('died'))),
  };
  const seen: AlertUpdate[] = [];
  await expect(logLostAgain(store, dying, (updates) => seen.push(...updates), 2)).rejects.toThrow('died');
  expect(seen.map(({ alert }) => alert.transparency)).toEqual([undefined, undefined]);
  expect((await store.status()).outbox).toBe(2);
  await store.close();
  await ledger.close();
  await checkGoesOn(dataDir, 9);
});

test('a stopped service is backed up after a loss that was accepted, before any start', async () => {
  const { dataDir } = await wentBack();
  await rebuild({ dataDir, acceptLoss: true });
  const { attributes } = await backUpStopped({
    dataDir,
    dir: newFolder(),
    anchorPath: undefined,
    keyPassphrase: undefined,
    alertWindowMs: 3_600_000,
    productVersion: '0.0.0-test',
  });
  expect(attributes).toMatchObject({ state: 'completed', alerts: 8 });
});

test('as long as nobody accepted the loss, alerts keep the places that a restore brings back', async () => {
  const { dataDir, put } = await wentBack();
  const degraded = await openParts(dataDir);
  expect((await degraded.ledger.status()).health).toMatchObject({ state: 'degraded', fault: 'rollback' });
  await degraded.pump.idle();
  expect((await degraded.store.status()).outbox).toBe(0);
  await degraded.close();
  put('newer');
  await checkGoesOn(dataDir, 8);
});
