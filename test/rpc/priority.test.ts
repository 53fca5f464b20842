import { getPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';

const module = new URL('../../src/rpc/priority.ts', import.meta.url).href;

/** Lowers the priority in a worker thread. Returns the nice values of that thread before and after. */
function lowered(steps: number): Promise<[number, number]> {
  const code = `
    import { readlinkSync } from 'node:fs';
    import { getPriority } from 'node:os';
    import { parentPort } from 'node:worker_threads';
    import { lowerPriority } from ${JSON.stringify(module)};
    const ofThread = () => getPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)));
    const before = ofThread();
    lowerPriority(${steps});
    parentPort.postMessage([before, ofThread()]);
  `;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`));
  return new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
}

test.runIf(process.platform === 'linux')('lowering the priority affects only the calling thread', async () => {
  const own = getPriority();
  const [before, after] = await lowered(5);
  expect([before, after]).toEqual([own, Math.min(19, own + 5)]);
  expect(getPriority()).toBe(own);
});

test.runIf(process.platform === 'linux')('the lowest priority is not exceeded', async () => {
  expect((await lowered(100))[1]).toBe(19);
});
