import { expect, test } from 'vitest';
import { uuid7 } from '../../src/uuid.ts';
import { administrator, analyst, batchOf, everything, finding, opened, start } from './opened.ts';

const high = (n: number) => finding({ severity: 'high', src_ip: `10.0.0.${n}` });

test('rows are returned oldest first, at most as many as requested, and stay until settled', async () => {
  const { store } = opened();
  for (let n = 0; n < 5; n++) await store.commit(batchOf([high(n)]));
  const rows = await store.outbox(3);
  expect(rows.map(({ data }) => data.src_ip)).toEqual(['10.0.0.0', '10.0.0.1', '10.0.0.2']);
  expect(await store.outbox(3)).toEqual(rows);
  await store.settle([{ id: rows[1]!.id, leaf_index: 0, tree_size: 1, leaf_hash: '00'.repeat(32) }]);
  expect((await store.outbox(9)).map(({ data }) => data.src_ip)).toEqual([
    '10.0.0.0',
    '10.0.0.2',
    '10.0.0.3',
    '10.0.0.4',
  ]);
  expect((await store.status()).outbox).toBe(4);
});

test('a full outbox completely rejects changes that must be logged, and accepts other changes', async () => {
  const { store, reader } = opened({ maxOutboxRows: 2 });
  const admin = administrator();
  await store.createPrincipal(admin, analyst);
  await store.commit(batchOf([high(1), high(2)]));
  const { alerts } = await store.commit(batchOf([finding()]));
  const low = alerts[0]!.alert.id;
  const before = await store.status();
  const token = {
    jti: uuid7(start),
    principal_id: admin.id,
    kind: 'session',
    roles: admin.roles,
    secret_hash: 'h',
    issued_at: admin.created_at,
  } as const;
  const logged = [
    () => store.commit(batchOf([finding({ src_ip: '10.0.0.9' }), high(3)])),
    () => store.changeAlert(low, { severity: 'high' }, analyst),
    () => store.changeAlert(low, { ai_override: { verdict: 'benign', reason: 'x' }, note: 'x' }, analyst),
    () => store.createPrincipal({ ...admin, id: uuid7(start), name: 'b' }, analyst),
    () => store.addToken(token, analyst),
  ];
  for (const change of logged) await expect(change()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(await store.status()).toMatchObject({ alerts: before.alerts, outbox: before.outbox });
  expect(reader.getAlert(low)).toMatchObject({ version: 1, note_count: 0 });

  await expect(store.commit(batchOf([finding({ src_ip: '10.0.0.9' })]))).resolves.toBeDefined();
  await expect(store.changeAlert(low, { status: 'resolved' }, analyst)).resolves.toBeDefined();
  const [row] = await store.outbox(1);
  await store.settle([{ id: row!.id, leaf_index: 0, tree_size: 1, leaf_hash: '00'.repeat(32) }]);
  await expect(store.commit(batchOf([high(3)]))).resolves.toBeDefined();
  expect((await store.status()).outbox).toBe(2);
  expect(reader.listAlerts(everything).total).toBe(5);
});

test('rows survive a restart in order, followed by new rows', async () => {
  const { store, reader, dataDir } = opened();
  await store.commit(batchOf([high(1)]));
  await store.commit(batchOf([high(2)]));
  reader.close();
  await store.close();
  const { openStore } = await import('../../src/store/writer.ts');
  const again = openStore({ dataDir, alertWindowMs: 1000 });
  await again.commit(batchOf([high(3)]));
  expect((await again.status()).outbox).toBe(3);
  expect((await again.outbox(9)).map(({ data }) => data.src_ip)).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3']);
  await again.close();
});

test('an alert whose entry the log lost has no position, and is logged again if its severity is high', async () => {
  const { store, reader, notices } = opened();
  const { alerts } = await store.commit(batchOf([high(1), high(2)]));
  const [kept, lowered] = alerts.map(({ alert }) => alert.id) as [string, string];
  const rows = await store.outbox(10);
  const places = rows.map(({ id }, i) => ({ id, leaf_index: i, tree_size: 2, leaf_hash: `${i}`.repeat(64) }));
  await store.settle(places);
  await store.changeAlert(lowered, { severity: 'low' }, analyst);
  const noted = await store.lastPositions('alert', 10);
  expect(noted).toEqual([
    { kind: 'alert', place: 1, alert_id: lowered, leaf_hash: '1'.repeat(64) },
    { kind: 'alert', place: 0, alert_id: kept, leaf_hash: '0'.repeat(64) },
  ]);
  expect(await store.lastPositions('alert', 1)).toEqual(noted.slice(0, 1));
  expect(await store.lastPositions('alert', 10, 1)).toEqual(noted.slice(1));

  await store.logAgain(noted);
  expect(notices.at(-1)!.alerts.map(({ alert }) => alert.transparency)).toEqual([undefined, undefined]);
  expect(await store.lastPositions('alert', 10)).toEqual([]);
  const announced = notices.length;
  await store.logAgain(noted);
  expect(notices).toHaveLength(announced);
  const again = await store.outbox(10);
  expect(again.map(({ subject }) => subject.id)).toEqual([kept]);
  expect(again[0]!.id).not.toBe(rows[0]!.id);
  expect(reader.getAlert(lowered)?.transparency).toBeUndefined();
  await store.changeAlert(lowered, { severity: 'critical' }, analyst);
  expect((await store.outbox(10)).map(({ subject }) => subject.id)).toEqual([kept, lowered]);
});
