/**
 * Code that must not compile. `tsc` reads this file: each line after an expectation must be an error,
 * otherwise the expectation itself is an error. This file is never run.
 */
import type { MessagePort } from 'node:worker_threads';
import { connect } from '../../src/rpc/connect.ts';
import { createCounters } from '../../src/rpc/counters.ts';
import { expose } from '../../src/rpc/expose.ts';
import { type MethodList, methods } from '../../src/rpc/methods.ts';
import { createPool, exposeTasks } from '../../src/rpc/pool.ts';

interface Till {
  put(cents: number, by: string): Promise<number>;
  count(): Promise<number>;
}
interface Safe {
  open(code: string): Promise<boolean>;
}
declare const port: MessagePort;

export const tillMethods: MethodList<Till> = methods<Till>()(['put', 'count']);
export const anyOrder: MethodList<Till> = methods<Till>()(['count', 'put']);

// @ts-expect-error a method is missing
methods<Till>()(['put']);
// @ts-expect-error no method is listed
methods<Till>()([]);
// @ts-expect-error the interface has no such method
methods<Till>()(['put', 'count', 'empty']);
// @ts-expect-error a misspelt method is missing and unknown
methods<Till>()(['put', 'cuont']);
// @ts-expect-error a synchronous method can't be called across threads
methods<{ put(cents: number): number }>()(['put']);
// @ts-expect-error a property can't be read across threads
methods<{ put(): Promise<number>; cents: number }>()(['put', 'cents']);
// @ts-expect-error the list of another interface
export const wrongList: MethodList<Safe> = tillMethods;

export const { api } = connect<Till>(port, tillMethods);
export const inferred: Till = connect(port, tillMethods).api;
export const answered: Promise<number> = api.put(5, 'ann');
// @ts-expect-error too few arguments
api.put(5);
// @ts-expect-error an argument of another type
api.put('5', 'ann');
// @ts-expect-error a signal isn't an argument
api.put(5, 'ann', AbortSignal.abort());
// @ts-expect-error the result is a number
export const wrongResult: Promise<string> = api.count();
// @ts-expect-error the interface has no such method
api.empty();
// @ts-expect-error the list of another interface
connect<Safe>(port, tillMethods);

expose(port, tillMethods, { put: (cents) => cents, count: async () => 1 });
export function standIn(till: Till): void {
  expose(port, tillMethods, till);
}
// @ts-expect-error a method isn't implemented
expose(port, tillMethods, { put: (cents) => cents });
// @ts-expect-error a result of another type
expose(port, tillMethods, { put: (cents) => cents, count: () => 'one' });
// @ts-expect-error parameters of another type
expose(port, tillMethods, { put: (cents: string) => cents.length, count: () => 1 });

export const tasks = { double: (n: number) => n * 2, later: async (text: string) => text };
const pool = createPool<typeof tasks>({ url: new URL('file:///'), name: 'p', threads: 1, maxQueue: 1 });
export const doubled: Promise<number> = pool.run('double', 1);
export const awaited: Promise<string> = pool.run('later', 'x', { signal: AbortSignal.abort() });
// @ts-expect-error no such task
pool.run('triple', 1);
// @ts-expect-error an input of another type
pool.run('double', 'one');
// @ts-expect-error the result is a number
export const wrongTaskResult: Promise<string> = pool.run('double', 1);
exposeTasks(tasks);
// @ts-expect-error a task has one input
exposeTasks({ add: (a: number, b: number) => a + b });

const counters = createCounters(['in', 'out']);
counters.add('in');
// @ts-expect-error no such counter
counters.add('through');
export const counted: { in: number; out: number } = counters.read();
