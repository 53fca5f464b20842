/** The pool's thread of bench/rpc.ts. */
import { exposeTasks } from '../src/rpc/pool.ts';

const tasks = { echo: (value: unknown) => value };
export type EchoTasks = typeof tasks;
export default exposeTasks(tasks);
