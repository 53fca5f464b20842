import { type ReadonlySignal, signal } from '@preact/signals';
import {
  type AuditResult,
  audit,
  Fault,
  type FaultCode,
  httpLog,
  type Pin,
  parsePin,
  writePin,
  writeTreeHead,
} from '../../client/verifier.ts';
import { bytesToHex } from '../../tlog/hex.ts';
import { type PinnedHead, readHistory, withPinned } from './pin-history.ts';

export type { PinnedHead } from './pin-history.ts';

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

/** That the log was once found to contradict itself. It stays, whatever the log shows later. */
export interface KeptEvidence {
  readonly code: FaultCode;
  readonly message: string;
  /** ISO 8601. */
  readonly at: string;
  /** JSON, as `candor verify` reads it. */
  readonly text: string;
}

const key = 'candor.pin';
const historyKey = 'candor.pins';
const evidenceKey = 'candor.evidence';

const state = signal<PinState>({ kind: 'unknown' });
export const pinState: ReadonlySignal<PinState> = state;
const pins = signal<readonly PinnedHead[]>(readHistory(localStorage.getItem(historyKey)));
/** The heads that this browser pinned, newest first. */
export const pinHistory: ReadonlySignal<readonly PinnedHead[]> = pins;
const evidence = signal<KeptEvidence | undefined>(readEvidence());
/** The first evidence that this browser found and nobody has put away. */
export const keptEvidence: ReadonlySignal<KeptEvidence | undefined> = evidence;

/** The pin of this browser; undefined before the first; a Fault where what is stored was altered. */
export function keptPin(): Pin | Fault | undefined {
  const text = localStorage.getItem(key);
  return text === null ? undefined : parsePin(text);
}

/** Fetches the newest head, verifies its signature and that it extends the pin, and pins it. */
export async function checkLog(): Promise<PinState> {
  const before = localStorage.getItem(key);
  const pin = before === null ? undefined : parsePin(before);
  if (pin instanceof Fault) state.value = { kind: 'broken', fault: pin };
  else {
    const result = await audit(httpLog(location.origin), pin, { now: Date.now() });
    // Another tab may have pinned a later head meanwhile: that is not moved back.
    if ('pin' in result && localStorage.getItem(key) === before) keep(result.pin, result.status);
    state.value = asState(result, pin);
  }
  return state.value;
}

/** Trusts the log anew from its present head on: for a pin that is of another log, or was altered. */
export async function pinAnew(): Promise<PinState> {
  localStorage.removeItem(key);
  return checkLog();
}

/**
 * Holds the log to a pin from elsewhere, which takes the place of this browser's. A pin that is no pin of this log
 * changes nothing; one that the log contradicts stays, for it convicts the log.
 */
export async function importPin(text: string): Promise<PinState | Fault> {
  const pin = parsePin(text);
  if (pin instanceof Fault) return pin;
  if (pin.log !== location.origin)
    return new Fault('OTHER_LOG', `the pin is of ${pin.log}, and this is ${location.origin}`);
  localStorage.setItem(key, writePin(pin));
  remember(pin);
  return checkLog();
}

/** The evidence was seen to by somebody. */
export function putEvidenceAway(): void {
  localStorage.removeItem(evidenceKey);
  evidence.value = undefined;
}

function asState(result: AuditResult, before: Pin | undefined): PinState {
  const known = before === undefined ? {} : { pin: before };
  switch (result.status) {
    case 'empty':
      return { kind: 'empty' };
    case 'fault': {
      const { fault, evidence: text } = result;
      if (fault.kind === 'unavailable') return { kind: 'unreachable', fault, ...known };
      if (text !== undefined) keepEvidence(fault, text);
      return { kind: 'broken', fault, ...known, ...(text !== undefined && { evidence: text }) };
    }
    default:
      return {
        kind: 'verified',
        pin: result.pin,
        at: Date.now(),
        ...(result.newKey !== undefined && { newKey: result.newKey }),
      };
  }
}

function keep(pin: Pin, status: AuditResult['status']): void {
  localStorage.setItem(key, writePin(pin));
  if (status !== 'unchanged') remember(pin);
}

function remember({ head, updatedAt }: Pin): void {
  const next = {
    size: head.size,
    root: bytesToHex(head.root),
    at: updatedAt,
    head: writeTreeHead(head),
  };
  pins.value = withPinned(readHistory(localStorage.getItem(historyKey)), next);
  localStorage.setItem(historyKey, JSON.stringify(pins.value));
}

function keepEvidence({ code, message }: Fault, text: string): void {
  if (evidence.value !== undefined) return;
  evidence.value = { code, message, at: new Date().toISOString(), text };
  localStorage.setItem(evidenceKey, JSON.stringify(evidence.value));
}

function readEvidence(): KeptEvidence | undefined {
  try {
    const kept: KeptEvidence | null = JSON.parse(localStorage.getItem(evidenceKey) ?? 'null');
    return typeof kept?.text === 'string' && typeof kept.message === 'string' ? kept : undefined;
  } catch {
    return undefined;
  }
}
