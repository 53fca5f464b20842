import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import { type Supervised, type SuperviseOptions, supervise } from '../../src/rpc/supervise.ts';
import { type Clerk, clerkMethods } from './fixtures/clerk.ts';

describe('a supervised worker', () => {
  const started: Supervised<Clerk>[] = [];
  const gaveUp = vi.fn<(error: Error) => void>();
  const restarted = vi.fn<(error: Error) => void>();

  async function start(options: Partial<SuperviseOptions<Clerk>> = {}): Promise<Supervised<Clerk>> {
    const clerk = await supervise<Clerk>({
      name: 'clerk',
      url: new URL('./fixtures/clerk-worker.ts', import.meta.url),
      list: clerkMethods,
      workerData: {},
      onGiveUp: gaveUp,
      onRestart: restarted,
      ...options,
    });
    started.push(clerk);
    return clerk;
  }
  /** Calls made while the worker is away fail. The first answered call shows that it is back. */
  async function back(clerk: Supervised<Clerk>): Promise<void> {
    await vi.waitFor(() => clerk.api.add(1, 1), { timeout: 10_000, interval: 20 });
  }
  afterEach(async () => {
    await Promise.all(started.splice(0).map((clerk) => clerk.close()));
    vi.clearAllMocks();
  });

  it('is ready when its start resolves', async () => {
    const clerk = await start();
    expect(await clerk.api.add(1, 2)).toBe(3);
    expect(clerk.stats()).toEqual({ pending: 0, inFlightBytes: 0, restarts: 0 });
  });

  it('that fails before it is ready rejects the start with its own error', async () => {
    const error = await start({ workerData: { refuseStart: 'rest' } }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({
      code: 'UNAVAILABLE',
      message: 'the clerk is ill',
      details: { advice: 'rest' },
    });
    expect(gaveUp).not.toHaveBeenCalled();
  });

  it('that does not exist rejects the start', async () => {
    await expect(start({ url: new URL('./fixtures/nobody.ts', import.meta.url) })).rejects.toThrow(
      'nobody.ts',
    );
  });

  it.each([
    ['exits', (api: Clerk) => api.exit(), 'exited with code 3'],
    ['throws outside of a call', (api: Clerk) => api.throwInTimer(), 'thrown in a timer'],
    ['outgrows its heap', (api: Clerk) => api.fillHeap(), 'memory limit'],
  ])('that %s loses its pending calls and is restarted', async (_, die, message) => {
    const clerk = await start({ maxOldGenerationMb: 24 });
    const waiting = clerk.api.never();
    const deadly = die(clerk.api);
    const lost = await Promise.allSettled([waiting, deadly]);
    for (const call of lost) expect(call).toMatchObject({ reason: { code: 'WORKER_LOST' } });
    expect(clerk.stats()).toEqual({ pending: 0, inFlightBytes: 0, restarts: 1 });
    await expect(clerk.api.add(1, 2)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await back(clerk);
    expect(restarted).toHaveBeenCalledOnce();
    expect(restarted.mock.calls[0]?.[0].message).toContain(message);
    expect(gaveUp).not.toHaveBeenCalled();
  });

  it('that dies twice within a minute is not restarted', async () => {
    const clerk = await start();
    await expect(clerk.api.exit()).rejects.toMatchObject({ code: 'WORKER_LOST' });
    await back(clerk);
    await expect(clerk.api.exit()).rejects.toMatchObject({ code: 'WORKER_LOST' });
    expect(gaveUp).toHaveBeenCalledOnce();
    expect(clerk.stats().restarts).toBe(1);
    await expect(clerk.api.add(1, 2)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('that fails to restart is not restarted again', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'candor-'));
    try {
      const exitAtStart = join(folder, 'exit');
      const clerk = await start({ workerData: { exitAtStart } });
      writeFileSync(exitAtStart, '');
      await expect(clerk.api.exit()).rejects.toMatchObject({ code: 'WORKER_LOST' });
      await vi.waitFor(() => expect(gaveUp).toHaveBeenCalledOnce(), { timeout: 10_000 });
      expect(gaveUp.mock.calls[0]?.[0].message).toContain('code 4');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('that dies again after more than a minute is restarted', async () => {
    let now = 0;
    const clerk = await start({ clock: () => now });
    for (const restarts of [1, 2, 3]) {
      await expect(clerk.api.exit()).rejects.toMatchObject({ code: 'WORKER_LOST' });
      await back(clerk);
      expect(clerk.stats().restarts).toBe(restarts);
      now += 60_000;
    }
    expect(gaveUp).not.toHaveBeenCalled();
  });

  it('that is closed rejects new calls, answers pending ones, and ends', async () => {
    const clerk = await start();
    const pending = clerk.api.note('last', 50);
    const closed = clerk.close();
    await expect(clerk.api.add(1, 2)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await pending).toBe('last');
    await closed;
    expect(restarted).not.toHaveBeenCalled();
    await clerk.close();
  });
});
