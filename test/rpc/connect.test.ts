import { once } from 'node:events';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import { type Connection, connect, withSignal } from '../../src/rpc/connect.ts';
import { expose } from '../../src/rpc/expose.ts';
import { methods } from '../../src/rpc/methods.ts';
import { type Clerk, clerkMethods } from './fixtures/clerk.ts';
import { clerkAtWork } from './fixtures/clerk-at-work.ts';

describe('a call to another thread', () => {
  let worker: Worker;
  let clerk: Connection<Clerk>;

  beforeAll(async () => {
    worker = new Worker(new URL('./fixtures/clerk-worker.ts', import.meta.url), { workerData: {} });
    clerk = connect(worker, clerkMethods, { name: 'clerk', maxInFlightBytes: 100_000 });
    await once(worker, 'message');
  });
  afterAll(() => worker.terminate());

  it('resolves with the result', async () => {
    expect(await clerk.api.add(1, 2)).toBe(3);
    expect(clerk).toMatchObject({ pending: 0, inFlightBytes: 0 });
  });

  it('moves the buffers of arguments and results: the buffers of the sender are detached', async () => {
    const bytes = new Uint8Array([1, 2, 3]);
    const sum = clerk.api.sum(bytes);
    expect(bytes.byteLength).toBe(0);
    expect(bytes.buffer.detached).toBe(true);
    expect(await sum).toEqual({ total: 6, backing: 3, bytes: new Uint8Array([1, 2, 3]) });
  });

  it('sends only the bytes of a pooled Buffer, and leaves the pool usable', async () => {
    const pooled = Buffer.from('abc');
    expect(pooled.buffer.byteLength).toBeGreaterThan(3);
    expect(await clerk.api.sum(pooled)).toMatchObject({ total: 294, backing: 3 });
    expect(pooled.toString()).toBe('abc');
  });

  it('receives only the bytes of a view in a result', async () => {
    const part = await clerk.api.part();
    expect([...part]).toEqual([7, 7, 7, 7]);
    expect(part.buffer.byteLength).toBe(4);
  });

  it('is started in the order of arrival and answered in the order of completion', async () => {
    const done: string[] = [];
    const calls = [clerk.api.note('first', 60), clerk.api.note('second', 1), clerk.api.note('third', 30)];
    await Promise.all(calls.map((call) => call.then((name) => done.push(name))));
    expect(await clerk.api.notes()).toEqual(['first', 'second', 'third']);
    expect(done).toEqual(['second', 'third', 'first']);
  });

  it('rejects with the class, code and details of a ServiceError', async () => {
    const error = await clerk.api.refuse('port').catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({
      code: 'INVALID_REQUEST',
      message: 'port is refused',
      details: { field: 'port', reason: 'is refused' },
    });
  });

  it('rejects with name, message and stack of any other error', async () => {
    const error = await clerk.api.bug().catch((e: unknown) => e);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ name: 'RangeError', message: 'off by one' });
    expect((error as Error).stack).toContain('clerk-at-work.ts');
  });

  it('rejects when arguments or result cannot be cloned, and leaves nothing in flight', async () => {
    await expect(clerk.api.uncloneable()).rejects.toMatchObject({ name: 'DataCloneError' });
    const bytes = new ArrayBuffer(8);
    const odd = { bytes, f: () => 1 } as unknown as ArrayBuffer;
    await expect(clerk.api.never(odd)).rejects.toMatchObject({ name: 'DataCloneError' });
    expect(bytes.byteLength).toBe(8);
    expect(clerk).toMatchObject({ pending: 0, inFlightBytes: 0 });
  });

  it('fails with OVERLOADED immediately above the limit of bytes in flight, with nothing sent or detached', async () => {
    const first = clerk.api.sum(new Uint8Array(60_000));
    expect(clerk.inFlightBytes).toBeGreaterThanOrEqual(60_000);
    const bytes = new Uint8Array(60_000);
    await expect(clerk.api.sum(bytes)).rejects.toMatchObject({ code: 'OVERLOADED' });
    expect(clerk.pending).toBe(1);
    expect(bytes.byteLength).toBe(60_000);
    expect((await first).total).toBe(0);
    expect((await clerk.api.sum(bytes)).backing).toBe(60_000);
    expect(clerk.inFlightBytes).toBe(0);
  });

  it('that is cancelled while waiting is never started, and counts as in flight until it is answered', async () => {
    const before = await clerk.api.notes();
    const gate = new Int32Array(new SharedArrayBuffer(4));
    const block = clerk.api.block(gate);
    await Atomics.waitAsync(gate, 0, 0).value;
    const controller = new AbortController();
    const dropped = withSignal(clerk.api, controller.signal).note('dropped', 0);
    const kept = clerk.api.note('kept', 0);
    controller.abort();
    await expect(dropped).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(clerk.pending).toBe(3);
    Atomics.store(gate, 0, 2);
    Atomics.notify(gate, 0);
    await Promise.all([block, kept]);
    expect(await clerk.api.notes()).toEqual([...before, 'kept']);
    expect(clerk.pending).toBe(0);
  });

  it('that is cancelled while running sees its signal aborted', async () => {
    const controller = new AbortController();
    const call = withSignal(clerk.api, controller.signal).untilCancelled();
    await clerk.api.add(1, 1);
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(await clerk.api.notes()).toContain('gave up');
    expect(clerk).toMatchObject({ pending: 0, inFlightBytes: 0 });
  });

  it('is not sent when its signal is already aborted', async () => {
    const bytes = new Uint8Array(8);
    const call = withSignal(clerk.api, AbortSignal.abort()).sum(bytes);
    await expect(call).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(bytes.byteLength).toBe(8);
    expect(clerk.pending).toBe(0);
  });
});

describe('a connection', () => {
  const ports: MessagePort[] = [];
  afterEach(() => {
    for (const port of ports.splice(0)) port.close();
  });
  function channel(): MessageChannel {
    const made = new MessageChannel();
    ports.push(made.port1);
    return made;
  }

  it('fails pending and later calls with the error passed to close', async () => {
    const { port1, port2 } = channel();
    expose(port2, clerkMethods, clerkAtWork());
    const { api, close } = connect(port1, clerkMethods);
    const call = api.never();
    const error = new ServiceError('WORKER_LOST', 'gone');
    close(error);
    await expect(call).rejects.toBe(error);
    await expect(api.add(1, 2)).rejects.toBe(error);
  });

  it('rejects a method that the other end does not expose', async () => {
    interface Other {
      unknown(): Promise<void>;
    }
    const { port1, port2 } = channel();
    expose(port2, clerkMethods, clerkAtWork());
    const { api } = connect(port1, methods<Other>()(['unknown']));
    await expect(api.unknown()).rejects.toThrow('there is no exposed method unknown');
  });

  it('can be replaced by an implementation in the same thread', async () => {
    const clerk: Pick<Clerk, 'add'> = { add: async (a, b) => a + b };
    expect(await withSignal(clerk, new AbortController().signal).add(1, 2)).toBe(3);
  });
});
