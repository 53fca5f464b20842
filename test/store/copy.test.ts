import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase, type RootDatabase } from '../../src/database/lmdb.ts';
import { openRows } from '../../src/database/rows.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import { inspectStore, type LoggedAlert } from '../../src/store/inspect.ts';
import { openReader } from '../../src/store/reader.ts';
import { session } from '../identities/store/identity-records.ts';
import { withAdmin } from '../identities/store/with-admin.ts';
import { codeOf } from '../ledger/fixture.ts';
import { allRecords, batchOf, finding, opened, resources } from './opened.ts';
import { networkRecord } from './records.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'candor-copy-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function batch(n: number) {
  const builder = new BlockBuilder('network', Date.now());
  for (let i = 0; i < 300; i++) builder.add(networkRecord({ src_port: i, connection_id: `C${n}-${i}` }));
  return batchOf([finding({ severity: 'high', rule_id: `1:${n}` })], { blocks: [builder.finish()] });
}

/** Copies a store with two batches, and damages the copy. */
async function damagedCopy(damage: (root: RootDatabase) => void): Promise<string> {
  const { store } = opened();
  await store.commit(batch(1));
  await store.commit(batch(2));
  const copy = folder();
  await store.copyTo(copy);
  const root = openDatabase(join(copy, 'siem.mdb'));
  damage(root);
  await root.close();
  return copy;
}

const ignore = () => undefined;

test('a copy shows the store at one moment, while commits continue', async () => {
  const { store } = opened();
  let sent = 0;
  let going = true;
  const writing = (async () => {
    while (going) await store.commit(batch(sent++));
  })();
  for (let n = 0; n < 5; n++) {
    const before = sent;
    while (sent < before + 5) await new Promise((resolve) => setTimeout(resolve, 1));
    const copy = folder();
    await store.copyTo(copy);
    const alerts: LoggedAlert[] = [];
    const contents = await inspectStore(copy, (alert) => alerts.push(alert));
    expect(contents.events.network).toBe(300 * contents.alerts);
    expect(contents.outbox).toBe(contents.alerts);
    expect(alerts).toHaveLength(contents.alerts);
    expect(alerts.every(({ waits, place }) => waits && place === undefined)).toBe(true);
    expect(statSync(join(copy, 'siem.mdb')).mode & 0o777).toBe(0o600);
  }
  going = false;
  await writing;
});

test('only one copy runs at a time; closing waits for the copy, and rejects other copies', async () => {
  const { store } = opened();
  await store.commit(batch(1));
  const copy = folder();
  const copying = store.copyTo(copy);
  expect(await codeOf(store.copyTo(folder()))).toBe('CONFLICT');
  const closing = store.close();
  expect(await codeOf(store.copyTo(folder()))).toBe('UNAVAILABLE');
  await Promise.all([copying, closing]);
  expect((await inspectStore(copy, ignore)).alerts).toBe(1);
});

test('the check of a copy names missing, damaged and superfluous parts', async () => {
  const part = await damagedCopy((root) => {
    const parts = root.openDB<Buffer, number[]>({ name: 'event-parts', encoding: 'binary' });
    for (const key of parts.getKeys({ limit: 1 })) parts.removeSync(key);
  });
  await expect(inspectStore(part, ignore)).rejects.toThrow(/block 1 of network events, part \d+ is missing/);

  const block = await damagedCopy((root) => {
    const headers = root.openDB<Buffer, number[]>({ name: 'event-headers', encoding: 'binary' });
    for (const key of headers.getKeys({ limit: 1, reverse: true })) headers.removeSync(key);
  });
  await expect(inspectStore(block, ignore)).rejects.toThrow(
    /block 301 of network events, the header of 300 events is missing/,
  );

  const flipped = await damagedCopy((root) => {
    const parts = root.openDB<Buffer, number[]>({ name: 'event-parts', encoding: 'binary' });
    for (const { key, value } of parts.getRange({ limit: 1 })) {
      value[0]! ^= 1;
      parts.putSync(key, value);
    }
  });
  await expect(inspectStore(flipped, ignore)).rejects.toThrow(/block 1 of network events, part \d+ is damaged/);

  const left = await damagedCopy((root) => {
    const parts = root.openDB<Buffer, number[]>({ name: 'event-parts', encoding: 'binary' });
    parts.putSync([1, 4711, 3], Buffer.from('of a block that went'));
  });
  await expect(inspectStore(left, ignore)).rejects.toThrow(/parts of blocks and 0 ids/);

  const index = await damagedCopy((root) => {
    const ids = root.openDB<Buffer, Uint8Array>({
      name: 'event-ids',
      encoding: 'binary',
      keyEncoding: 'binary',
    });
    ids.putSync(Buffer.alloc(17), Buffer.alloc(8));
  });
  await expect(inspectStore(index, ignore)).rejects.toThrow(/1 ids of events/);

  const row = await damagedCopy((root) => {
    const alerts = root.openDB<Buffer, string>({ name: 'alerts', encoding: 'binary' });
    for (const key of alerts.getKeys({ limit: 1 })) alerts.putSync(key, Buffer.from([0xd9, 0xff, 0x61]));
  });
  await expect(inspectStore(row, ignore)).rejects.toThrow(/table alerts cannot be read/);

  const id = await damagedCopy((root) => {
    const ids = openRows<number, string>(root, 'outbox-ids');
    for (const key of ids.getKeys({ limit: 1 })) ids.removeSync(key);
  });
  await expect(inspectStore(id, ignore)).rejects.toThrow(/outbox row \d is not found by its id/);

  const lost: LoggedAlert[] = [];
  const outbox = await damagedCopy((root) => {
    const rows = openRows<unknown, number>(root, 'outbox');
    for (const key of rows.getKeys({ limit: 1 })) rows.removeSync(key);
  });
  await inspectStore(outbox, (alert) => lost.push(alert));
  expect(lost.filter(({ waits, place }) => !waits && place === undefined)).toHaveLength(1);
});

test('a copy has identities and the audit log, and an unreadable audit record is found', async () => {
  const { store, admin } = await withAdmin();
  const token = session(admin);
  await store.addToken(token, admin);
  const record = { actor: admin.id, operation: 'login', request_id: 'r', source_address: '::1' };
  const time = admin.created_at;
  await store.addAudit([{ ...record, id: token.jti, outcome: 'success', time }]);
  const copy = folder();
  await store.copyTo(copy);
  await inspectStore(copy, ignore);
  const reader = openReader(copy);
  expect(reader.principal(admin.id)).toMatchObject({ name: 'admin' });
  expect(reader.token(token.jti)).toEqual(token);
  expect(reader.administrators()).toBe(1);
  expect(resources(reader.listAudit(allRecords))).toEqual([
    { id: token.jti, type: 'audit_record', attributes: { ...record, outcome: 'success', time } },
  ]);
  reader.close();
  const root = openDatabase(join(copy, 'siem.mdb'));
  const audit = root.openDB<Buffer, [number, string]>({ name: 'audit', encoding: 'binary' });
  for (const key of [...audit.getKeys({ limit: 1 })]) audit.putSync(key, Buffer.from([0xd9, 0xff, 0x61]));
  await root.close();
  await expect(inspectStore(copy, ignore)).rejects.toThrow(/table audit cannot be read/);
});
