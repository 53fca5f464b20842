import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { receiptBytes } from '../../src/contract/receipt-bytes.ts';
import { sha256 } from '../../src/crypto/sha256.ts';
import { limits } from '../../src/limits.ts';
import { openReader } from '../../src/store/reader.ts';
import type { OutboxRow, ReceiptDraft, Store, StoredReceipt, StoreReader } from '../../src/store/store.ts';
import { openStore } from '../../src/store/writer.ts';
import { hexToBytes } from '../../src/tlog/hex.ts';
import { verifyInclusion } from '../../src/tlog/proof.ts';
import { leafHash } from '../../src/tlog/tree.ts';
import { uuid7 } from '../../src/uuid.ts';
import { batchOf, hour, opened, start } from './opened.ts';

const draft = (n = 0, sensor = 'a'): ReceiptDraft => ({
  id: uuid7(start + n),
  sha256: n.toString(16).padStart(64, '0'),
  bytes: n,
  sensor: { id: `01900000-0000-7000-8000-00000000000${sensor}`, name: 'zeek' },
  received_at: new Date(start + n).toISOString(),
});

const give = async (store: Store, n = 0, sensor = 'a') =>
  (await store.commit(batchOf([], { receipt: draft(n, sensor) }))).receipt!.id;

/** Waits until entries cover all receipts with these ids, and returns them. */
async function covered(reader: StoreReader, ids: readonly string[]): Promise<StoredReceipt[]> {
  while (reader.getReceipt(ids.at(-1)!)?.batch === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
  return ids.map((id) => reader.getReceipt(id)!);
}

/** Compares the path of each receipt with the root in the outbox row of its entry. */
function expectPaths(receipts: readonly StoredReceipt[], rows: readonly OutboxRow[]): void {
  const entries = new Map(rows.map((row) => [row.id, row]));
  for (const { receipt, batch } of receipts) {
    const { data, kind } = entries.get(batch!.entry_id)!;
    expect([kind, data.count]).toEqual(['ingest.receipted', batch!.tree_size]);
    verifyInclusion(sha256, {
      leafIndex: batch!.leaf_index,
      treeSize: batch!.tree_size,
      leafHash: leafHash(sha256, receiptBytes(receipt)),
      path: batch!.audit_path.map((hash) => hexToBytes(hash, 32)),
      root: hexToBytes(String(data.receipts_root), 32),
    });
  }
}

test('each receipt is covered by one entry, and no entry covers more than its limit', async () => {
  const { store, reader } = opened({ receiptIntervalMs: 1 });
  const count = 2 * limits.maxReceiptsPerEntry + 300;
  const ids = await Promise.all(Array.from({ length: count }, (_, n) => give(store, n)));
  const receipts = await covered(reader, ids);
  const rows = await store.outbox(1000);
  expectPaths(
    receipts.filter((_, n) => n % 37 === 0 || n === count - 1),
    rows,
  );
  const counts = rows.map(({ data }) => data.count as number);
  expect(counts.reduce((sum, one) => sum + one, 0)).toBe(count);
  expect(Math.max(...counts)).toBeLessThanOrEqual(limits.maxReceiptsPerEntry);
});

test('a full outbox keeps receipts waiting; above the limits, bodies that request a receipt are rejected, other bodies are stored', async () => {
  const { store, reader } = opened({ receiptIntervalMs: 1, maxOutboxRows: 0, maxReceipts: 4 });
  const full = { code: 'UNAVAILABLE', details: { reason: 'receipts_full' } };
  const ids = [await give(store, 1), await give(store, 2)];
  // One sensor may use half of the limit.
  await expect(give(store, 3)).rejects.toMatchObject(full);
  ids.push(await give(store, 4, 'b'), await give(store, 5, 'c'));
  await expect(give(store, 6, 'd')).rejects.toMatchObject(full);
  await store.commit(batchOf([]));
  expect(ids.map((id) => reader.getReceipt(id)?.batch)).toEqual(Array(4).fill(undefined));
});

test('above the limit the oldest receipts are removed, except waiting receipts', async () => {
  const { store, reader } = opened({ receiptIntervalMs: 1, maxReceipts: 3 });
  const ids: string[] = [];
  for (let n = 0; n < 8; n++) {
    ids.push(await give(store, n));
    await covered(reader, ids.slice(-1));
  }
  expect(ids.map((id) => reader.getReceipt(id) !== undefined)).toEqual([
    ...Array(5).fill(false),
    ...Array(3).fill(true),
  ]);
});

test('a repeated request gets its first receipt, and another body under the same key gets a separate receipt', async () => {
  const { store } = opened();
  const idempotency = { key: 'sensor:1', digest: 'd' };
  const first = await store.commit(batchOf([], { idempotency, receipt: draft(1) }));
  const again = await store.commit(batchOf([], { idempotency, receipt: { ...draft(1), id: uuid7(start) } }));
  const other = await store.commit(batchOf([], { idempotency, receipt: draft(2) }));
  expect(again).toMatchObject({ replayed: true, receipt: first.receipt });
  expect(other).toMatchObject({
    replayed: true,
    receipt: { id: expect.not.stringMatching(first.receipt!.id) },
  });
});

test('kill -9 at random moments: every issued receipt is stored and covered once', async () => {
  const child = new URL('receipts-crash-child.ts', import.meta.url).pathname;
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-receipts-'));
  const given: string[] = [];
  for (let round = 0; round < 3; round++) {
    const writer = spawn(process.execPath, [child, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
    const done = new Promise((resolve) => writer.once('close', resolve));
    let lines = 0;
    for await (const line of createInterface({ input: writer.stdout })) {
      given.push(line);
      if (++lines === 20) setTimeout(() => writer.kill('SIGKILL'), Math.random() * 20);
    }
    await done;
  }
  const store = openStore({ dataDir, alertWindowMs: hour, receiptIntervalMs: 1 });
  const reader = openReader(dataDir);
  const receipts = await covered(reader, given);
  const rows = await store.outbox(100_000);
  expectPaths(receipts, rows);
  const places = receipts.map(({ batch }) => `${batch!.entry_id} ${batch!.leaf_index}`);
  expect(new Set(places).size).toBe(given.length);
  reader.close();
  await store.close();
  rmSync(dataDir, { recursive: true });
});
