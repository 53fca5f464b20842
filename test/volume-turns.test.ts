import { expect, test } from 'vitest';
import { VolumeTurns } from '../src/volume-turns.ts';

const hanging = { code: 'UNAVAILABLE', details: { reason: 'volume_hangs' } };

test('work is done one at a time, in order, and a failure is its own only', async () => {
  const turns = new VolumeTurns('the volume');
  const steps: string[] = [];
  const work = (name: string) => async () => {
    steps.push(`${name} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    steps.push(`${name} ends`);
    return name;
  };
  const failing = turns.run(() => Promise.reject(new Error('not there')));
  const both = Promise.all([turns.run(work('a')), turns.run(work('b'))]);
  await expect(failing).rejects.toThrow('not there');
  expect(await both).toEqual(['a', 'b']);
  expect(steps).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
});

test('while one call hangs no other begins; when it returns, work goes on', async () => {
  const turns = new VolumeTurns('the volume', 20);
  let answer: () => void = () => undefined;
  let begun = 0;
  const hangs = turns.run(() => new Promise<void>((resolve) => (answer = resolve)));
  await expect(hangs).rejects.toMatchObject(hanging);
  const next = () => turns.run(async () => ++begun);
  for (let i = 0; i < 5; i++) await expect(next()).rejects.toMatchObject(hanging);
  expect(begun).toBe(0);
  answer();
  expect(await next()).toBe(1);
});
