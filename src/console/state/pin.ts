import { type ReadonlySignal, signal } from '@preact/signals';
import {
  type AuditResult,
  audit,
  Fault,
  httpLog,
  type Pin,
  parsePin,
  writePin,
} from '../../client/verifier.ts';
import { bytesToHex } from '../../tlog/hex.ts';

/**
 * What this browser itself knows of the log: the tree head that it verified last, kept from visit to visit. Each head of
 * the service has to extend it, or the log is broken, whatever the service says.
 */
export type PinState =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'verified'; readonly pin: Pin; readonly at: number; readonly newKey?: 'vouched' | Fault }
  /** The log contradicts what it signed before, or what it shows is not signed. */
  | { readonly kind: 'broken'; readonly fault: Fault; readonly evidence?: string; readonly pin?: Pin }
  /** Nothing was wrong, but the log could not be asked. */
  | { readonly kind: 'unreachable'; readonly fault: Fault; readonly pin?: Pin };

/** One head that this browser accepted. */
export interface PinnedHead {
  readonly size: number;
  readonly root: string;
  /** ISO 8601. */
  readonly at: string;
}

const key = 'candor.pin';
const historyKey = 'candor.pins';
const maxHistory = 100;

const state = signal<PinState>({ kind: 'unknown' });
export const pinState: ReadonlySignal<PinState> = state;
const pins = signal<readonly PinnedHead[]>(keptHistory());
/** The heads that this browser pinned, newest first. */
export const pinHistory: ReadonlySignal<readonly PinnedHead[]> = pins;

/** The pin of this browser; undefined before the first; a Fault where what is stored was altered. */
export function keptPin(): Pin | Fault | undefined {
  const text = localStorage.getItem(key);
  return text === null ? undefined : parsePin(text);
}

function keptHistory(): readonly PinnedHead[] {
  try {
    const kept = JSON.parse(localStorage.getItem(historyKey) ?? '[]');
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}

/** Fetches the newest head, verifies its signature and that it extends the pin, and pins it. */
export async function checkLog(): Promise<PinState> {
  const pin = keptPin();
  if (pin instanceof Fault) state.value = { kind: 'broken', fault: pin };
  else state.value = asState(await audit(httpLog(location.origin), pin, { now: Date.now() }), pin);
  return state.value;
}

/** Trusts the log anew from its present head on: for a pin that is of another log, or was altered. */
export async function pinAnew(): Promise<PinState> {
  localStorage.removeItem(key);
  return checkLog();
}

function asState(result: AuditResult, before: Pin | undefined): PinState {
  const known = before === undefined ? {} : { pin: before };
  switch (result.status) {
    case 'empty':
      return { kind: 'empty' };
    case 'fault': {
      const { fault, evidence } = result;
      if (fault.kind === 'unavailable') return { kind: 'unreachable', fault, ...known };
      return { kind: 'broken', fault, ...known, ...(evidence !== undefined && { evidence }) };
    }
    default: {
      localStorage.setItem(key, writePin(result.pin));
      if (result.status !== 'unchanged') remember(result.pin);
      return {
        kind: 'verified',
        pin: result.pin,
        at: Date.now(),
        ...(result.newKey !== undefined && { newKey: result.newKey }),
      };
    }
  }
}

function remember({ head, updatedAt }: Pin): void {
  const next: PinnedHead = {
    size: head.size,
    root: bytesToHex(head.root),
    at: updatedAt,
  };
  pins.value = [next, ...pins.value].slice(0, maxHistory);
  localStorage.setItem(historyKey, JSON.stringify(pins.value));
}
