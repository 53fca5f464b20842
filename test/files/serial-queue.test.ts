import { expect, test } from 'vitest';
import { SerialQueue } from '../../src/files/serial-queue.ts';

test('a serial queue runs work in the order of the calls, even after a failure', async () => {
  const queue = new SerialQueue();
  const done: string[] = [];
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const slow = queue.run(async () => {
    await gate;
    done.push('slow');
    return 1;
  });
  const failed = queue.run(() => {
    done.push('failed');
    throw new Error('no');
  });
  const last = queue.run(() => done.push('last'));
  await Promise.resolve();
  expect(done).toEqual([]);
  open();
  await expect(failed).rejects.toThrow('no');
  expect(await Promise.all([slow, last])).toEqual([1, 3]);
  expect(done).toEqual(['slow', 'failed', 'last']);
});

test('a serial queue is idle when all work is done, even if it failed', async () => {
  const queue = new SerialQueue();
  const { promise: gate, reject: fail } = Promise.withResolvers<void>();
  const work = queue.run(() => gate);
  let isIdle = false;
  const idle = queue.idle().then(() => {
    isIdle = true;
  });
  await Promise.resolve();
  expect(isIdle).toBe(false);
  fail(new Error('no'));
  await expect(work).rejects.toThrow('no');
  await idle;
});
