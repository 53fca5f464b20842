/** How much does a typed call cost, compared with a bare postMessage round trip? */
import { once } from 'node:events';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { Bench } from 'tinybench';
import { connect } from '../src/rpc/connect.ts';
import { createPool } from '../src/rpc/pool.ts';
import type { BenchRow } from './result.ts';
import { type Echo, echoMethods } from './rpc-echo.ts';
import type { EchoTasks } from './rpc-task.ts';

const AT_ONCE = 100;
const SMALL = { id: '0192f0c4-7b1e-7cc1-9d1a-3f8d4b2a6e55', severity: 'high', count: 12, tags: ['a', 'b'] };
const MEGABYTE = 2 ** 20;

export async function run(): Promise<BenchRow[]> {
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(new URL('./rpc-echo.ts', import.meta.url), {
    workerData: { bare: port2 },
    transferList: [port2],
  });
  const { api } = connect<Echo>(worker, echoMethods);
  await once(worker, 'message');
  const pool = createPool<EchoTasks>({
    url: new URL('./rpc-task.ts', import.meta.url),
    name: 'echo',
    threads: 1,
    maxQueue: AT_ONCE,
  });
  try {
    return [
      ...(await compare('round trips of a small object, one after the other', 1, {
        'bare postMessage': () => bare(port1, SMALL),
        'typed call': () => api.echo(SMALL),
        'pool task': () => pool.run('echo', SMALL),
      })),
      ...(await compare(`round trips of a small object, ${AT_ONCE} at once`, AT_ONCE, {
        'bare postMessage': () => bareMany(port1, SMALL, AT_ONCE),
        'typed call': () => Promise.all(Array.from({ length: AT_ONCE }, () => api.echo(SMALL))),
        'pool task': () => Promise.all(Array.from({ length: AT_ONCE }, () => pool.run('echo', SMALL))),
      })),
      ...(await compare('round trips of 1 MiB, one after the other', 1, {
        'bare postMessage, copied': () => bare(port1, new Uint8Array(MEGABYTE)),
        'typed call, moved': () => api.echo(new Uint8Array(MEGABYTE)),
        'pool task, moved': () => pool.run('echo', new Uint8Array(MEGABYTE)),
      })),
    ];
  } finally {
    port1.close();
    await worker.terminate();
    await pool.close();
  }
}

function bare(port: MessagePort, value: unknown): Promise<unknown> {
  port.postMessage(value);
  return new Promise((resolve) => port.once('message', resolve));
}

function bareMany(port: MessagePort, value: unknown, count: number): Promise<void> {
  for (let i = 0; i < count; i++) port.postMessage(value);
  return new Promise((resolve) => {
    let answered = 0;
    const receive = (): void => {
      if (++answered < count) return;
      port.off('message', receive);
      resolve();
    };
    port.on('message', receive);
  });
}

async function compare(
  question: string,
  callsEach: number,
  variants: Record<string, () => Promise<unknown>>,
): Promise<BenchRow[]> {
  const bench = new Bench({ time: 500, warmupTime: 200 });
  for (const [name, variant] of Object.entries(variants)) bench.add(name, variant);
  await bench.run();
  return bench.tasks.map(({ name, result }) => {
    if (result.state !== 'completed') throw new Error(`${question}: ${name} ${result.state}`);
    const callsPerSecond = Math.round(result.throughput.mean * callsEach);
    return { question, variant: name, value: callsPerSecond, unit: 'calls/s' };
  });
}
