import { ServiceError } from '../errors.ts';
import { limits } from '../limits.ts';
import { fromFault } from './fault.ts';
import type { MethodList } from './methods.ts';
import { pack } from './transfer.ts';
import type { FromWorker, MessagePortLike, ToWorker } from './wire.ts';

/**
 * In-flight bytes counted for each call in addition to its arguments. This also bounds the number of calls.
 */
const CALL_BYTES = 256;

/** The caller's side of a port. */
export interface Connection<T> {
  /**
   * The remote interface. Every method posts its call immediately and resolves with the result. Buffers in
   * arguments are moved (see `pack`), so the caller's buffers are detached, unless the call fails before it is
   * sent.
   *
   * Throws OVERLOADED, without sending the call, if the call would exceed `maxInFlightBytes`. Also throws the
   * ServiceErrors of the implementation, and the error that `close` received. Any other error is a bug, with its
   * name, message and stack.
   */
  readonly api: T;
  /** Bytes of pending calls. */
  readonly inFlightBytes: number;
  /** Number of pending calls. */
  readonly pending: number;
  /** Rejects all pending and later calls with `error`. */
  close(error: Error): void;
}

export interface ConnectOptions {
  /** Maximum bytes of pending calls. Default `limits.maxRpcInFlightBytes`. */
  readonly maxInFlightBytes?: number;
  /** Name of the other side in messages. */
  readonly name?: string;
  /** Receives the notices that the other side emits with `emitTo`. Must not throw. */
  readonly onNotice?: (notice: unknown) => void;
}

/** Performs a call of a method with arguments. */
export type CallMethod = (method: string, args: readonly unknown[]) => Promise<unknown>;

interface Pending {
  readonly bytes: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Returns an object with the methods of `list`, each of which calls `call`. */
export function callerApi<T extends object>(list: MethodList<T>, call: CallMethod): T {
  const api: Record<string, (...args: unknown[]) => Promise<unknown>> = {};
  for (const name of list.names) api[name] = (...args) => call(name, args);
  return api as T;
}

/** Connects the caller to the interface that `expose` serves on the other side of `port`. */
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

/** A connection that calls methods by name, without a typed interface. */
export interface Line {
  readonly call: CallMethod;
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
    if (reply.kind === 'notice') {
      options.onNotice?.(reply.notice);
      return;
    }
    const call = pending.get(reply.id);
    if (call === undefined) return;
    pending.delete(reply.id);
    inFlightBytes -= call.bytes;
    if (reply.kind === 'result') call.resolve(reply.value);
    else call.reject(fromFault(reply.fault));
    if (pending.size === 0) resolveIdle();
  };

  const call: CallMethod = (method, args) =>
    new Promise((resolve, reject) => {
      if (closed !== undefined) return reject(closed);
      const { value, transfer, bytes: argumentBytes } = pack(args);
      const bytes = argumentBytes + CALL_BYTES;
      if (inFlightBytes + bytes > maxInFlightBytes) {
        const sum = `${bytes} bytes and ${inFlightBytes} bytes in flight exceed the limit of ${maxInFlightBytes}`;
        return reject(new ServiceError('OVERLOADED', `${name}.${method}: ${sum}`));
      }
      const id = nextId++;
      // Values that cannot be cloned reject the call here, before a value is sent or detached.
      post({ kind: 'call', id, method, args: value as readonly unknown[] }, transfer);
      inFlightBytes += bytes;
      pending.set(id, { bytes, resolve, reject });
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
      for (const { reject } of calls) reject(error);
      resolveIdle();
    },
  };
}
