/** The other thread of bench/rpc.ts: answers typed calls on `parentPort` and bare messages on the port passed to it. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { expose } from '../src/rpc/expose.ts';
import { methods } from '../src/rpc/methods.ts';

export interface Echo {
  echo<T>(value: T): Promise<T>;
}
export const echoMethods = methods<Echo>()(['echo']);

if (parentPort !== null) {
  const bare = (workerData as { bare: MessagePort }).bare;
  bare.on('message', (value) => bare.postMessage(value));
  expose<Echo>(parentPort, echoMethods, { echo: async (value) => value });
}
