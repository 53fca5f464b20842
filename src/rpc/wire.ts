/*
 *  caller's thread                                                worker's thread
 *
 *  connect ── Call {id, method, args}, buffers moved ───────────▶ expose ── implementation
 *          ◀─ Ready, once, when the implementation is ready ─────
 *          ◀─ Result {id, value}, buffers moved ─────────────────
 *          ◀─ Failure {id, fault} ───────────────────────────────
 *          ◀─ Notice {notice}, at any time ──────────────────────
 *
 *  Calls arrive in order; replies are sent in the order of completion. Every call gets exactly one reply;
 *  until the reply arrives, the bytes of the call count as in flight. Replies and notices arrive in the
 *  order in which they were sent.
 */
import type { ErrorCode, ErrorDetails } from '../errors.ts';

export interface ToWorker {
  readonly kind: 'call';
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'result'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failure'; readonly id: number; readonly fault: Fault }
  | { readonly kind: 'notice'; readonly notice: unknown };

/**
 * An error in the form in which it is sent. A structured clone of the error object would lose its class and
 * code.
 */
export type Fault =
  | {
      readonly kind: 'service';
      readonly code: ErrorCode;
      readonly message: string;
      readonly details: ErrorDetails | undefined;
    }
  | {
      readonly kind: 'bug';
      readonly name: string;
      readonly message: string;
      readonly stack: string | undefined;
    };

/**
 * The parts of a port that `connect` and `expose` need. A `MessagePort`, a `Worker` and `parentPort` have
 * them.
 */
export interface MessagePortLike {
  postMessage(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  off(event: 'message', listener: (message: unknown) => void): unknown;
}
