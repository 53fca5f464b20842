import { ServiceError } from '../errors.ts';
import { toFault } from './fault.ts';
import type { Implementation, MethodList } from './methods.ts';
import { pack } from './transfer.ts';
import type { FromWorker, MessagePortLike, ToWorker } from './wire.ts';

type Method = (...args: readonly unknown[]) => unknown;
type Call = Extract<ToWorker, { kind: 'call' }>;

/**
 * A call that was started but not answered. Its controller is created when the implementation requests the
 * signal.
 */
interface Running {
  controller: AbortController | undefined;
  cancelled: boolean;
}

/** The call whose implementation currently runs, up to its first `await`. */
let current: Running | undefined;

/**
 * Returns the signal of the current call, which is aborted when its caller cancels. Must be called before the
 * first `await` of an implementation (and stored in a variable). Undefined outside of a call, as when an
 * implementation is used in the caller's own thread. (An AsyncLocalStorage would slow every promise of the
 * thread for few users.)
 */
export function currentSignal(): AbortSignal | undefined {
  if (current === undefined) return undefined;
  if (current.controller === undefined) {
    current.controller = new AbortController();
    if (current.cancelled) current.controller.abort();
  }
  return current.controller.signal;
}

/**
 * Serves the methods of `list` to the other end of `port`, and sends it a ready message (`supervise` waits
 * for that). Call it when the implementation is ready.
 *
 * Order: calls are started in the order of arrival; all that have arrived together start in one turn, so that
 * an implementation can batch them. Ownership: buffers of arguments belong to the implementation; buffers of
 * its results are moved and detached. Cancelled calls that have not been started are never started.
 */
export function expose<T extends object>(
  port: MessagePortLike,
  list: MethodList<T>,
  impl: Implementation<NoInfer<T>>,
): void {
  const table = new Map<string, Method>();
  for (const name of list.names) table.set(name, (impl[name] as Method).bind(impl));
  const waiting = new Map<number, Call>();
  const running = new Map<number, Running>();

  const send = (message: FromWorker, transfer?: ArrayBuffer[]): void => port.postMessage(message, transfer);
  const fail = (id: number, error: unknown): void => send({ kind: 'failure', id, fault: toFault(error) });

  const answer = (id: number, result: unknown): void => {
    running.delete(id);
    try {
      const { value, transfer } = pack(result);
      send({ kind: 'result', id, value }, transfer);
    } catch (error) {
      fail(id, error);
    }
  };
  const refuse = (id: number, error: unknown): void => {
    running.delete(id);
    fail(id, error);
  };

  const start = ({ id, method, args }: Call): void => {
    const serve = table.get(method);
    if (serve === undefined) {
      fail(id, new Error(`there is no exposed method ${method}`));
      return;
    }
    const call: Running = { controller: undefined, cancelled: false };
    running.set(id, call);
    current = call;
    try {
      const result = serve(...args);
      if (result instanceof Promise) {
        result.then(
          (value) => answer(id, value),
          (error) => refuse(id, error),
        );
      } else {
        answer(id, result);
      }
    } catch (error) {
      refuse(id, error);
    } finally {
      current = undefined;
    }
  };

  const startWaiting = (): void => {
    for (const [id, call] of waiting) {
      waiting.delete(id);
      start(call);
    }
  };

  const cancel = (id: number): void => {
    if (waiting.delete(id)) {
      fail(id, new ServiceError('CANCELLED', 'cancelled by the caller'));
      return;
    }
    const call = running.get(id);
    if (call === undefined) return;
    call.cancelled = true;
    call.controller?.abort();
  };

  port.on('message', (message) => {
    const received = message as ToWorker;
    if (received.kind === 'cancel') return cancel(received.id);
    // All messages in the port are read before the check phase, so cancellations overtake their calls.
    if (waiting.size === 0) setImmediate(startWaiting);
    waiting.set(received.id, received);
  });
  send({ kind: 'ready' });
}
