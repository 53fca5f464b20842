/**
 * Faults at each step of a commit, and in the commit itself before and after it takes effect, while the log is idle,
 * busy, and re-signing its head. The tests check the callers' results, the state on disk, and that
 * an auditor finds no fault.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { ServiceError } from '../../src/errors.ts';
import type { LedgerHooks, LedgerStep } from '../../src/ledger/hooks.ts';
import type { Appended, UnsignedEntry } from '../../src/ledger/ledger.ts';
import { type DurableLedger, openLedger } from '../../src/ledger/open.ts';
import { DamagedError, type LedgerStorage } from '../../src/ledger/storage/storage.ts';
import { limits } from '../../src/limits.ts';
import { codeOf, entries, entry, folder, open } from './fixture.ts';
import { reverify } from './reverify.ts';

/** Disk errors as lmdb reports them, by number. */
const errors = { EIO: 5, ENOSPC: 28 } as const;
const refusal = (name: keyof typeof errors) => Object.assign(new Error(name), { code: errors[name] });

/** Place of the fault. A hook runs between the step that it is named after and the next step. */
type Place = LedgerStep | 'commit, not persisted' | 'commit, but persisted';

const places: readonly { place: Place; persisted: boolean; answered: boolean }[] = [
  { place: 'batch-taken', persisted: false, answered: false },
  { place: 'head-signed', persisted: false, answered: false },
  { place: 'in-transaction', persisted: false, answered: false },
  { place: 'commit, not persisted', persisted: false, answered: false },
  { place: 'commit, but persisted', persisted: true, answered: false },
  { place: 'flushed', persisted: true, answered: false },
  { place: 'released', persisted: true, answered: true },
];

const hour = 3_600_000_000_000n;

/** Opens a ledger that fails at `place` once it is armed. Its clock stands still unless the test moves it. */
async function fragile(dataDir: string, place: Place, error: Error) {
  const clock = { now: BigInt(Date.now()) * 1_000_000n };
  const fatal: unknown[] = [];
  /** Size after the last attempted commit. */
  let tried = 0;
  let armed = false;
  const strike = (here: Place) => {
    if (!armed || here !== place) return;
    armed = false;
    throw error;
  };
  const hooks: LedgerHooks = {
    at: strike,
    storage: (inner) =>
      wrapped(inner, (batch, beforeCommit) => {
        tried = batch.head.size;
        strike('commit, not persisted');
        inner.commit(batch, beforeCommit);
        strike('commit, but persisted');
      }),
  };
  const onFatal = (failure: unknown) => fatal.push(failure);
  const ledger = await openLedger({ dataDir, hooks, onFatal, clock: () => clock.now });
  onTestFinished(() => ledger.close());
  const arm = () => {
    armed = true;
  };
  return { ledger, clock, fatal, arm, tried: () => tried };
}

/** Returns the same storage with a different commit function. */
function wrapped(inner: LedgerStorage, commit: LedgerStorage['commit']): LedgerStorage {
  return new Proxy(inner, {
    get(target, name) {
      if (name === 'commit') return commit;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

/** Checks that the ledger has stopped permanently and has reported the cause once. */
async function hasStopped({ ledger, fatal }: { ledger: DurableLedger; fatal: unknown[] }, error: Error) {
  expect(fatal).toEqual([error]);
  expect(await codeOf(ledger.append([entry(900)]))).toBe('WORKER_LOST');
  await ledger.tick();
  await ledger.close();
  expect(fatal).toEqual([error]);
}

const cases = places.flatMap((row) => (['EIO', 'ENOSPC'] as const).map((failure) => ({ ...row, failure })));

test.each(cases)(
  'an idle log has a valid state after $failure at $place',
  async ({ place, persisted, answered, failure }) => {
    const dataDir = folder();
    const error = refusal(failure);
    const broken = await fragile(dataDir, place, error);
    const answers = await broken.ledger.append(entries(0, 5));
    const pin = await broken.ledger.head();
    broken.arm();
    const call = broken.ledger.append(entries(5, 8));
    if (answered) answers.push(...(await call));
    else expect(await codeOf(call)).toBe('WORKER_LOST');
    // A head that may not be on disk is never served.
    const shown = await broken.ledger.head();
    if (answered) expect(shown.tree_size).toBe(8);
    else expect(shown).toEqual(pin);
    await hasStopped(broken, error);

    const again = await open(dataDir);
    expect(await again.status()).toMatchObject({ size: persisted ? 8 : 5, health: { state: 'ok' } });
    const found = await reverify(again, { pins: [pin, shown], answers });
    const retried = await again.append(entries(5, 9));
    expect(retried.map((a) => a.leaf_index)).toEqual([5, 6, 7, 8]);
    await reverify(again, { pins: [pin, shown, found.head], answers: [...answers, ...retried] });
  },
);

test.each(cases)(
  'a busy log has a valid state after $failure at $place',
  async ({ place, persisted, answered, failure }) => {
    const dataDir = folder();
    const error = refusal(failure);
    const broken = await fragile(dataDir, place, error);
    const calls: { sent: UnsignedEntry[]; outcome: Promise<Appended[] | string> }[] = [];
    /** Each caller sends separate entries, and one entry that the next caller also sends. */
    const send = (n: number) => {
      const sent = [...entries(4 * n, 4 * n + 4), entry(4 * n + 4)];
      const outcome = broken.ledger.append(sent).catch((failed: unknown) => (failed as ServiceError).code);
      calls.push({ sent, outcome });
    };
    for (let n = 0; n < 4; n++) send(n);
    await Promise.all(calls.map(({ outcome }) => outcome));
    const pin = await broken.ledger.head();
    // Callers before the fault, during it, and after it.
    for (let n = 4; n < 8; n++) send(n);
    broken.arm();
    await calls[4]!.outcome;
    for (let n = 8; n < 12; n++) send(n);
    const outcomes = await Promise.all(calls.map(({ outcome }) => outcome));
    const answers = outcomes.filter((outcome) => typeof outcome !== 'string').flat();
    // Some of the four waiting entries share the failing commit; the last entry of call n has index 4n + 4.
    const size = persisted ? broken.tried() : 17;
    const expected = (n: number) => (n < 4 || (answered && 4 * n + 4 < size) ? 'answered' : 'WORKER_LOST');
    expect(outcomes.map((outcome) => (typeof outcome === 'string' ? outcome : 'answered'))).toEqual(
      calls.map((_, n) => expected(n)),
    );
    if (persisted) expect(size).toBeGreaterThan(17);
    await hasStopped(broken, error);

    const again = await open(dataDir);
    expect(await again.status()).toMatchObject({ size, health: { state: 'ok' } });
    const found = await reverify(again, { pins: [pin], answers });
    const retried = (await Promise.all(calls.map(({ sent }) => again.append(sent)))).flat();
    const indices = new Map(retried.map((a) => [a.id, a.leaf_index]));
    expect(retried.every((a) => indices.get(a.id) === a.leaf_index)).toBe(true);
    expect([...indices.values()].sort((a, b) => a - b)).toEqual(Array.from({ length: 49 }, (_, i) => i));
    await reverify(again, { pins: [pin, found.head], answers: [...answers, ...retried] });
  },
);

test.each(cases)(
  'a log that re-signs its head has a valid state after $failure at $place',
  async ({ place, persisted, answered, failure }) => {
    const dataDir = folder();
    const error = refusal(failure);
    const broken = await fragile(dataDir, place, error);
    const answers = await broken.ledger.append(entries(0, 3));
    const pin = await broken.ledger.head();
    broken.clock.now += 2n * hour;
    broken.arm();
    await broken.ledger.tick();
    const shown = await broken.ledger.head();
    if (answered) expect(shown.timestamp_ns).toBeGreaterThan(pin.timestamp_ns);
    else expect(shown).toEqual(pin);
    await hasStopped(broken, error);

    const again = await open(dataDir, { clock: () => broken.clock.now });
    const found = await reverify(again, { pins: [pin, shown], answers });
    expect(found.head.tree_size).toBe(3);
    if (persisted) expect(found.head.timestamp_ns).toBeGreaterThan(pin.timestamp_ns);
    else expect(found.head).toEqual(pin);
    // A head that was signed and lost may have had this time, so the next head must be later than all known
    // heads.
    const retried = await again.append(entries(2, 5));
    expect(retried.map((a) => a.leaf_index)).toEqual([2, 3, 4]);
    await reverify(again, { pins: [pin, shown, found.head], answers: [...answers, ...retried] });
  },
);

test.each([
  ['headOf', (ledger: DurableLedger) => ledger.head(1), 'INTERNAL', 'ok'],
  ['indexOf', (ledger: DurableLedger) => ledger.append([entry(9)]), 'UNAVAILABLE', 'degraded'],
] as const)(
  'damage found by %s is reported, and stops appends that need the damaged data',
  async (name, ask, code, state) => {
    const hooks: LedgerHooks = {
      at: () => undefined,
      storage: (inner) =>
        new Proxy(inner, {
          get(target, member) {
            if (member === name)
              return () => {
                throw new DamagedError('a page that is not valid');
              };
            const found: unknown = Reflect.get(target, member, target);
            return typeof found === 'function' ? found.bind(target) : found;
          },
        }),
    };
    const dataDir = folder();
    const before = await openLedger({ dataDir });
    await before.append([entry(0)]);
    await before.append([entry(1)]);
    await before.close();
    const ledger = await open(dataDir, { hooks });
    expect(await codeOf(ask(ledger))).toBe(code);
    expect((await ledger.status()).health.state).toBe(state);
  },
);

test('entries are refused while the disk is nearly full, and accepted afterwards', async () => {
  const dataDir = folder();
  let free = Number.POSITIVE_INFINITY;
  const ledger = await open(dataDir, { freeBytes: () => free });
  const answers = await ledger.append(entries(0, 3));
  const pin = await ledger.head();
  free = limits.minFreeLedgerDiskBytes + 100;
  const calls = [ledger.append(entries(3, 5)), ledger.append([entry(4), entry(5)])];
  const refused = { code: 'UNAVAILABLE', details: { reason: 'disk_full' } };
  await Promise.all(calls.map((call) => expect(call).rejects.toMatchObject(refused)));
  expect(await ledger.head()).toEqual(pin);
  free = 0;
  expect(await ledger.append([entry(1)])).toEqual([answers[1]]); // already in the log: nothing has to be written
  free = Number.POSITIVE_INFINITY;
  const later = await ledger.append([entry(5), entry(3), entry(4), entry(1)]);
  expect(later.map((a) => a.leaf_index)).toEqual([3, 4, 5, 1]);
  await reverify(ledger, { pins: [pin], answers: [...answers, ...later] });
});

test('scheduled work is postponed while the disk is nearly full', async () => {
  const clock = { now: BigInt(Date.now()) * 1_000_000n };
  let free = Number.POSITIVE_INFINITY;
  const dataDir = folder();
  const ledger = await open(dataDir, { clock: () => clock.now, freeBytes: () => free });
  await ledger.append([entry(0)]);
  const pin = await ledger.head();
  const lines = () => readFileSync(join(dataDir, 'journal.ndjson'), 'utf8').trim().split('\n').length;
  free = limits.minFreeLedgerDiskBytes - 1;
  clock.now += 25n * hour;
  await ledger.tick();
  expect(await ledger.head()).toEqual(pin);
  expect(lines()).toBe(1);
  expect(await codeOf(ledger.keepCheckpoint(await ledger.checkpoint()))).toBe('UNAVAILABLE');
  free = Number.POSITIVE_INFINITY;
  await ledger.tick();
  expect((await reverify(ledger, { pins: [pin] })).head.timestamp_ns).toBeGreaterThan(pin.timestamp_ns);
  expect(lines()).toBe(2);
});

test.each(['anchor-written', 'anchor-renamed'] as const)(
  'a failed anchor write (%s) is retried, while appends continue',
  async (place) => {
    const dataDir = folder();
    const error = refusal('EIO');
    const broken = await fragile(dataDir, place, error);
    const answers = await broken.ledger.append(entries(0, 3));
    const pin = await broken.ledger.head();
    broken.arm();
    const findings = async () => (await broken.ledger.status()).findings.map(({ code }) => code);
    while (!(await findings()).includes('anchor_unavailable')) await setTimeout(10);
    while ((await findings()).length > 0) await setTimeout(10);
    expect(broken.fatal).toEqual([]);
    answers.push(...(await broken.ledger.append([entry(3)])));
    await broken.ledger.close();
    expect(JSON.parse(readFileSync(join(dataDir, 'anchor.json'), 'utf8'))).toMatchObject({ tree_size: 4 });
    const again = await open(dataDir);
    const retried = await again.append(entries(1, 5));
    await reverify(again, { pins: [pin], answers: [...answers, ...retried] });
  },
);
