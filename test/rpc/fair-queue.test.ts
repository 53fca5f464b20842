import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import { type FairQueueOptions, fairQueue } from '../../src/rpc/fair-queue.ts';
import { createPool, type Pool } from '../../src/rpc/pool.ts';
import type { PoolTasks } from './fixtures/pool-worker.ts';

let gate: Int32Array<SharedArrayBuffer>;
let lanes: Pool<PoolTasks>;
/** Results of tasks that have ended, in order. */
let ended: (string | number)[];

/** Opens a queue in which doubling a number below 100 is a short task. It is closed after the test. */
function open(options: Partial<FairQueueOptions> = {}): void {
  const { threads = 2 } = options;
  const pool = createPool<PoolTasks>({
    url: new URL('./fixtures/pool-worker.ts', import.meta.url),
    name: 'test',
    threads,
    maxQueue: 100,
    workerData: { gate: gate.buffer },
  });
  const isShort = (task: string, input: unknown) => task === 'double' && (input as number) < 100;
  lanes = fairQueue(pool, { threads, maxQueue: 100, maxOfCaller: 100, isShort, ...options });
}

beforeEach(() => {
  gate = new Int32Array(new SharedArrayBuffer(20));
  ended = [];
});
afterEach(async () => {
  openGate();
  await lanes.close();
});

function openGate(): void {
  Atomics.store(gate, 0, 1);
  Atomics.notify(gate, 0);
}
/** Waits until this number of long tasks hold their threads. */
const entered = (tasks: number) => vi.waitFor(() => expect(gate[1]).toBe(tasks), { timeout: 60_000 });
const hold = (caller = 'holder') => lanes.run('wait', caller, { caller }).then((name) => ended.push(name));
const ask = (n: number, caller: string) => lanes.run('double', n, { caller }).then(() => void ended.push(n));

test('long tasks leave one thread free for short tasks', async () => {
  open({ threads: 3 });
  const held = [1, 2, 3, 4].map(() => hold());
  await entered(2);
  const long = ask(100, 'other');
  for (const n of [1, 2, 3]) await ask(n, 'other');
  expect([ended, gate[1]]).toEqual([[1, 2, 3], 2]);
  expect(lanes.stats()).toMatchObject({ running: 2, queued: 3 });
  openGate();
  await Promise.all([...held, long]);
  expect(gate[1]).toBe(4);
});

test('a pool with one thread completes long tasks', async () => {
  open({ threads: 1 });
  const held = [hold(), hold()];
  await entered(1);
  const short = ask(1, 'other');
  openGate();
  await Promise.all([...held, short]);
  expect(ended.filter((one) => one === 'holder')).toHaveLength(2);
});

test('callers take turns, regardless of how many tasks they have', async () => {
  open();
  const all = [hold()];
  await entered(1);
  for (const n of [101, 102, 103, 104]) all.push(ask(n, 'greedy').then(() => 0));
  for (const n of [201, 202]) all.push(ask(n, 'second').then(() => 0));
  all.push(ask(301, 'third').then(() => 0));
  openGate();
  await Promise.all(all);
  expect(ended).toEqual(['holder', 101, 201, 301, 102, 202, 103, 104]);
});

test('a caller over its task limit is rejected while other callers are served', async () => {
  open({ maxOfCaller: 3 });
  const held = [hold('greedy'), hold('greedy'), hold('greedy')];
  await entered(1);
  await expect(ask(1, 'greedy')).rejects.toMatchObject({
    code: 'RATE_LIMITED',
    details: { retry_after_s: 1 },
  });
  await expect(ask(101, 'greedy')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  await ask(2, 'other');
  openGate();
  await Promise.all(held);
  await ask(3, 'greedy');
  await lanes.run('double', 1);
  expect(ended.filter((one) => typeof one === 'number')).toEqual([2, 3]);
});

test('a full queue rejects long tasks and accepts short tasks', async () => {
  open({ maxQueue: 2 });
  const held = [hold('a'), hold('b'), hold('c')];
  await entered(1);
  await expect(ask(101, 'd')).rejects.toMatchObject({ code: 'OVERLOADED' });
  await ask(1, 'd');
  openGate();
  await Promise.all(held);
});

test('a task cancelled while waiting frees its slot and is never started', async () => {
  open({ maxOfCaller: 2 });
  const held = hold('one');
  await entered(1);
  const gone = new AbortController();
  const waiting = lanes.run('wait', 'x', { caller: 'one', signal: gone.signal });
  await expect(ask(101, 'one')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  gone.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'CANCELLED' });
  expect(lanes.stats().queued).toBe(0);
  const next = ask(101, 'one');
  openGate();
  await Promise.all([held, next]);
  expect([ended, gate[1]]).toEqual([['one', 101], 1]);
  await expect(lanes.run('wait', 'x', { signal: gone.signal })).rejects.toMatchObject({ code: 'CANCELLED' });
});

test('cancelling a running task lets the next task start', async () => {
  open();
  const gone = new AbortController();
  const running = lanes.run('untilCancelled', null, { caller: 'one', signal: gone.signal });
  await entered(1);
  const next = ask(101, 'two');
  gone.abort();
  await expect(running).rejects.toMatchObject({ code: 'CANCELLED' });
  await next;
  await vi.waitFor(() => expect(gate[2]).toBe(1), 60_000);
});

test('with a share of a quarter, the slot for long tasks pauses three times as long as the last task took', async () => {
  open({ threads: 1, longShare: 0.25 });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const first = hold();
  while (gate[1] !== 1) await setImmediate();
  const second = ask(101, 'other');
  vi.advanceTimersByTime(1000);
  openGate();
  await first;
  await ask(1, 'other');
  vi.advanceTimersByTime(2999);
  await ask(2, 'other');
  expect([ended, lanes.stats().queued]).toEqual([['holder', 1, 2], 1]);
  vi.advanceTimersByTime(1);
  await second;
  expect(ended.at(-1)).toBe(101);
});

test('closing the pool ends a pause', async () => {
  open({ threads: 1, longShare: 0.001 });
  const held = hold();
  await entered(1);
  openGate();
  await held;
  const waiting = ask(101, 'other');
  await lanes.close();
  await waiting;
  expect(ended).toEqual(['holder', 101]);
});

test('a failing task rejects with its own error and frees its slot', async () => {
  open({ maxOfCaller: 1 });
  for (const _ of [1, 2]) {
    const refused = lanes.run('refuse', 'name', { caller: 'one' });
    await expect(refused).rejects.toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }));
    await expect(refused).rejects.toBeInstanceOf(ServiceError);
  }
});

test('closing the pool finishes waiting tasks and rejects new tasks', async () => {
  open();
  const held = hold();
  await entered(1);
  const waiting = ask(101, 'other');
  const closed = lanes.close();
  await expect(ask(1, 'other')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  openGate();
  await Promise.all([held, waiting, closed]);
  expect(ended).toEqual(['holder', 101]);
});
