import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import { type Supervised, type SuperviseOptions, supervise, superviseOnDemand } from '../../src/rpc/supervise.ts';
import { type ExampleService, exampleServiceMethods } from './fixtures/example-service.ts';

describe('a supervised worker', () => {
  const started: Supervised<ExampleService>[] = [];
  const gaveUp = vi.fn<(error: Error) => void>();
  const restarted = vi.fn<(error: Error) => void>();

  async function start(options: Partial<SuperviseOptions<ExampleService>> = {}): Promise<Supervised<ExampleService>> {
    const service = await supervise<ExampleService>({
      name: 'example-service',
      url: new URL('./fixtures/example-service-worker.ts', import.meta.url),
      list: exampleServiceMethods,
      workerData: {},
      onGiveUp: gaveUp,
      onRestart: restarted,
      ...options,
    });
    started.push(service);
    return service;
  }
  /** Waits for the first successful call, because calls fail until the worker has restarted. */
  async function back(service: Supervised<ExampleService>): Promise<void> {
    await vi.waitFor(() => service.api.add(1, 1), { timeout: 60_000, interval: 20 });
  }
  afterEach(async () => {
    await Promise.all(started.splice(0).map((service) => service.close()));
    vi.clearAllMocks();
  });

  it('is ready when its start resolves', async () => {
    const service = await start();
    expect(await service.api.add(1, 2)).toBe(3);
    expect(service.stats()).toEqual({ pending: 0, inFlightBytes: 0, restarts: 0 });
  });

  it('that fails before it is ready rejects the start with its own error', async () => {
    const error = await start({ workerData: { refuseStart: 'rest' } }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({
      code: 'UNAVAILABLE',
      message: 'the example service cannot start',
      details: { advice: 'rest' },
    });
    expect(gaveUp).not.toHaveBeenCalled();
  });

  it('that does not exist rejects the start', async () => {
    await expect(start({ url: new URL('./fixtures/nobody.ts', import.meta.url) })).rejects.toThrow('nobody.ts');
  });

  it.each([
    ['exits', (api: ExampleService) => api.exit(), 'exited with code 3'],
    ['throws outside of a call', (api: ExampleService) => api.throwInTimer(), 'thrown in a timer'],
    ['outgrows its heap', (api: ExampleService) => api.fillHeap(), 'memory limit'],
  ])('that %s loses its pending calls and is restarted', async (_, die, message) => {
    const service = await start({ maxOldGenerationMb: 24 });
    const waiting = service.api.never();
    const deadly = die(service.api);
    const lost = await Promise.allSettled([waiting, deadly]);
    for (const call of lost) expect(call).toMatchObject({ reason: { code: 'WORKER_LOST' } });
    expect(service.stats()).toEqual({ pending: 0, inFlightBytes: 0, restarts: 1 });
    await expect(service.api.add(1, 2)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await back(service);
    expect(restarted).toHaveBeenCalledOnce();
    expect(restarted.mock.calls[0]?.[0].message).toContain(message);
    expect(gaveUp).not.toHaveBeenCalled();
  });

  it('that dies of a final error is not restarted', async () => {
    const service = await start({ isFinal: (error) => error.message.includes('timer') });
    await expect(service.api.throwInTimer()).rejects.toMatchObject({ code: 'WORKER_LOST' });
    expect(gaveUp).toHaveBeenCalledOnce();
    expect(restarted).not.toHaveBeenCalled();
    await expect(service.api.add(1, 2)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('that dies twice within a minute is not restarted', async () => {
    const service = await start();
    await expect(service.api.exit()).rejects.toMatchObject({ code: 'WORKER_LOST' });
    await back(service);
    await expect(service.api.exit()).rejects.toMatchObject({ code: 'WORKER_LOST' });
    expect(gaveUp).toHaveBeenCalledOnce();
    expect(service.stats().restarts).toBe(1);
    await expect(service.api.add(1, 2)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('that fails to restart is not restarted again', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'candor-'));
    try {
      const exitAtStart = join(folder, 'exit');
      const service = await start({ workerData: { exitAtStart } });
      writeFileSync(exitAtStart, '');
      await expect(service.api.exit()).rejects.toMatchObject({ code: 'WORKER_LOST' });
      await vi.waitFor(() => expect(gaveUp).toHaveBeenCalledOnce(), { timeout: 60_000 });
      expect(gaveUp.mock.calls[0]?.[0].message).toContain('code 4');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('that dies again after more than a minute is restarted', async () => {
    let now = 0;
    const service = await start({ clock: () => now });
    for (const restarts of [1, 2, 3]) {
      await expect(service.api.exit()).rejects.toMatchObject({ code: 'WORKER_LOST' });
      await back(service);
      expect(service.stats().restarts).toBe(restarts);
      now += 60_000;
    }
    expect(gaveUp).not.toHaveBeenCalled();
  });

  it('that is closed rejects new calls, completes pending calls, and ends', async () => {
    const service = await start();
    const pending = service.api.note('last', 50);
    const closed = service.close();
    await expect(service.api.add(1, 2)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await pending).toBe('last');
    await closed;
    expect(restarted).not.toHaveBeenCalled();
    await service.close();
  });
});

describe('a supervised worker on demand', () => {
  function open() {
    const folder = mkdtempSync(join(tmpdir(), 'candor-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    // The worker removes this file when it starts, and ends.
    const exitAtStart = join(folder, 'exit');
    writeFileSync(exitAtStart, '');
    const service = superviseOnDemand<ExampleService>({
      name: 'example-service',
      url: new URL('./fixtures/example-service-worker.ts', import.meta.url),
      list: exampleServiceMethods,
      workerData: { exitAtStart },
      onGiveUp: (error) => expect.unreachable(error.message),
    });
    onTestFinished(() => service.close());
    return { service, wasStarted: () => !existsSync(exitAtStart) };
  }

  it('starts with the first call, and again with the next call if the start fails', async () => {
    const { service, wasStarted } = open();
    // Another worker starts and answers in the meantime.
    const other = open();
    await expect(other.service.api.add(1, 2)).rejects.toThrow('exited with code 4');
    expect(await other.service.api.add(1, 2)).toBe(3);
    expect(wasStarted()).toBe(false);
    const failed = await Promise.allSettled([service.api.add(1, 2), service.api.add(3, 4)]);
    for (const call of failed)
      expect(call).toMatchObject({ reason: { message: 'example-service exited with code 4' } });
    expect(wasStarted()).toBe(true);
    expect(await Promise.all([service.api.add(1, 2), service.api.add(3, 4)])).toEqual([3, 7]);
    expect(service.stats()).toEqual({ pending: 0, inFlightBytes: 0, restarts: 0 });
    await service.close();
    await expect(service.api.add(1, 2)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('that is closed before its first call does not start', async () => {
    const { service, wasStarted } = open();
    await service.close();
    await expect(service.api.add(1, 2)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(wasStarted()).toBe(false);
  });

  it('that is closed while it starts completes the pending call, and ends', async () => {
    const { service } = open();
    await expect(service.api.add(1, 2)).rejects.toThrow('exited with code 4');
    const pending = service.api.add(1, 2);
    const closed = service.close();
    expect(await pending).toBe(3);
    await closed;
    await expect(service.api.add(1, 2)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});
