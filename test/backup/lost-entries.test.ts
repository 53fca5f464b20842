import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { backUpOffline } from '../../src/backup/offline-backup.ts';
import { receiptBytes } from '../../src/contract/receipt-bytes.ts';
import { sha256 } from '../../src/crypto/sha256.ts';
import { beginNewLog } from '../../src/ledger/check/begin-new-log.ts';
import { rebuild } from '../../src/ledger/check/rebuild.ts';
import { KeyRing } from '../../src/ledger/keys/key-ring.ts';
import { startLife } from '../../src/ledger/keys/start-life.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { lifeStartOf } from '../../src/ledger/lives/continue-copy.ts';
import { logLostAgain } from '../../src/ledger/lost-entries.ts';
import { openLedger } from '../../src/ledger/open.ts';
import type { CommitNotice } from '../../src/store/store.ts';
import { openStore } from '../../src/store/writer.ts';
import { bytesToHex } from '../../src/tlog/hex.ts';
import { leafHash } from '../../src/tlog/tree.ts';
import { alertsIn } from '../store/opened.ts';
import { backUp, newFolder, openParts, type Parts } from './fixture.ts';
import { checkAlerts } from './logged-alerts.ts';
import { addReceipts, alertsOf } from './writers.ts';

async function addAlerts(parts: Parts, from: number, count: number): Promise<void> {
  await parts.store.commit(alertsOf(from, count));
  parts.pump.wake();
  await parts.pump.idle();
}

/**
 * Prepares the folder of a stopped service with 8 alerts and a ledger.mdb from when there were 5. The newer
 * file is in `kept`.
 */
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

/** Opens the service twice, and checks that all eight alerts are in the log once each and that a backup succeeds. */
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

test('alerts with lost entries are logged again exactly once after an accepted loss', async () => {
  const { dataDir } = await wentBack();
  expect(await rebuild({ dataDir, acceptLoss: true })).toMatchObject({ outcome: 'accepted' });
  await checkGoesOn(dataDir, 9);
});

test('every alert is logged again exactly once in a new log', async () => {
  const { dataDir } = await wentBack();
  await beginNewLog({ dataDir, evenIfThere: true });
  await checkGoesOn(dataDir, 9);
});

test('each alert is logged exactly once, even if a start is interrupted between queueing lost entries and appending them', async () => {
  const { dataDir } = await wentBack();
  await rebuild({ dataDir, acceptLoss: true });
  const ledger = await openLedger({ dataDir });
  const notices: CommitNotice[] = [];
  const onCommitted = (notice: CommitNotice) => notices.push(notice);
  const store = openStore({ dataDir, alertWindowMs: 3_600_000, onCommitted });
  let asked = 0;
  const dying: Pick<Ledger, 'leaf' | 'status'> = {
    status: () => ledger.status(),
    leaf: (query) => (asked++ < 2 ? ledger.leaf(query) : Promise.reject(new Error('died'))),
  };
  await expect(logLostAgain(store, dying, 2)).rejects.toThrow('died');
  expect(alertsIn(notices).map(({ alert }) => alert.transparency)).toEqual([undefined, undefined]);
  expect((await store.status()).outbox).toBe(2);
  await store.close();
  await ledger.close();
  await checkGoesOn(dataDir, 9);
});

test('a stopped service can be backed up after an accepted loss, before any start', async () => {
  const { dataDir } = await wentBack();
  await rebuild({ dataDir, acceptLoss: true });
  const { attributes } = await backUpOffline({
    dataDir,
    dir: newFolder(),
    anchorPath: undefined,
    keyPassphrase: undefined,
    alertWindowMs: 3_600_000,
    productVersion: '0.0.0-test',
  });
  expect(attributes).toMatchObject({ state: 'completed', alerts: 8 });
});

describe('receipts with lost entries', () => {
  /** Prepares a log with the entries of two receipts, while siem.mdb has five receipts. */
  async function withReceipts() {
    const [dataDir, kept] = [newFolder(), join(newFolder(), 'older.mdb')];
    const first = await openParts(dataDir);
    const ids = await addReceipts(first, 2);
    await first.close();
    cpSync(join(dataDir, 'ledger.mdb'), kept);
    const second = await openParts(dataDir);
    ids.push(...(await addReceipts(second, 3)));
    await second.close();
    rmSync(join(dataDir, 'ledger.mdb-lock'), { force: true });
    cpSync(kept, join(dataDir, 'ledger.mdb'));
    return { dataDir, ids };
  }

  /** Checks at two starts that each receipt is in exactly one entry, whose root is the leaf hash of the receipt. */
  async function checkReceipts(dataDir: string, ids: readonly string[]): Promise<void> {
    for (let start = 0; start < 2; start++) {
      const { ledger, pump, reader, findings, close } = await openParts(dataDir);
      await pump.idle();
      expect(findings).toEqual([]);
      for (const id of ids) {
        const { receipt, batch } = reader.getReceipt(id)!;
        const { canonical } = await ledger.leaf({ entry_id: batch!.entry_id });
        const { kind, subject, data } = JSON.parse(Buffer.from(canonical).toString());
        expect({ kind, subject: subject.id }).toEqual({ kind: 'ingest.receipted', subject: id });
        expect(data).toMatchObject({ count: 1, first_received: receipt.received_at });
        expect(data.receipts_root).toBe(bytesToHex(leafHash(sha256, receiptBytes(receipt))));
      }
      const { total } = await ledger.entries({ kinds: ['ingest.receipted'], page: 1, per_page: 10 });
      expect(total).toBe(ids.length);
      await close();
    }
  }

  test('are reported as a rollback, even without anchor and journal', async () => {
    const { dataDir } = await withReceipts();
    for (const name of ['anchor.json', 'journal.ndjson']) rmSync(join(dataDir, name));
    const { health } = await (await openParts(dataDir)).ledger.status();
    expect(health).toMatchObject({ fault: 'rollback', advice: expect.stringContaining('receipts') });
  });

  test('are logged again exactly once after an accepted loss', async () => {
    const { dataDir, ids } = await withReceipts();
    expect(await rebuild({ dataDir, acceptLoss: true })).toMatchObject({ outcome: 'accepted' });
    await checkReceipts(dataDir, ids);
  });

  test('are logged again exactly once in a new log, in several batches', async () => {
    const { dataDir, ids } = await withReceipts();
    await beginNewLog({ dataDir, evenIfThere: true });
    const ledger = await openLedger({ dataDir });
    const store = openStore({ dataDir, alertWindowMs: 3_600_000 });
    expect(await logLostAgain(store, ledger, 2)).toBe(true);
    expect((await store.status()).outbox).toBe(5);
    await store.close();
    await ledger.close();
    await checkReceipts(dataDir, ids);
  });
});

test('a life that waits for disk space logs missing alerts again once it begins', async () => {
  const { dataDir } = await wentBack();
  const keys = KeyRing.load(join(dataDir, 'keys'));
  await startLife(keys, { start: lifeStartOf('loss_accepted', {}, {}), fromSize: 5 });
  let free = 0;
  const parts = await openParts(dataDir, { ledger: { freeBytes: () => free } });
  await parts.pump.idle();
  expect((await parts.ledger.status()).size).toBe(5);
  free = 2 ** 40;
  await parts.ledger.tick();
  await addAlerts(parts, 8, 1);
  expect(await checkAlerts(parts)).toBe(9);
  await parts.close();
});

test('alerts keep their positions until the loss is accepted; the positions are valid again if the newer log is put back', async () => {
  const { dataDir, put } = await wentBack();
  const degraded = await openParts(dataDir);
  expect((await degraded.ledger.status()).health).toMatchObject({ state: 'degraded', fault: 'rollback' });
  await degraded.pump.idle();
  expect((await degraded.store.status()).outbox).toBe(0);
  await degraded.close();
  put('newer');
  await checkGoesOn(dataDir, 8);
});
