import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import { createPool, type Pool, type PoolOptions } from '../../src/rpc/pool.ts';
import type { PoolTasks } from './fixtures/pool-worker.ts';

describe('a pool', () => {
  let pool: Pool<PoolTasks>;
  let gate: Int32Array<SharedArrayBuffer>;
  const lost = vi.fn<(error: Error) => void>();

  function open(options: Partial<PoolOptions> = {}): Pool<PoolTasks> {
    return createPool<PoolTasks>({
      url: new URL('./fixtures/pool-worker.ts', import.meta.url),
      name: 'test',
      threads: 1,
      maxQueue: 2,
      workerData: { gate: gate.buffer },
      onWorkerLost: lost,
      ...options,
    });
  }
  function openGate(): void {
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
  }
  const entered = (tasks: number) => vi.waitFor(() => expect(gate[1]).toBe(tasks), { timeout: 60_000 });

  beforeEach(() => {
    gate = new Int32Array(new SharedArrayBuffer(20));
    pool = open();
    lost.mockClear();
  });
  afterEach(async () => {
    openGate();
    await pool.close();
  });

  it('runs a task and returns its result', async () => {
    expect(await pool.run('double', 21)).toBe(42);
    expect(pool.stats()).toEqual({ queued: 0, running: 0, completed: 1 });
  });

  it('moves the buffers of input and result: the buffers of the sender are detached', async () => {
    const bytes = new Uint8Array([1, 2, 3]);
    const run = pool.run('increment', bytes);
    expect(bytes.buffer.detached).toBe(true);
    const { blocks, backing } = await run;
    expect(backing).toBe(3);
    expect(blocks.map((block) => [...new Uint8Array(block)])).toEqual([
      [2, 3, 4],
      [1, 2, 3],
    ]);
  });

  it('sends only the bytes of a pooled Buffer', async () => {
    const pooled = Buffer.from('abc') as Uint8Array as Uint8Array<ArrayBuffer>;
    expect((await pool.run('increment', pooled)).backing).toBe(3);
    expect(pooled.byteLength).toBe(3);
  });

  it('rejects with OVERLOADED when its queue is full, and runs accepted tasks in order', async () => {
    const done: string[] = [];
    const wait = (name: string) => pool.run('wait', name).then((it) => done.push(it));
    const accepted = [wait('a'), wait('b'), wait('c')];
    const bytes = new Uint8Array(8);
    await expect(pool.run('increment', bytes)).rejects.toMatchObject({ code: 'OVERLOADED' });
    expect(bytes.byteLength).toBe(8);
    expect(pool.stats()).toEqual({ queued: 2, running: 1, completed: 0 });
    openGate();
    await Promise.all(accepted);
    expect(done).toEqual(['a', 'b', 'c']);
  });

  it('counts waiting tasks that have a signal towards its queue limit', async () => {
    const { signal } = new AbortController();
    const accepted = ['a', 'b', 'c'].map((name) => pool.run('wait', name, { signal }));
    await expect(pool.run('wait', 'd', { signal })).rejects.toMatchObject({ code: 'OVERLOADED' });
    openGate();
    expect(await Promise.all(accepted)).toEqual(['a', 'b', 'c']);
  });

  it('never starts a task that was cancelled while waiting', async () => {
    const running = pool.run('wait', 'running');
    await entered(1);
    const controller = new AbortController();
    const bytes = new Uint8Array(8);
    const dropped = pool.run('increment', bytes, { signal: controller.signal });
    controller.abort();
    await expect(dropped).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(bytes.byteLength).toBe(8);
    expect(pool.stats()).toEqual({ queued: 0, running: 1, completed: 1 });
    await expect(pool.run('wait', 'x', { signal: controller.signal })).rejects.toMatchObject({
      code: 'CANCELLED',
    });
    openGate();
    expect(await running).toBe('running');
  });

  it('notifies a running task of its cancellation, and keeps the thread', async () => {
    const controller = new AbortController();
    const running = pool.run('untilCancelled', null, { signal: controller.signal });
    await entered(1);
    controller.abort();
    await expect(running).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(await pool.run('double', 1)).toBe(2);
    expect(gate[2]).toBe(1);
    expect(lost).not.toHaveBeenCalled();
  });

  it('rejects with the class, code and details of a ServiceError, and with the name and stack of any other error', async () => {
    const refused = await pool.run('refuse', 'port').catch((e: unknown) => e);
    expect(refused).toBeInstanceOf(ServiceError);
    expect(refused).toMatchObject({
      code: 'INVALID_REQUEST',
      details: { field: 'port', reason: 'is refused' },
    });
    const bug = await pool.run('bug', null).catch((e: unknown) => e);
    expect(bug).toMatchObject({ name: 'RangeError', message: 'off by one' });
    expect((bug as Error).stack).toContain('pool-worker.ts');
  });

  it('rejects an input that cannot be cloned; a result that cannot be cloned ends the thread', async () => {
    const input = (() => 1) as unknown as number;
    await expect(pool.run('double', input)).rejects.toMatchObject({ name: 'DataCloneError' });
    expect(lost).not.toHaveBeenCalled();
    const error = await pool.run('uncloneable', null).catch((e: unknown) => e);
    expect(error).toMatchObject({
      code: 'WORKER_LOST',
      message: expect.stringContaining('could not be cloned'),
    });
    expect(await pool.run('double', 2)).toBe(4);
  });

  it('loses only the running task when a thread dies', async () => {
    await pool.close();
    pool = open({ threads: 2, maxQueue: 10 });
    const other = pool.run('wait', 'other');
    await entered(1);
    const dying = pool.run('exit', null);
    const waiting = [1, 2, 3].map((n) => pool.run('double', n));
    await expect(dying).rejects.toMatchObject({ code: 'WORKER_LOST' });
    expect(await Promise.all(waiting)).toEqual([2, 4, 6]);
    openGate();
    expect(await other).toBe('other');
    expect(lost).toHaveBeenCalledOnce();
  });

  it('replaces the thread of a task over its time limit, and continues with waiting tasks', async () => {
    await pool.close();
    pool = open({ maxTaskMs: 300 });
    const held = pool.run('wait', 'held');
    const waiting = pool.run('double', 21);
    await expect(held).rejects.toMatchObject({
      code: 'WORKER_LOST',
      message: expect.stringContaining('wait'),
    });
    expect(await waiting).toBe(42);
    expect(lost).toHaveBeenCalledOnce();
  });

  it('survives repeated deaths of its thread', async () => {
    for (let i = 0; i < 3; i++) {
      await expect(pool.run('exit', null)).rejects.toMatchObject({ code: 'WORKER_LOST' });
      expect(await pool.run('double', i)).toBe(2 * i);
    }
  });

  it('fails every task with WORKER_LOST when no thread can start, and never hangs', async () => {
    await pool.close();
    pool = open({ url: new URL('./fixtures/broken-pool-worker.ts', import.meta.url), maxQueue: 10 });
    for (let round = 0; round < 2; round++) {
      const runs = await Promise.allSettled([1, 2, 3].map((n) => pool.run('double', n)));
      for (const run of runs) expect(run).toMatchObject({ reason: { code: 'WORKER_LOST' } });
    }
    expect(lost.mock.calls[0]?.[0].message).toContain('does not load');
  });

  it('with idleMs starts its threads with the first task, ends them without tasks, and starts them again', async () => {
    await pool.close();
    Atomics.store(gate, 4, 0);
    pool = open({ idleMs: 20, threads: 2 });
    const other = open({ workerData: { gate: new SharedArrayBuffer(20) } });
    await other.run('double', 1);
    await other.close();
    expect(gate[4]).toBe(0);
    expect(await Promise.all([1, 2, 3].map((n) => pool.run('double', n)))).toEqual([2, 4, 6]);
    await vi.waitFor(
      async () => {
        await setTimeout(200);
        expect(await pool.run('double', 4)).toBe(8);
        expect(gate[4]).toBeGreaterThan(2);
      },
      { timeout: 60_000 },
    );
    expect(lost).not.toHaveBeenCalled();
  });

  it('with idleMs keeps the thread of a task that takes longer', async () => {
    await pool.close();
    pool = open({ idleMs: 20 });
    await pool.run('double', 1);
    const running = pool.run('wait', 'long');
    await entered(1);
    await setTimeout(100);
    openGate();
    expect(await running).toBe('long');
    expect(lost).not.toHaveBeenCalled();
  });

  it('lets idle threads return to their event loop', async () => {
    await pool.run('timer', null);
    await vi.waitFor(async () => expect(await pool.run('timer', null)).toBe(true), { interval: 20 });
  });

  it('that is closed refuses new tasks and finishes the accepted tasks', async () => {
    const accepted = ['a', 'b'].map((name) => pool.run('wait', name));
    const closed = pool.close();
    await expect(pool.run('double', 1)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    openGate();
    expect(await Promise.all(accepted)).toEqual(['a', 'b']);
    await closed;
  });
});
