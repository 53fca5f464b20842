/** Every kind of critical event, from its cause through the outbox into the log, with any texts. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parseExact } from '../../src/client/exact-json.ts';
import { AuditFault } from '../../src/client/fault.ts';
import { readKeySet } from '../../src/client/key-set.ts';
import { verifyEntry } from '../../src/client/verify.ts';
import { criticalEvent, detectionReloaded } from '../../src/contract/critical-events.ts';
import { entryData, LongEntryData } from '../../src/contract/resources/log-entry-data.ts';
import { LogEntry } from '../../src/contract/resources/transparency.ts';
import { validate } from '../../src/contract/validate.ts';
import { entryKinds } from '../../src/contract/vocabulary.ts';
import type { UnsignedEntry } from '../../src/ledger/ledger.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { OutboxPump } from '../../src/ledger/outbox-pump.ts';
import { uuid7 } from '../../src/uuid.ts';
import { detectionRules, examples, hostileTexts } from '../contract/every-kind.ts';
import { administrator, analyst, batchOf, finding, opened, start } from './opened.ts';

/**
 * Opens a store, its pump and a log. `drained` resolves when the outbox is empty; a rejected row fails the
 * test.
 */
async function pumped() {
  const open = opened();
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-ledger-'));
  const ledger = await openLedger({ dataDir, clock: () => BigInt(open.clock.now) * 1_000_000n });
  const refused: UnsignedEntry[] = [];
  const pump = new OutboxPump({
    source: open.store,
    ledger,
    now: () => open.clock.now,
    onRefused: (row) => refused.push(row),
  });
  onTestFinished(async () => {
    await pump.close();
    await ledger.close();
    rmSync(dataDir, { recursive: true });
  });
  const drained = async () => {
    pump.wake();
    await pump.idle();
    expect(refused).toEqual([]);
    expect((await open.store.status()).outbox).toBe(0);
  };
  /** Reads and verifies an entry as an external auditor does. */
  const logged = async (id: string) => {
    const keys = readKeySet(parseExact(JSON.stringify({ keys: await ledger.keys() })));
    if (keys instanceof AuditFault) throw keys;
    const { leaf_index, canonical } = await ledger.leaf({ entry_id: id });
    const verified = verifyEntry({ leafIndex: leaf_index, canonical }, keys);
    if (verified instanceof AuditFault) throw verified;
    return validate(LogEntry, verified.entry as unknown) as LogEntry;
  };
  const size = async () => (await ledger.status()).size;
  return { ...open, drained, logged, size };
}

test.each(entryKinds)('%s is logged exactly once, even with hostile texts', async (kind) => {
  const { store, clock, drained, logged, size } = await pumped();
  const texts = ['an ordinary text', ...Object.values(hostileTexts)];
  const events = texts.map((text) => ({ id: uuid7(clock.now), event: examples[kind](text) }));
  for (const { id, event } of events) {
    await store.record(event, id);
    await store.record(event, id); // repeats the call as after a lost response
  }
  expect((await store.status()).outbox).toBe(events.length);
  await drained();
  for (const { id, event } of events) await store.record(event, id);
  await drained();
  expect(await size()).toBe(events.length);
  for (const { id, event } of events) {
    const entry = await logged(id);
    expect(entry).toMatchObject({ ...event, id, occurred_at: new Date(start).toISOString() });
    validate(entryData[kind], entry.data);
  }
});

test('entries that the store creates conform to the schemas of their kinds', async () => {
  const { store, drained, logged, size } = await pumped();
  const admin = administrator();
  await store.createPrincipal(admin, analyst);
  const hostile = `\ud800${'x'.repeat(2 ** 20)}`;
  const second = { ...admin, id: uuid7(start), name: hostile };
  await store.createPrincipal(second, admin);
  await store.changePrincipal(second.id, { status: 'suspended', roles: [] }, { id: hostile, name: hostile });
  const token = { jti: uuid7(start), principal_id: admin.id, kind: 'long_lived', roles: [] } as const;
  await store.addToken({ ...token, secret_hash: 'h', issued_at: admin.created_at }, admin);
  await store.revokeToken(token.jti, admin);
  const seen = { severity: 'high', title: hostile, rule_id: hostile, rule_name: hostile } as const;
  const { alerts } = await store.commit(batchOf([finding({ ...seen, domain: hostile, category: hostile })]));
  await store.changeAlert(alerts[0]!.alert.id, { ai_override: { verdict: 'benign', reason: hostile } }, analyst);
  const rows = await store.outbox(100);
  expect(rows.map(({ kind }) => kind)).toEqual([
    'principal.provisioned',
    'principal.status_changed',
    'principal.role_changed',
    'token.issued',
    'token.revoked',
    'alert.raised',
    'verdict.overridden',
  ]);
  await drained();
  expect(await size()).toBe(7);
  for (const { id, kind } of rows) validate(entryData[kind], (await logged(id)).data);
});

test('a diff too long for an entry is replaced by its hash, and its summary is kept', async () => {
  const { store, drained, logged } = await pumped();
  const id = uuid7(start);
  await store.record(detectionReloaded(detectionRules('a rule', 1000), 'system'), id);
  await drained();
  const { data } = await logged(id);
  expect(validate(LongEntryData, data).summary).toEqual({
    version: 2,
    added_count: 1000,
    removed_count: 1,
    changed_count: 1,
  });
});

test('an event is rejected while the outbox is full, and if its id is invalid', async () => {
  const { store } = opened({ maxOutboxRows: 1 });
  const event = criticalEvent('token.revoked', 'jti', {}, 'system');
  await expect(store.record(event, 'x')).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  await store.record(event);
  await expect(store.record(event)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(await store.outbox(9)).toHaveLength(1);
});
