import { stat } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { VolumeQueue } from '../../src/files/volume-queue.ts';

const hanging = { code: 'UNAVAILABLE', details: { reason: 'volume_hangs' } };

test('tasks run one at a time, in order, and a failure affects only its own task', async () => {
  const queue = new VolumeQueue('the volume');
  const steps: string[] = [];
  const work = (name: string) => async () => {
    steps.push(`${name} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    steps.push(`${name} ends`);
    return name;
  };
  const failing = queue.run(() => Promise.reject(new Error('not there')));
  const both = Promise.all([queue.run(work('a')), queue.run(work('b'))]);
  await expect(failing).rejects.toThrow('not there');
  expect(await both).toEqual(['a', 'b']);
  expect(steps).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
});

test('while a call hangs, no other call starts; when it returns, the next call starts', async () => {
  const queue = new VolumeQueue('the volume', 20);
  let answer: () => void = () => undefined;
  let begun = 0;
  const hangs = queue.run(() => new Promise<void>((resolve) => (answer = resolve)));
  await expect(hangs).rejects.toMatchObject(hanging);
  const next = () => queue.run(async () => ++begun);
  for (let i = 0; i < 5; i++) await expect(next()).rejects.toMatchObject(hanging);
  expect(begun).toBe(0);
  answer();
  expect(await next()).toBe(1);
});

test('time during which the event loop is blocked does not count towards the deadline', async () => {
  const queue = new VolumeQueue('the volume', 100);
  let isDone = false;
  const done = queue.run(async () => {
    for (let i = 0; i < 5; i++) await stat('.');
    isDone = true;
  });
  while (!isDone) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await done;
});
