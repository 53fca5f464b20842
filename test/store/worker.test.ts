import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Queries } from '../../src/analytics/queries.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import { createPool } from '../../src/rpc/pool.ts';
import { supervise } from '../../src/rpc/supervise.ts';
import { storeMethods } from '../../src/store/methods.ts';
import { openReader } from '../../src/store/reader.ts';
import type { CommitNotice, Store } from '../../src/store/store.ts';
import { longLived, principal, session, system } from '../identities/store/identity-records.ts';
import { alertsIn, allRecords, analyst, batchOf, finding, hour, newest, resources } from './opened.ts';
import { networkRecord } from './records.ts';

const storeThread = (dataDir: string, onNotice: (notice: CommitNotice) => void = () => {}) =>
  supervise<Store>({
    name: 'store',
    url: new URL('../../workers/store.ts', import.meta.url),
    list: storeMethods,
    workerData: { dataDir, alertWindowMs: hour },
    onNotice: (notice) => onNotice(notice as CommitNotice),
    onGiveUp: (error) => {
      throw error;
    },
  });

test('the store runs in a separate thread: blocks are transferred in both directions, errors keep their codes, readers see the commit', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-store-'));
  const notices: CommitNotice[] = [];
  const store = await storeThread(dataDir, (notice) => notices.push(notice));
  const reader = openReader(dataDir);
  const builder = new BlockBuilder('network', 0);
  builder.add(networkRecord());
  const block = builder.finish();
  const size = block.byteLength;
  const committed = await store.api.commit(
    batchOf([finding({ severity: 'high', event: { block: 0, row: 0 } })], { blocks: [block] }),
  );
  expect(block.detached).toBe(true);
  expect(committed.blocks[0]?.buffer.byteLength).toBe(size);
  const { id, event_ids } = alertsIn(notices)[0]!.alert;
  expect(reader.getAlert(id)?.count).toBe(1);
  expect(reader.getEvent('network', event_ids[0]!)).toBeDefined();
  await expect(store.api.changeAlert(id, { status: 'archived' }, analyst)).rejects.toMatchObject({
    code: 'INVALID_TRANSITION',
    details: { from: 'new', to: 'archived', allowed: ['in_progress', 'resolved', 'suppressed'] },
  });
  const calls = Array.from({ length: 50 }, (_, i) => store.api.addNote(id, `note ${i}`, analyst));
  expect((await Promise.all(calls)).map(({ text }) => text)).toEqual(calls.map((_, i) => `note ${i}`));
  expect(alertsIn(notices).map(({ seq }) => seq)).toEqual([1, ...calls.map((_, i) => i + 2)]);
  expect(reader.listNotes(id, newest).total).toBe(50);
  reader.close();
  await store.api.close();
  await store.close();
  rmSync(dataDir, { recursive: true });
});

test('a notice arrives before the results of its calls', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-store-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const order: string[] = [];
  const store = await storeThread(dataDir, ({ alerts }) => {
    for (const { seq } of alerts) order.push(`notice ${seq}`);
  });
  const call = async (rule_id: string) => {
    await store.api.commit(batchOf([finding({ rule_id })]));
    order.push(`answer ${rule_id}`);
  };
  await call('a');
  await Promise.all([call('b'), call('c')]);
  await store.api.close();
  await store.close();
  expect(order).toHaveLength(6);
  for (const [n, rule] of ['a', 'b', 'c'].entries())
    expect(order.slice(0, order.indexOf(`answer ${rule}`))).toContain(`notice ${n + 1}`);
});

test('the first notice after a restart has the heads of the stored changes', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-store-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const workers: Worker[] = [];
  const started = (worker: Worker) => void workers.push(worker);
  process.on('worker', started);
  onTestFinished(() => void process.off('worker', started));
  let notices: CommitNotice[] = [];
  const store = await storeThread(dataDir, (notice) => notices.push(notice));
  const none = { alerts: [], scans: [] };
  expect(notices).toEqual([
    { ...none, heads: { alerts: 0, topology: 0 }, processed: { network: 1, dns: 1 }, outbox: 0 },
  ]);
  const builder = new BlockBuilder('network', Date.now());
  const flow = { src_ip: '10.0.0.1', dst_ip: '203.0.113.1', direction: 'outbound' } as const;
  builder.add(networkRecord({ timestamp: Date.now(), ...flow }));
  const findings = ['a', 'b'].map((rule_id) => finding({ rule_id, severity: 'high' }));
  await store.api.commit(batchOf(findings, { blocks: [builder.finish()] }));
  await store.api.processed();
  const { heads, outbox, processed } = notices.at(-1)!;
  expect([heads, outbox]).toEqual([{ alerts: 2, topology: 1 }, 2]);

  notices = [];
  await workers[0]!.terminate();
  await vi.waitFor(() => store.api.status(), 60_000);
  expect(store.stats().restarts).toBe(1);
  expect(processed).toEqual({ network: 2, dns: 1 });
  expect(notices[0]).toEqual({ ...none, heads, processed, outbox });
  await store.api.close();
  await store.close();
});

test('identities and the audit log work across threads: changes in the store thread are visible in the main thread and in the analytics pool', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-store-'));
  const store = await storeThread(dataDir);
  const reader = openReader(dataDir);
  const analytics = createPool<Queries>({
    name: 'analytics',
    url: new URL('../../workers/analytics.ts', import.meta.url),
    threads: 1,
    maxQueue: 4,
    workerData: { dataDir },
  });
  const admin = principal('admin');
  await store.api.createPrincipal(admin, system);
  await expect(store.api.changePrincipal(admin.id, { roles: [] }, admin)).rejects.toMatchObject({
    code: 'CONFLICT',
    details: { field: 'roles' },
  });
  const endless = longLived(admin);
  const [first, second] = [session(admin), session(admin)].map((token) => ({
    ...token,
    expires_at: new Date(Date.now() + hour).toISOString(),
  }));
  for (const token of [first!, second!, endless]) expect(await store.api.addToken(token, admin)).toEqual({ ended: [] });
  const { principal: changed, ended } = await store.api.changePrincipal(admin.id, { password_hash: 'new' }, admin, {
    version: 1,
    keptSession: first!.jti,
  });
  expect(ended).toEqual([second!.jti]);
  expect(reader.principal(admin.id)).toEqual(changed);
  const usedAt = new Date().toISOString();
  await store.api.noteTokenUse(new Map([[endless.jti, usedAt]]));
  expect(reader.token(endless.jti)?.last_used_at).toBe(usedAt);

  const records = ['login', 'listTokens'].map((operation, n) => ({
    id: endless.jti.replace(/.$/, `${n}`),
    actor: admin.id,
    operation,
    request_id: `r${n}`,
    source_address: '::1',
    outcome: 'success' as const,
    time: usedAt,
  }));
  await store.api.addAudit(records);
  const page = await analytics.run('listAudit', {
    ...allRecords,
    terms: [{ field: 'operation', values: ['login'] }],
  });
  expect(page).toMatchObject({ total: 1, page: 1 });
  const { id, ...attributes } = records[0]!;
  expect(resources(page)).toEqual([{ id, type: 'audit_record', attributes }]);
  await analytics.close();
  reader.close();
  await store.api.close();
  await store.close();
  rmSync(dataDir, { recursive: true });
});
