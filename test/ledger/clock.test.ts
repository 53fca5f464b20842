import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fsck } from '../../src/ledger/check/fsck.ts';
import type { KeyFile } from '../../src/ledger/keys/key-file.ts';
import { dueStep } from '../../src/ledger/keys/rotation-schedule.ts';
import type { DurableLedger, LedgerOptions } from '../../src/ledger/open.ts';
import { uuid7 } from '../../src/uuid.ts';
import { cloneFolder } from '../files/copy-folder.ts';
import { codeOf, entry, fieldOf, folder, open } from './fixture.ts';
import { reverify } from './reverify.ts';

const [minute, hour, day, year] = [60_000, 3_600_000, 86_400_000, 365 * 86_400_000];

/** The clocks of a host, controlled by the test. */
class Host {
  wall = Date.UTC(2026, 5, 1, 12);
  running = 5000;
  boot = 7000;

  pass(ms: number): void {
    this.wall += ms;
    this.running += ms;
    this.boot += ms;
  }

  suspend(ms: number): void {
    this.wall += ms;
    this.boot += ms;
  }

  options({ hasBootTime = true } = {}): Partial<LedgerOptions> {
    return {
      clock: () => BigInt(this.wall) * 1_000_000n,
      steady: { runningMs: () => this.running, bootMs: () => (hasBootTime ? this.boot : undefined) },
    };
  }
}

/** Opens a log with one entry, on a host whose clock is correct. */
async function started(options: Partial<LedgerOptions> = {}) {
  const [host, dataDir] = [new Host(), folder()];
  const ledger = await open(dataDir, { ...host.options(), ...options });
  let n = 0;
  const append = (to: DurableLedger = ledger) => codeOf(to.append([entry(n++, {}, host.wall)]));
  expect(await append()).toBe('none');
  const reopen = async (more: Partial<LedgerOptions> = {}) => open(dataDir, { ...host.options(), ...options, ...more });
  return { host, dataDir, ledger, append, reopen };
}

const headMs = async (ledger: DurableLedger) => (await ledger.head()).timestamp_ns / 1e6;

async function stateOf(ledger: DurableLedger): Promise<[state: string, findings: string[]]> {
  const { health, findings } = await ledger.status();
  return [health.state === 'ok' ? 'ok' : health.fault, findings.map(({ code }) => code)];
}

const well = ['ok', []];
const marked = ['ok', ['clock_jumped']];
const refused = ['clock', ['clock_jumped']];

test('after the clock jumps forward by years, entries are refused until the clock is corrected, and no head has a wrong time', async () => {
  const { host, ledger, append } = await started();
  host.wall += 4 * year;
  expect(await append()).toBe('UNAVAILABLE');
  expect(await stateOf(ledger)).toEqual(refused);
  host.pass(2 * hour);
  await ledger.tick(); // signs the idle head again
  expect(await headMs(ledger)).toBeCloseTo(host.wall - 4 * year, -1);
  host.wall -= 4 * year;
  await ledger.tick();
  expect(await append()).toBe('none');
  expect(await headMs(ledger)).toBeCloseTo(host.wall, -1);
  expect((await ledger.status()).health).toEqual({ state: 'ok' });
  await reverify(ledger);
});

test.each([
  ['four years ahead', 4 * year],
  ['two days behind', -2 * day],
])('keys are rotated and revoked while the clock is %s; entries and heads have the correct time', async (_, off) => {
  const { host, dataDir, ledger, append, reopen } = await started();
  const right = host.wall;
  const stolen = (await ledger.status()).sth_key_id;
  host.wall += off;
  expect(await append()).toBe('UNAVAILABLE');
  const revoked = await ledger.revokeKey(stolen, 'stolen', 'ann');
  expect(revoked.state).toBe('revoked');
  expect((await ledger.head()).signer_key_id).not.toBe(stolen);
  const rotated = await ledger.rotateKey('event-signing', 'ann');
  expect(rotated.state).toBe('active');
  const { leaves } = await ledger.entries({
    kinds: ['key.revoked', 'key.rotated', 'key.retired'],
    page: 1,
    per_page: 10,
  });
  const dates = leaves.map(({ canonical }) => Date.parse(JSON.parse(Buffer.from(canonical).toString()).occurred_at));
  expect(dates).toHaveLength(3);
  for (const date of dates) expect(Math.abs(date - right)).toBeLessThan(minute);
  expect(Math.abs((await headMs(ledger)) - right)).toBeLessThan(minute);
  expect(await stateOf(ledger)).toEqual(refused);
  expect(await append()).toBe('UNAVAILABLE');
  await ledger.close();
  host.wall = right;
  const again = await reopen();
  expect(await stateOf(again)).toEqual(well);
  expect(await append(again)).toBe('none');
  await reverify(again);
  await again.close();
  expect(await fsck({ dataDir, signatures: true })).toMatchObject({ ok: true });
});

test('a head is not dated ahead even when the clock jumps in the middle of a commit', async () => {
  let host: Host | undefined;
  const it = await started({
    hooks: {
      at: (step) => {
        if (step === 'batch-taken' && host !== undefined) host.wall += 4 * year;
      },
    },
  });
  host = it.host;
  const before = host.wall;
  expect(await it.append()).toBe('none');
  expect(await headMs(it.ledger)).toBeCloseTo(before, -1);
});

test('a forward jump of less than an hour is followed, and reported for a day', async () => {
  const { host, ledger, append } = await started();
  host.wall += 50 * minute;
  await ledger.tick();
  expect(await stateOf(ledger)).toEqual(marked);
  expect(await append()).toBe('none');
  expect(await headMs(ledger)).toBeCloseTo(host.wall, -1);
  host.pass(day);
  await ledger.tick();
  expect(await stateOf(ledger)).toEqual(well);
});

test('slewing and a step of one second are not reported as jumps', async () => {
  const { host, ledger } = await started();
  for (let i = 0; i < 200; i++) {
    host.pass(minute);
    host.wall += i % 2 === 0 ? 3000 : 1000;
    await ledger.tick();
  }
  expect(await stateOf(ledger)).toEqual(well);
});

test('a night of suspension is not a jump; without a boot clock the jump is followed and reported', async () => {
  const { host, ledger, append } = await started();
  host.suspend(9 * hour);
  await ledger.tick();
  expect(await stateOf(ledger)).toEqual(well);
  const other = new Host();
  const without = await open(folder(), other.options({ hasBootTime: false }));
  await without.append([entry(0, {}, other.wall)]);
  other.suspend(9 * hour);
  await without.tick();
  expect(await stateOf(without)).toEqual(marked);
  expect(await append()).toBe('none');
});

test('after a backward jump of less than an hour, heads are dated in minimal steps', async () => {
  const { host, ledger, append } = await started();
  const before = BigInt((await ledger.head()).timestamp_ns);
  host.wall -= 30 * minute;
  expect(await append()).toBe('none');
  expect(await append()).toBe('none');
  expect(await stateOf(ledger)).toEqual(marked);
  expect(BigInt((await ledger.head()).timestamp_ns) - before).toBe(2048n);
  await reverify(ledger);
});

test('after a backward jump of a day, entries are refused until the clock is corrected, and the head is still signed hourly', async () => {
  const { host, dataDir, ledger, append } = await started();
  host.wall -= day;
  expect(await append()).toBe('UNAVAILABLE');
  expect(await stateOf(ledger)).toEqual(refused);
  for (let i = 0; i < 3; i++) {
    const { timestamp_ns } = await ledger.head();
    host.pass(hour);
    await ledger.tick();
    expect((await ledger.head()).timestamp_ns).toBe(timestamp_ns + 1024);
  }
  const { total } = await ledger.heads({ page: 1, per_page: 1 });
  await ledger.tick();
  expect((await ledger.heads({ page: 1, per_page: 1 })).total).toBe(total);
  const events = readFileSync(join(dataDir, 'journal.ndjson'), 'utf8').trim().split('\n');
  expect(events.map((line) => JSON.parse(line).event)).toEqual(['initialised', 'day']);
  host.pass(21 * hour);
  expect(await append()).toBe('none');
});

test('a log with a head years ahead reports the head at each start, and accepts entries once an operator confirms the clock', async () => {
  const { host, dataDir, ledger, append, reopen } = await started();
  await ledger.close();
  // Earlier versions followed any clock.
  host.wall += 4 * year;
  const poisoned = await reopen({ acceptClock: true });
  expect(await append(poisoned)).toBe('none');
  const head = await poisoned.head();
  await poisoned.close();
  host.wall -= 4 * year;
  const found = await reopen();
  expect(await stateOf(found)).toEqual(refused);
  expect((await found.status()).health).toMatchObject({ advice: expect.stringContaining('confirm') });
  expect(await append(found)).toBe('UNAVAILABLE');
  await found.confirmClock();
  expect(await stateOf(found)).toEqual(well);
  expect(await append(found)).toBe('none');
  expect((await found.head()).timestamp_ns).toBe(head.timestamp_ns + 1024);
  const rotated = await found.rotateKey('transparency-sth', 'ann');
  expect(rotated.state).toBe('active');
  await found.close();
  const again = await reopen();
  expect(await stateOf(again)).toEqual(well);
  host.pass(2 * hour);
  const { timestamp_ns } = await again.head();
  await again.tick();
  expect((await again.head()).timestamp_ns).toBe(timestamp_ns + 1024);
  expect(existsSync(join(dataDir, 'clock.json'))).toBe(true);
  await reverify(again);
});

test('a clock that was corrected while the service was stopped is accepted, regardless of how long it was refused', async () => {
  const { host, ledger, append, reopen } = await started();
  host.wall += 90 * minute;
  expect(await append()).toBe('UNAVAILABLE');
  for (let i = 0; i < 2; i++) {
    host.pass(hour);
    await ledger.tick();
  }
  await ledger.close();
  host.wall -= 90 * minute;
  const corrected = await reopen();
  expect(await append(corrected)).toBe('none');
  expect(await stateOf(corrected)).toEqual(well);
});

test('a refused clock stays refused after a restart, until it is corrected', async () => {
  const { host, dataDir, ledger, append, reopen } = await started();
  host.wall += 3 * day;
  expect(await append()).toBe('UNAVAILABLE');
  await ledger.close();
  for (let i = 0; i < 2; i++) {
    host.pass(hour);
    const again = await reopen();
    expect(await append(again)).toBe('UNAVAILABLE');
    expect(await stateOf(again)).toEqual(refused);
    await again.close();
  }
  host.wall -= 3 * day;
  const corrected = await reopen();
  expect(await append(corrected)).toBe('none');
  expect(await stateOf(corrected)).toEqual(well);
  await corrected.close();
  expect(existsSync(join(dataDir, 'clock.json'))).toBe(false);
});

test.each([
  [-2 * hour, refused],
  [-20 * minute, marked],
  [0, well],
  [40 * day, well],
  [2 * year, refused],
])('a start after a kill with a host clock that is %i ms off results in %j', async (off, expected) => {
  const { host, dataDir, append } = await started();
  const copy = folder();
  cloneFolder(dataDir, copy); // in the state after the kill
  host.wall += off;
  const again = await open(copy, host.options());
  expect(await stateOf(again)).toEqual(expected);
  const before = BigInt((await again.head()).timestamp_ns);
  expect(await append(again)).toBe(expected === refused ? 'UNAVAILABLE' : 'none');
  expect(BigInt((await again.head()).timestamp_ns) > before).toBe(expected !== refused);
  await reverify(again);
});

test('a refused clock that an operator confirms stays accepted across restarts', async () => {
  const { host, ledger, append, reopen } = await started();
  host.wall += 3 * day;
  await ledger.tick();
  expect(await stateOf(ledger)).toEqual(refused);
  await ledger.confirmClock();
  expect(await append()).toBe('none');
  await ledger.close();
  const again = await reopen();
  expect(await append(again)).toBe('none');
  expect(await stateOf(again)).toEqual(well);
});

test.each([
  [80 * day, well],
  [100 * day, refused],
  [4 * year, refused],
])('a start %i ms after the last head results in %j', async (off, expected) => {
  const { host, ledger, append, reopen } = await started();
  await ledger.close();
  host.pass(off);
  const again = await reopen();
  expect(await stateOf(again)).toEqual(expected);
  expect(await append(again)).toBe(expected === well ? 'none' : 'UNAVAILABLE');
  if (expected === well) return;
  await again.confirmClock();
  expect(await append(again)).toBe('none');
});

test('an empty log whose journal is dated ahead warns and accepts entries', async () => {
  const [host, dataDir] = [new Host(), folder()];
  await (await open(dataDir, host.options())).close();
  host.wall -= 5 * hour;
  const again = await open(dataDir, host.options());
  expect(await stateOf(again)).toEqual(marked);
  await again.append([entry(0, {}, host.wall)]);
});

test('a malformed clock.json is ignored', async () => {
  const { dataDir, ledger, append, reopen } = await started();
  await ledger.close();
  for (const text of ['', '{', 'null', '{"refused":{}}', '{"accepted_until_ns":"x"}']) {
    writeFileSync(join(dataDir, 'clock.json'), text);
    const again = await reopen();
    expect(await append(again)).toBe('none');
    await again.close();
  }
});

test.each([
  [-day + 1000, 'none'],
  [-day - 1000, 'entries[0].occurred_at'],
  [5 * minute - 1000, 'none'],
  [5 * minute + 1000, 'entries[0].occurred_at'],
])('with occurred_at %i ms from the append, the rejected field is: %s', async (offset, expected) => {
  const host = new Host();
  const ledger = await open(folder(), host.options());
  const result = fieldOf(ledger.append([entry(0, {}, host.wall + offset)]));
  expect((await result) ?? 'none').toBe(expected);
});

test('an entry about a key is dated by its append if the entry was delayed for days', async () => {
  const { host, dataDir, ledger, reopen } = await started();
  await ledger.rotateKey('event-signing', 'ann');
  const [retired] = (await ledger.keyRecords()).filter(({ state }) => state === 'retired');
  await ledger.close();
  // The file of the retired key names an entry that the log lacks.
  const path = join(dataDir, 'keys', `${retired!.kid}.json`);
  const file = JSON.parse(readFileSync(path, 'utf8'));
  const owed = file.svc_entries.at(-1);
  const id = uuid7(host.wall);
  writeFileSync(path, JSON.stringify({ ...file, svc_entries: [...file.svc_entries, { ...owed, id }] }));
  host.pass(10 * day);
  const again = await reopen();
  const { canonical } = await again.leaf({ entry_id: id });
  const logged = JSON.parse(Buffer.from(canonical).toString());
  expect(logged.occurred_at).toBe(new Date(host.wall).toISOString());
  expect(logged.data).toMatchObject({ ...owed.data, delayed_from: owed.occurred_at });
});

test('a rotation is due immediately if its key or its takeover is dated years ahead, otherwise on its date', () => {
  const now = Date.UTC(2026, 0, 1);
  const schedule = { periods: { 'event-signing': 30 * day }, overlapMs: day };
  const file = (atMs: number, due?: number) =>
    ({
      svc_purpose: 'event-signing',
      svc_not_before: new Date(atMs).toISOString(),
      ...(due === undefined ? {} : { svc_succession: { due: new Date(due).toISOString() } }),
    }) as KeyFile;
  const step = (active: number, due?: number) =>
    dueStep(file(active), due === undefined ? undefined : file(active, due), now, schedule);
  expect(step(now + 4 * year)).toBe('publish');
  expect(step(now)).toBeUndefined();
  expect(step(now, now + day)).toBeUndefined();
  expect(step(now, now + 4 * year)).toBe('take_over');
});
