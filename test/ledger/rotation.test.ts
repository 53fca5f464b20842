/** Rotation, retirement and revocation of keys, as seen by outsiders. */
import { mkdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { audit, type Pin } from '../../src/client/auditor.ts';
import { httpLog } from '../../src/client/log-source.ts';
import { fsck } from '../../src/ledger/check/fsck.ts';
import type { RotationSchedule } from '../../src/ledger/keys/rotation-schedule.ts';
import type { LedgerKeyPurpose } from '../../src/ledger/ledger.ts';
import type { DurableLedger } from '../../src/ledger/open.ts';
import { ServedLog } from '../client/served-log.ts';
import { keyEntries, sourceOf } from './audited.ts';
import { codeOf, entries, entry, fieldOf, folder, open } from './fixture.ts';
import { reverify } from './reverify.ts';

const rotated = ['transparency-sth', 'event-signing', 'access-token'] as const;
const hour = 3600_000;
const day = 24 * hour;

const records = async (ledger: DurableLedger, purpose: LedgerKeyPurpose) =>
  (await ledger.keyRecords()).filter((key) => key.purpose === purpose);
const fileOf = (dataDir: string, kid: string) =>
  JSON.parse(readFileSync(join(dataDir, 'keys', `${kid}.json`), 'utf8')) as Record<string, unknown>;
/** Returns the auditor's pin after an audit of the log. Any fault fails the test. */
async function look(ledger: DurableLedger, pin?: Pin, acceptedKeys: string[] = []): Promise<Pin> {
  const result = await audit(sourceOf(ledger), pin, { now: Date.now(), acceptedKeys });
  if (!('pin' in result)) throw new Error(JSON.stringify(result));
  return result.pin;
}

test.each(rotated)(
  'a new %s key takes over where the old key stopped, and two entries record the rotation',
  async (purpose) => {
    const dataDir = folder();
    const ledger = await open(dataDir);
    await ledger.append(entries(0, 5));
    const [old] = await records(ledger, purpose);
    const before = await ledger.head();
    const pin = await look(ledger);
    const fresh = await ledger.rotateKey(purpose, 'ann');
    await ledger.append(entries(5, 8));

    // Five entries and key.rotated belong to the old key, whose last head has size 6.
    const sizes = purpose === 'access-token' ? {} : { to_size: 6 };
    const told = await records(ledger, purpose);
    expect(told).toMatchObject([
      { kid: old!.kid, state: 'retired', ...sizes },
      { kid: fresh.kid, state: 'active', ...(purpose === 'access-token' ? {} : { from_size: 6 }) },
    ]);
    expect(told[0]!.retired_at).toBe(told[1]!.activated_at);
    expect(await keyEntries(ledger)).toMatchObject([
      {
        ...{ index: 5, kind: 'key.rotated', actor: 'ann', subject: { type: 'key', id: fresh.kid } },
        data: { purpose, old_kid: old!.kid, new_kid: fresh.kid, new_fingerprint: fresh.fingerprint },
      },
      { index: 6, kind: 'key.retired', subject: { type: 'key', id: old!.kid }, data: { purpose, ...sizes } },
    ]);
    const signers = [(await ledger.head(6)).signer_key_id, (await ledger.head()).signer_key_id];
    const signer = before.signer_key_id;
    expect(signers).toEqual(purpose === 'transparency-sth' ? [old!.kid, fresh.kid] : [signer, signer]);
    expect((await ledger.status()).sth_key_id).toBe(signers[1]);
    expect(fileOf(dataDir, old!.kid)).not.toHaveProperty('d');
    await look(ledger, pin);
    await reverify(ledger, { pins: [before, await ledger.head(6)] });
  },
);

test('a log without entries can rotate its keys', async () => {
  const ledger = await open(folder());
  for (const purpose of rotated) await ledger.rotateKey(purpose, 'system');
  await reverify(ledger);
  expect((await keyEntries(ledger)).length).toBe(6);
});

test('after two rotations of each kind during appends, an audit succeeds, and every entry verifies', async () => {
  const log = await ServedLog.start();
  onTestFinished(() => log.close());
  await log.append(3);
  let going = true;
  let audits = 0;
  const appending = (async () => {
    while (going) await log.append(7);
  })();
  const auditing = (async () => {
    let pin: Pin | undefined;
    while (going || audits < 5) {
      const result = await audit(httpLog(log.url), pin, { now: Date.now() + day, maxAgeMs: 2 * day });
      if (!('pin' in result)) throw new Error(JSON.stringify(result));
      pin = result.pin;
      audits += 1;
    }
  })();
  for (const purpose of [...rotated, ...rotated]) {
    const seen = audits;
    while (audits < seen + 2) await new Promise((resolve) => setTimeout(resolve, 5));
    log.now += 1000;
    await log.ledger.rotateKey(purpose, 'ann');
  }
  going = false;
  await Promise.all([appending, auditing]);
  for (const purpose of rotated) {
    const keys = await records(log.ledger, purpose);
    expect(keys.map(({ state }) => state)).toEqual(['retired', 'retired', 'active']);
  }
  expect((await keyEntries(log.ledger)).map(({ kind }) => kind)).toEqual(
    Array.from({ length: 6 }, () => ['key.rotated', 'key.retired']).flat(),
  );
  await reverify(log.ledger);
});

test('appends that wait while a key takes over are signed by the key that covers their indices', async () => {
  const ledger = await open(folder());
  const rotations = ledger.rotateKey('event-signing', 'ann');
  const waiting = Array.from({ length: 200 }, (_, n) => ledger.append([entry(n)]));
  await Promise.all([rotations, ...waiting]);
  await ledger.append(entries(200, 210));
  await reverify(ledger);
});

test.each(['event-signing', 'transparency-sth'] as const)(
  'appends that wait while the %s key is revoked succeed, under the old key only if queued before',
  async (purpose) => {
    const ledger = await open(folder());
    const { kid } = (await records(ledger, purpose))[0]!;
    const waiting = Array.from({ length: 20 }, (_, n) => ledger.append([entry(n)]));
    const revoked = await ledger.revokeKey(kid, 'stolen', 'ann');
    expect(revoked.to_size).toBeLessThanOrEqual(20);
    await Promise.all(waiting);
    await ledger.append(entries(20, 22));
    await reverify(ledger);
  },
);

/** Opens a ledger with a schedule, whose clock the test sets. */
async function scheduled(dataDir: string, schedule: Partial<RotationSchedule['periods']>, startMs: number) {
  const time = { now: startMs };
  const ledger = await open(dataDir, {
    clock: () => BigInt(time.now) * 1_000_000n,
    rotation: { periods: schedule, overlapMs: hour },
  });
  const at = async (ms: number) => {
    time.now = ms;
    await ledger.tick();
  };
  return { ledger, at };
}

const states = async (ledger: DurableLedger, purpose: LedgerKeyPurpose) =>
  (await records(ledger, purpose)).map(({ state }) => state).join(' ');

test('with a schedule, a successor is published before the old key is due, and takes over when it is due', async () => {
  const start = Date.now();
  const { ledger, at } = await scheduled(folder(), { 'event-signing': day, 'transparency-sth': 7 * day }, start);
  await ledger.append(entries(0, 3));
  await at(start + 23 * hour - 1);
  expect(await states(ledger, 'event-signing')).toBe('active');
  await at(start + 23 * hour);
  expect(await states(ledger, 'event-signing')).toBe('active pending');
  expect(await keyEntries(ledger)).toEqual([]);
  const published = (await ledger.keys()).find((key) => key.svc_state === 'pending')!;
  expect(published).not.toHaveProperty('svc_from_size');
  await at(start + day - 1);
  expect(await states(ledger, 'event-signing')).toBe('active pending');
  await at(start + day);
  expect(await states(ledger, 'event-signing')).toBe('retired active');
  expect((await records(ledger, 'event-signing'))[1]!.kid).toBe(published.kid);
  expect((await keyEntries(ledger)).map(({ kind, actor }) => [kind, actor])).toEqual([
    ['key.rotated', 'system'],
    ['key.retired', 'system'],
  ]);
  // In six more days, six event keys and one tree-head key are created. Other keys are not rotated.
  for (let n = 2; n <= 7; n++) {
    await at(start + n * day - hour);
    await at(start + n * day);
  }
  expect(await states(ledger, 'event-signing')).toBe(`${'retired '.repeat(7)}active`);
  expect(await states(ledger, 'transparency-sth')).toBe('retired active');
  expect(await states(ledger, 'access-token')).toBe('active');
  expect(await states(ledger, 'checkpoint')).toBe('active');
  await reverify(ledger);
});

test('with a schedule, an overdue successor is still published for the overlap before it signs', async () => {
  const dataDir = folder();
  const start = Date.now();
  const before = await scheduled(dataDir, { 'event-signing': day }, start);
  await before.ledger.append(entries(0, 3));
  await before.ledger.close();
  const { ledger, at } = await scheduled(dataDir, { 'event-signing': day }, start + 30 * day);
  expect(await states(ledger, 'event-signing')).toBe('active pending');
  await at(start + 30 * day + hour - 1);
  expect(await states(ledger, 'event-signing')).toBe('active pending');
  await ledger.close();
  const again = await scheduled(dataDir, { 'event-signing': day }, start + 31 * day);
  expect(await states(again.ledger, 'event-signing')).toBe('retired active');
  await reverify(again.ledger);
});

test('a period of 0 disables the schedule', async () => {
  const start = Date.now();
  const { ledger, at } = await scheduled(folder(), { 'event-signing': 0 }, start);
  await at(start + 4000 * day);
  expect((await ledger.keyRecords()).map(({ state }) => state)).toEqual(['active', 'active', 'active', 'active']);
});

test('a requested rotation uses the successor that is already published', async () => {
  const start = Date.now();
  const { ledger, at } = await scheduled(folder(), { 'transparency-sth': day }, start);
  await at(start + 23 * hour);
  const pending = (await records(ledger, 'transparency-sth')).find(({ state }) => state === 'pending')!;
  const taken = await ledger.rotateKey('transparency-sth', 'ann');
  expect(taken).toMatchObject({ kid: pending.kid, state: 'active' });
  expect((await keyEntries(ledger))[0]).toMatchObject({ kind: 'key.rotated', actor: 'ann' });
  await at(start + day);
  expect(await states(ledger, 'transparency-sth')).toBe('retired active');
});

test('a second key change at the same time, and rotation of a stable key or an unknown purpose, are rejected', async () => {
  const ledger = await open(folder());
  const first = ledger.rotateKey('event-signing', 'ann');
  expect(await codeOf(ledger.rotateKey('transparency-sth', 'ann'))).toBe('CONFLICT');
  expect(await codeOf(ledger.revokeKey((await ledger.keyRecords())[0]!.kid, 'stolen', 'ann'))).toBe('CONFLICT');
  await first;
  expect(await fieldOf(ledger.rotateKey('checkpoint', 'ann'))).toBe('purpose');
  expect(await fieldOf(ledger.rotateKey('witness' as 'checkpoint', 'ann'))).toBe('purpose');
  await ledger.rotateKey('transparency-sth', 'ann');
});

test('only a pending key can be retired, and then covers no entries', async () => {
  const start = Date.now();
  const { ledger, at } = await scheduled(folder(), { 'transparency-sth': day }, start);
  await ledger.append(entries(0, 3));
  await at(start + 23 * hour);
  const [active, pending] = await records(ledger, 'transparency-sth');
  expect(await codeOf(ledger.retireKey(active!.kid, 'ann'))).toBe('INVALID_TRANSITION');
  expect(await codeOf(ledger.retireKey('018f0000-0000-7000-8000-000000000001', 'ann'))).toBe('NOT_FOUND');
  const retired = await ledger.retireKey(pending!.kid, 'ann');
  expect(retired).toMatchObject({ state: 'retired', from_size: 0, to_size: 0 });
  expect(retired).not.toHaveProperty('activated_at');
  expect(await keyEntries(ledger)).toMatchObject([
    { kind: 'key.retired', actor: 'ann', subject: { id: pending!.kid }, data: { to_size: 0 } },
  ]);
  expect(await codeOf(ledger.retireKey(pending!.kid, 'ann'))).toBe('INVALID_TRANSITION');
  await reverify(ledger);
});

test('after a revocation of the tree-head key another key signs the current head, and heads of the revoked key are rejected', async () => {
  const dataDir = folder();
  const ledger = await open(dataDir);
  await ledger.append(entries(0, 5));
  const pin = await look(ledger);
  const stolen = await ledger.head();
  const revoked = await ledger.revokeKey(stolen.signer_key_id, 'the disk was stolen', 'ann');
  expect(revoked).toMatchObject({ kid: stolen.signer_key_id, state: 'revoked', to_size: 5 });
  expect(revoked.revoked_at).toBe(revoked.retired_at);
  const newHead = await ledger.head(5);
  expect(newHead).toMatchObject({ root_hash: stolen.root_hash });
  expect(newHead.signer_key_id).not.toBe(stolen.signer_key_id);
  const replacement = (await records(ledger, 'transparency-sth')).find(({ state }) => state === 'active')!;
  expect(await keyEntries(ledger)).toMatchObject([
    {
      ...{ kind: 'key.revoked', actor: 'ann', subject: { id: revoked.kid } },
      data: { purpose: 'transparency-sth', reason: 'the disk was stolen', replaced_by: replacement.kid },
    },
  ]);
  expect(JSON.stringify(await ledger.keys())).not.toContain('stolen');
  await expect(look(ledger, pin)).rejects.toThrow('UNVOUCHED_KEY');
  await look(ledger, pin, [replacement.fingerprint]);
  await expect(reverify(ledger, { pins: [stolen] })).rejects.toThrow('KEY_REVOKED');
  await reverify(ledger, { pins: [newHead] });
  expect(await codeOf(ledger.revokeKey(revoked.kid, 'again', 'ann'))).toBe('INVALID_TRANSITION');

  // Anchor and journal have heads of the revoked key. This log signed the heads, and still accepts them.
  await ledger.close();
  const again = await open(dataDir);
  expect((await again.status()).health).toEqual({ state: 'ok' });
  await look(again, pin, [replacement.fingerprint]);
});

test('earlier signatures of a revoked event key stay valid, and the key does not sign later entries', async () => {
  const ledger = await open(folder());
  await ledger.append(entries(0, 5));
  const [key] = await records(ledger, 'event-signing');
  await ledger.revokeKey(key!.kid, 'stolen', 'ann');
  await ledger.append(entries(5, 8));
  expect(await records(ledger, 'event-signing')).toMatchObject([
    { state: 'revoked', from_size: 0, to_size: 5 },
    { state: 'active', from_size: 5 },
  ]);
  await reverify(ledger);
});

test('a retired and a pending key can be revoked, without a replacement', async () => {
  const start = Date.now();
  const { ledger, at } = await scheduled(folder(), { 'event-signing': day }, start);
  await at(start + 23 * hour);
  await at(start + day);
  await at(start + 2 * day - hour);
  const [retired, , pending] = await records(ledger, 'event-signing');
  const revoked = await ledger.revokeKey(retired!.kid.toUpperCase(), 'old disk', 'ann');
  expect(revoked).toMatchObject({
    state: 'revoked',
    to_size: retired!.to_size,
    retired_at: retired!.retired_at,
  });
  expect(revoked.revoked_at! > revoked.retired_at!).toBe(true);
  await ledger.revokeKey(pending!.kid, 'too', 'ann');
  expect(await states(ledger, 'event-signing')).toBe('revoked active revoked');
  const told = (await keyEntries(ledger)).filter(({ kind }) => kind === 'key.revoked');
  expect(told.map(({ data }) => data)).toEqual([
    { purpose: 'event-signing', reason: 'old disk' },
    { purpose: 'event-signing', reason: 'too' },
  ]);
  await at(start + 2 * day); // the schedule creates another successor
  expect(await states(ledger, 'event-signing')).toBe('revoked active revoked pending');
  await reverify(ledger);
});

test('revoking a key also revokes its published successor, which was on the same disk', async () => {
  const start = Date.now();
  const { ledger, at } = await scheduled(folder(), { 'transparency-sth': day }, start);
  await ledger.append(entries(0, 5));
  await at(start + 23 * hour);
  const [active, pending] = await records(ledger, 'transparency-sth');
  expect(pending).toMatchObject({ state: 'pending' });
  await ledger.revokeKey(active!.kid, 'the disk was stolen', 'ann');
  expect((await states(ledger, 'transparency-sth')).split(' ').sort()).toEqual(['active', 'revoked', 'revoked']);
  const told = (await keyEntries(ledger)).filter(({ kind }) => kind === 'key.revoked');
  expect(told.map(({ subject }) => subject.id).sort()).toEqual([active!.kid, pending!.kid].sort());
  await at(start + day + hour);
  expect((await ledger.head()).signer_key_id).not.toBe(pending!.kid);
  await reverify(ledger);
});

test('a revoked checkpoint key is replaced under the same origin', async () => {
  const ledger = await open(folder());
  const [key] = await records(ledger, 'checkpoint');
  const before = (await ledger.status()).checkpoint_vkey;
  await ledger.revokeKey(key!.kid, 'stolen', 'ann');
  const after = (await ledger.status()).checkpoint_vkey;
  expect(after.split('+')[0]).toBe(before.split('+')[0]);
  expect(after).not.toBe(before);
  expect(await states(ledger, 'checkpoint')).toBe('revoked active');
});

test('tokens of a rotated key stay valid until they expire; tokens of a revoked key become invalid immediately', async () => {
  const start = Date.now();
  const { ledger, at } = await scheduled(folder(), {}, start);
  const kids = async () => (await ledger.accessTokenKeys()).verifying.map(({ kid }) => kid);
  const [first] = await kids();
  const second = (await ledger.rotateKey('access-token', 'ann')).kid;
  expect(await kids()).toEqual([first, second]);
  const { current, verifying } = await ledger.accessTokenKeys();
  expect([current.kid, typeof current.d]).toEqual([second, 'string']);
  for (const key of verifying) expect(key).not.toHaveProperty('d');
  await at(start + 65 * 60_000 - 1);
  expect(await kids()).toEqual([first, second]);
  await at(start + 65 * 60_000);
  expect(await kids()).toEqual([second]);
  await ledger.revokeKey(second, 'stolen', 'ann');
  expect(await kids()).toHaveLength(1);
  expect(await kids()).not.toContain(second);
});

test('keys do not change while the log is degraded', async () => {
  const dataDir = folder();
  await (await open(dataDir)).close();
  rmSync(join(dataDir, 'ledger.mdb'));
  const ledger = await open(dataDir);
  const before = await ledger.keyRecords();
  expect(before).toHaveLength(4);
  const { kid } = before[0]!;
  expect(await codeOf(ledger.rotateKey('event-signing', 'ann'))).toBe('UNAVAILABLE');
  expect(await codeOf(ledger.retireKey(kid, 'ann'))).toBe('UNAVAILABLE');
  expect(await codeOf(ledger.revokeKey(kid, 'stolen', 'ann'))).toBe('UNAVAILABLE');
  await ledger.tick();
  expect(await ledger.keyRecords()).toEqual(before);
});

test('if key files cannot be written, the keys do not change, and the next tick continues', async () => {
  const dataDir = folder();
  const ledger = await open(dataDir);
  await ledger.append(entries(0, 3));
  const [old] = await records(ledger, 'transparency-sth');
  const inTheWay = join(dataDir, 'keys', `${old!.kid}.json.new`);
  mkdirSync(inTheWay);
  expect(await codeOf(ledger.rotateKey('transparency-sth', 'ann'))).toBe('UNAVAILABLE');
  expect(await states(ledger, 'transparency-sth')).toBe('active pending');
  await ledger.append(entries(3, 6));
  rmdirSync(inTheWay);
  await ledger.tick();
  expect(await states(ledger, 'transparency-sth')).toBe('retired active');
  expect((await keyEntries(ledger)).map(({ kind }) => kind)).toEqual(['key.rotated', 'key.retired']);
  await reverify(ledger);
});

test('a copy made during a key change is a complete log with its public keys', async () => {
  const ledger = await open(folder());
  await ledger.append(entries(0, 300));
  for (const purpose of ['transparency-sth', 'event-signing'] as const) {
    const target = folder();
    const rotating = ledger.rotateKey(purpose, 'ann');
    await Promise.all([ledger.copyTo(target), rotating, ledger.append([entry(300)])]);
    expect(await fsck({ dataDir: target })).toMatchObject({ ok: true, findings: [] });
  }
});

test('a stop during a rotation waits until the key files are written', async () => {
  const dataDir = folder();
  const ledger = await open(dataDir);
  const change = codeOf(ledger.rotateKey('transparency-sth', 'ann'));
  await ledger.close();
  expect(['none', 'UNAVAILABLE']).toContain(await change);
  const again = await open(dataDir);
  expect(await states(again, 'transparency-sth')).toBe('retired active');
  expect((await keyEntries(again)).map(({ kind }) => kind)).toEqual(['key.rotated', 'key.retired']);
  await reverify(again);
});
