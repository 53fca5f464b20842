/*
 *  caller's thread                                                worker's thread
 *
 *  connect ── Call {id, method, args}, buffers moved ───────────▶ expose ── implementation
 *          ── Cancel {id} ──────────────────────────────────────▶ (drops it, or aborts its signal)
 *          ◀─ Ready, once, when the implementation is ready ─────
 *          ◀─ Result {id, value}, buffers moved ─────────────────
 *          ◀─ Failure {id, fault} ───────────────────────────────
 *
 *  Calls arrive in order; replies come in the order of completion. Every call gets exactly one reply, even
 *  a cancelled one: until then its bytes count as in flight.
 */
import type { ErrorCode, ErrorDetails } from '../errors.ts';

export type ToWorker =
  | { readonly kind: 'call'; readonly id: number; readonly method: string; readonly args: readonly unknown[] }
  | { readonly kind: 'cancel'; readonly id: number };

export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'result'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failure'; readonly id: number; readonly fault: Fault };

/** An error as sent: a structured clone of the object itself would lose its class and code. */
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

/** The parts of a port that `connect` and `expose` need: of a `MessagePort`, a `Worker`, `parentPort`. */
export interface MessagePortLike {
  postMessage(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  off(event: 'message', listener: (message: unknown) => void): unknown;
}
