import { once } from 'node:events';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import { type Connection, connect } from '../../src/rpc/connect.ts';
import { emitTo, expose } from '../../src/rpc/expose.ts';
import { methods } from '../../src/rpc/methods.ts';
import { type ExampleService, exampleServiceMethods } from './fixtures/example-service.ts';
import { implementExampleService } from './fixtures/example-service-implementation.ts';

describe('a call to another thread', () => {
  let worker: Worker;
  let service: Connection<ExampleService>;

  beforeAll(async () => {
    worker = new Worker(new URL('./fixtures/example-service-worker.ts', import.meta.url), { workerData: {} });
    service = connect(worker, exampleServiceMethods, { name: 'example-service', maxInFlightBytes: 100_000 });
    await once(worker, 'message');
  });
  afterAll(() => worker.terminate());

  it('resolves with the result', async () => {
    expect(await service.api.add(1, 2)).toBe(3);
    expect(service).toMatchObject({ pending: 0, inFlightBytes: 0 });
  });

  it('moves the buffers of arguments and results: the buffers of the sender are detached', async () => {
    const bytes = new Uint8Array([1, 2, 3]);
    const sum = service.api.sum(bytes);
    expect(bytes.byteLength).toBe(0);
    expect(bytes.buffer.detached).toBe(true);
    expect(await sum).toEqual({ total: 6, backing: 3, bytes: new Uint8Array([1, 2, 3]) });
  });

  it('sends only the bytes of a pooled Buffer, and leaves the pool usable', async () => {
    const pooled = Buffer.from('abc');
    expect(pooled.buffer.byteLength).toBeGreaterThan(3);
    expect(await service.api.sum(pooled)).toMatchObject({ total: 294, backing: 3 });
    expect(pooled.toString()).toBe('abc');
  });

  it('receives only the bytes of a view in a result', async () => {
    const part = await service.api.part();
    expect([...part]).toEqual([7, 7, 7, 7]);
    expect(part.buffer.byteLength).toBe(4);
  });

  it('is started in the order of arrival and completed in any order', async () => {
    const done: string[] = [];
    const calls = [service.api.note('first', 60), service.api.note('second', 1), service.api.note('third', 30)];
    await Promise.all(calls.map((call) => call.then((name) => done.push(name))));
    expect(await service.api.notes()).toEqual(['first', 'second', 'third']);
    expect(done).toEqual(['second', 'third', 'first']);
  });

  it('rejects with the class, code and details of a ServiceError', async () => {
    const error = await service.api.refuse('port').catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({
      code: 'INVALID_REQUEST',
      message: 'port is refused',
      details: { field: 'port', reason: 'is refused' },
    });
  });

  it('rejects with name, message and stack of any other error', async () => {
    const error = await service.api.bug().catch((e: unknown) => e);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ name: 'RangeError', message: 'off by one' });
    expect((error as Error).stack).toContain('example-service-implementation.ts');
  });

  it('rejects when arguments or result cannot be cloned, and releases the call', async () => {
    await expect(service.api.uncloneable()).rejects.toMatchObject({ name: 'DataCloneError' });
    const bytes = new ArrayBuffer(8);
    const odd = { bytes, f: () => 1 } as unknown as ArrayBuffer;
    await expect(service.api.never(odd)).rejects.toMatchObject({ name: 'DataCloneError' });
    expect(bytes.byteLength).toBe(8);
    expect(service).toMatchObject({ pending: 0, inFlightBytes: 0 });
  });

  it('fails immediately with OVERLOADED if it would exceed the limit of bytes in flight, without sending or detaching buffers', async () => {
    const first = service.api.sum(new Uint8Array(60_000));
    expect(service.inFlightBytes).toBeGreaterThanOrEqual(60_000);
    const bytes = new Uint8Array(60_000);
    await expect(service.api.sum(bytes)).rejects.toMatchObject({ code: 'OVERLOADED' });
    expect(service.pending).toBe(1);
    expect(bytes.byteLength).toBe(60_000);
    expect((await first).total).toBe(0);
    expect((await service.api.sum(bytes)).backing).toBe(60_000);
    expect(service.inFlightBytes).toBe(0);
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
    expose(port2, exampleServiceMethods, implementExampleService());
    const { api, close } = connect(port1, exampleServiceMethods);
    const call = api.never();
    const error = new ServiceError('WORKER_LOST', 'gone');
    close(error);
    await expect(call).rejects.toBe(error);
    await expect(api.add(1, 2)).rejects.toBe(error);
  });

  it('receives notices in order, each between the results before and after it', async () => {
    const { port1, port2 } = channel();
    const emit = emitTo<{ sum: number }>(port2);
    const add = (a: number, b: number) => {
      emit({ sum: a + b });
      return a + b;
    };
    expose(port2, exampleServiceMethods, { ...implementExampleService(), add });
    const received: unknown[] = [];
    const { api } = connect(port1, exampleServiceMethods, { onNotice: (notice) => received.push(notice) });
    emit({ sum: 0 });
    const calls = [1, 2, 3].map((n) => api.add(n, n).then((result) => received.push(result)));
    await Promise.all(calls);
    emit({ sum: 8 });
    await api.add(4, 4);
    expect(received).toEqual([
      ...[{ sum: 0 }, { sum: 2 }, 2, { sum: 4 }, 4, { sum: 6 }, 6],
      ...[{ sum: 8 }, { sum: 8 }],
    ]);
  });

  it('receives no notice after it is closed', async () => {
    const { port1, port2 } = channel();
    const emit = emitTo<string>(port2);
    const received: unknown[] = [];
    const { close } = connect(port1, exampleServiceMethods, { onNotice: (notice) => received.push(notice) });
    emit('early');
    await vi.waitFor(() => expect(received).toEqual(['early']), 60_000);
    const late = once(port1, 'message');
    close(new Error('gone'));
    emit('late');
    await late;
    expect(received).toEqual(['early']);
  });

  it('rejects a method that the other thread does not expose', async () => {
    interface Other {
      unknown(): Promise<void>;
    }
    const { port1, port2 } = channel();
    expose(port2, exampleServiceMethods, implementExampleService());
    const { api } = connect(port1, methods<Other>()(['unknown']));
    await expect(api.unknown()).rejects.toThrow('there is no exposed method unknown');
  });
});
