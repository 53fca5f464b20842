import { ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';
import { fromFault } from './fault.ts';
import type { MethodList } from './methods.ts';
import { pack } from './transfer.ts';
import type { FromWorker, MessagePortLike, ToWorker } from './wire.ts';

/** In-flight bytes counted for each call besides its arguments, which also bounds the number of calls. */
const CALL_BYTES = 256;

/** The caller's end of a port. */
export interface Connection<T> {
  /**
   * Every method posts its call immediately and resolves with the result. The buffers among its arguments are
   * moved (see `pack`) and the caller's are detached, unless the call fails with OVERLOADED or CANCELLED
   * before it is sent. Errors: OVERLOADED when `maxInFlightBytes` are in flight, with nothing sent; CANCELLED
   * (see `withSignal`); the ServiceErrors of the implementation; any other error is a bug there, with its
   * name, message and stack.
   */
  readonly api: T;
  /** Bytes of unanswered calls, including cancelled ones. */
  readonly inFlightBytes: number;
  /** Number of unanswered calls, including cancelled ones. */
  readonly pending: number;
  /** Fails the pending calls and all later ones with `error`. */
  close(error: Error): void;
}

export interface ConnectOptions {
  /** Default `limits.maxRpcInFlightBytes`. */
  readonly maxInFlightBytes?: number;
  /** Names the other end in messages. */
  readonly name?: string;
}

/** Performs a call of a method, with arguments and an abort signal. */
export type Caller = (
  method: string,
  args: readonly unknown[],
  signal: AbortSignal | undefined,
) => Promise<unknown>;

interface Pending {
  readonly bytes: number;
  /**
   * Settles the caller's promise with the value, or with the error if there is one. No effect after a
   * cancellation.
   */
  settle(error: Error | undefined, value?: unknown): void;
}

/** How each api reaches its implementation, for `withSignal`. */
const callers = new WeakMap<object, { names: readonly string[]; call: Caller }>();

/** Returns an object with the methods of `list`, each of which calls `call`. */
export function callerApi<T extends object>(list: MethodList<T>, call: Caller, signal?: AbortSignal): T {
  return apiOf(list.names, call, signal) as T;
}

function apiOf(names: readonly string[], call: Caller, signal?: AbortSignal): object {
  const api: Record<string, (...args: unknown[]) => Promise<unknown>> = {};
  for (const name of names) api[name] = (...args) => call(name, args, signal);
  callers.set(api, { names, call });
  return api;
}

/**
 * Returns the same api, whose calls reject with CANCELLED as soon as `signal` is aborted. The other end drops
 * such a call if it has not started. A running call sees its own signal (`currentSignal`) and may continue,
 * so its outcome is unknown. An implementation in the caller's own thread is returned unchanged and ignores
 * the signal.
 */
export function withSignal<T extends object>(api: T, signal: AbortSignal): T {
  const caller = callers.get(api);
  return caller === undefined ? api : (apiOf(caller.names, caller.call, signal) as T);
}

/** Connects the caller to the interface that `expose` serves at the other end of `port`. */
export function connect<T extends object>(
  port: MessagePortLike,
  list: MethodList<T>,
  options: ConnectOptions = {},
): Connection<T> {
  const line = openLine(port, options);
  return {
    api: callerApi(list, line.call),
    get inFlightBytes() {
      return line.inFlightBytes;
    },
    get pending() {
      return line.pending;
    },
    close: line.close,
  };
}

/** A connection without its interface. */
export interface Line {
  readonly call: Caller;
  readonly inFlightBytes: number;
  readonly pending: number;
  /** Resolves when no calls are pending. */
  idle(): Promise<void>;
  close(error: Error): void;
}

export function openLine(port: MessagePortLike, options: ConnectOptions = {}): Line {
  const maxInFlightBytes = options.maxInFlightBytes ?? limits.maxRpcInFlightBytes;
  const name = options.name ?? 'the other thread';
  const pending = new Map<number, Pending>();
  let inFlightBytes = 0;
  let nextId = 1;
  let closed: Error | undefined;
  let whenIdle: (() => void)[] = [];

  const post = (message: ToWorker, transfer?: ArrayBuffer[]): void => port.postMessage(message, transfer);

  const resolveIdle = (): void => {
    const waiters = whenIdle;
    whenIdle = [];
    for (const resolve of waiters) resolve();
  };

  const receive = (message: unknown): void => {
    const reply = message as FromWorker;
    if (reply.kind === 'ready') return;
    const call = pending.get(reply.id);
    if (call === undefined) return;
    pending.delete(reply.id);
    inFlightBytes -= call.bytes;
    if (reply.kind === 'result') call.settle(undefined, reply.value);
    else call.settle(fromFault(reply.fault));
    if (pending.size === 0) resolveIdle();
  };

  const call: Caller = (method, args, signal) =>
    new Promise((resolve, reject) => {
      if (closed !== undefined) return reject(closed);
      if (signal?.aborted) return reject(cancelled(name, method));
      const { value, transfer, bytes: argumentBytes } = pack(args);
      const bytes = argumentBytes + CALL_BYTES;
      if (inFlightBytes + bytes > maxInFlightBytes) {
        const sum = `${bytes} bytes and ${inFlightBytes} in flight exceed ${maxInFlightBytes}`;
        return reject(new ServiceError('OVERLOADED', `${name}.${method}: ${sum}`));
      }
      const id = nextId++;
      // Throws, and so rejects, for values that cannot be cloned; nothing was sent or detached then.
      post({ kind: 'call', id, method, args: value as readonly unknown[] }, transfer);
      const onAbort = (): void => {
        reject(cancelled(name, method));
        post({ kind: 'cancel', id });
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      inFlightBytes += bytes;
      pending.set(id, {
        bytes,
        settle(error, result) {
          signal?.removeEventListener('abort', onAbort);
          if (error === undefined) resolve(result);
          else reject(error);
        },
      });
    });

  port.on('message', receive);
  return {
    call,
    get inFlightBytes() {
      return inFlightBytes;
    },
    get pending() {
      return pending.size;
    },
    idle() {
      return pending.size === 0 ? Promise.resolve() : new Promise((resolve) => whenIdle.push(resolve));
    },
    close(error) {
      closed ??= error;
      port.off('message', receive);
      const calls = [...pending.values()];
      pending.clear();
      inFlightBytes = 0;
      for (const { settle } of calls) settle(error);
      resolveIdle();
    },
  };
}

function cancelled(name: string, method: string): ServiceError {
  return new ServiceError('CANCELLED', `${name}.${method}: cancelled by the caller`);
}
