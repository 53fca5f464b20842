import { ServiceError } from '../errors.ts';
import { toFault } from './fault.ts';
import type { Implementation, MethodList } from './methods.ts';
import { pack } from './transfer.ts';
import type { FromWorker, MessagePortLike, ToWorker } from './wire.ts';

type Method = (...args: readonly unknown[]) => unknown;
type Call = Extract<ToWorker, { kind: 'call' }>;

/** A call that has been started and not answered. Its controller exists once the implementation asked for the signal. */
interface Running {
  controller: AbortController | undefined;
  cancelled: boolean;
}

/** The call whose implementation runs right now, up to its first `await`. */
let current: Running | undefined;

/**
 * The signal of the call being served: aborted when its caller gives up. To be asked before the first `await` of
 * an implementation (and kept in a variable); undefined outside of a call, as when an implementation is used in
 * the caller's own thread. (An AsyncLocalStorage would slow every promise of the thread, for the few that ask.)
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
 * Serves the methods of `list` to the other end of `port`, and says so to it (`supervise` waits for that): call it
 * when the implementation is ready.
 *
 * Order: calls are started in the order of arrival, all that have arrived together in one turn, so that an
 * implementation can gather them. Ownership: buffers of arguments belong to the implementation; those of its
 * results are moved and detached. Cancelled calls that have not been started never are.
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
      fail(id, new Error(`no method ${method} is exposed`));
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
      fail(id, new ServiceError('CANCELLED', 'the caller gave up'));
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
    // Messages that lie in the port are all read before the check phase: cancellations overtake their calls.
    if (waiting.size === 0) setImmediate(startWaiting);
    waiting.set(received.id, received);
  });
  send({ kind: 'ready' });
}
