/** The upper bound set by parsing: only JSON.parse of the same lines, on every core at the same time. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/** Returns lines per second of all threads together. Only parsing is timed; the lines are already texts. */
export async function parseOnAllCores(files: readonly string[]): Promise<number> {
  const threads = availableParallelism();
  const shares = Array.from({ length: threads }, (_, n) => files.filter((_, at) => at % threads === n));
  const done = await Promise.all(
    shares.map(async (share) => {
      const worker = new Worker(new URL(import.meta.url), { workerData: share });
      const [rate] = (await once(worker, 'message')) as [number];
      return rate;
    }),
  );
  return done.reduce((sum, rate) => sum + rate, 0);
}

if (!isMainThread) {
  let lines = 0;
  let ms = 0;
  for (const file of workerData as readonly string[]) {
    const texts = readFileSync(file, 'utf8').trimEnd().split('\n');
    const began = performance.now();
    for (const text of texts) JSON.parse(text);
    ms += performance.now() - began;
    lines += texts.length;
  }
  parentPort?.postMessage(lines === 0 ? 0 : (lines / ms) * 1000);
}
