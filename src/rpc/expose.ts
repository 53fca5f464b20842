import { toFault } from './fault.ts';
import type { Implementation, MethodList } from './methods.ts';
import { pack } from './transfer.ts';
import type { FromWorker, MessagePortLike, ToWorker } from './wire.ts';

/**
 * Returns a function that emits notices to the other side of `port`. Notices get no reply. A notice arrives
 * before the results of calls that complete after the notice was emitted.
 */
export function emitTo<T>(port: MessagePortLike): (notice: T) => void {
  const send = (message: FromWorker): void => port.postMessage(message);
  return (notice) => send({ kind: 'notice', notice });
}

type Method = (...args: readonly unknown[]) => unknown;

/**
 * Serves the methods of `list` to the other side of `port`, and sends a ready message, for which `supervise`
 * waits. Must be called when the implementation is ready.
 *
 * Order: calls are started in the order of arrival; calls that arrived together start in one iteration of the
 * event loop, so that an implementation can batch them. Ownership: buffers of arguments belong to the
 * implementation; buffers of its results are moved and detached.
 */
export function expose<T extends object>(
  port: MessagePortLike,
  list: MethodList<T>,
  impl: Implementation<NoInfer<T>>,
): void {
  const table = new Map<string, Method>();
  for (const name of list.names) table.set(name, (impl[name] as Method).bind(impl));
  const waiting: ToWorker[] = [];

  const send = (message: FromWorker, transfer?: ArrayBuffer[]): void => port.postMessage(message, transfer);
  const fail = (id: number, error: unknown): void => send({ kind: 'failure', id, fault: toFault(error) });

  const answer = (id: number, result: unknown): void => {
    try {
      const { value, transfer } = pack(result);
      send({ kind: 'result', id, value }, transfer);
    } catch (error) {
      fail(id, error);
    }
  };

  const start = ({ id, method, args }: ToWorker): void => {
    const serve = table.get(method);
    if (serve === undefined) {
      fail(id, new Error(`there is no exposed method ${method}`));
      return;
    }
    try {
      const result = serve(...args);
      if (result instanceof Promise) {
        result.then(
          (value) => answer(id, value),
          (error) => fail(id, error),
        );
      } else {
        answer(id, result);
      }
    } catch (error) {
      fail(id, error);
    }
  };

  const startWaiting = (): void => {
    for (const call of waiting.splice(0)) start(call);
  };

  port.on('message', (message) => {
    // All messages in the port are read before the check phase, so calls that arrived together start together.
    if (waiting.length === 0) setImmediate(startWaiting);
    waiting.push(message as ToWorker);
  });
  send({ kind: 'ready' });
}
