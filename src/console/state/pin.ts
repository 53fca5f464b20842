import { type ReadonlySignal, signal } from '@preact/signals';
import {
  type AuditResult,
  audit,
  Fault,
  httpLog,
  type KeySet,
  type Pin,
  parsePin,
  writePin,
  writeTreeHead,
} from '../../client/verifier.ts';
import { bytesToHex } from '../../tlog/hex.ts';
import { keptTexts } from './kept-texts.ts';
import { type KeptEvidence, readEvidence } from './pin-evidence.ts';
import { type PinnedHead, readHistory, withPinned } from './pin-history.ts';
import { takeVerdict } from './pin-verdict.ts';

export type { KeptEvidence } from './pin-evidence.ts';
export type { PinnedHead } from './pin-history.ts';

/**
 * What this browser itself knows of the log: the tree head that it verified last, kept from visit to visit. Each head of
 * the service has to extend it, or the log is broken, whatever the service says.
 */
export type PinState =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'empty' }
  | {
      readonly kind: 'verified';
      readonly pin: Pin;
      /** Current keys as published. */
      readonly keys: KeySet;
      readonly at: number;
      readonly newKey?: 'vouched' | 'accepted';
    }
  /** The log contradicts what it signed before, or what it shows is not signed. */
  | { readonly kind: 'broken'; readonly fault: Fault; readonly evidence?: string; readonly pin?: Pin }
  /** Nothing was wrong, but the log could not be asked. */
  | { readonly kind: 'unreachable'; readonly fault: Fault; readonly pin?: Pin };

const key = 'candor.pin';
const historyKey = 'candor.pins';
const evidenceKey = 'candor.evidence';
const texts = keptTexts(() => localStorage);

const state = signal<PinState>({ kind: 'unknown' });
export const pinState: ReadonlySignal<PinState> = state;
const pins = signal<readonly PinnedHead[]>(readHistory(texts.get(historyKey)));
/** The heads that this browser pinned, newest first. */
export const pinHistory: ReadonlySignal<readonly PinnedHead[]> = pins;
const evidence = signal<KeptEvidence | undefined>(readEvidence(texts.get(evidenceKey)));
/** The first evidence that this browser found and nobody has put away. */
export const keptEvidence: ReadonlySignal<KeptEvidence | undefined> = evidence;

/** The pin of this browser; undefined before the first; a Fault where what is stored was altered. */
export function keptPin(): Pin | Fault | undefined {
  const text = texts.get(key);
  return text === null ? undefined : parsePin(text);
}

/** Fetches the newest head, verifies its signature and that it extends the pin, and pins it. */
export async function checkLog(): Promise<PinState> {
  await takeVerdict(
    () => texts.get(key),
    (text) => checkedAgainst(text === null ? undefined : parsePin(text)),
    ({ found, result }) => {
      if (result !== undefined && 'pin' in result) keep(result.pin, result.status);
      state.value = found;
    },
  );
  return state.value;
}

async function checkedAgainst(
  pin: Pin | Fault | undefined,
): Promise<{ found: PinState; result?: AuditResult }> {
  if (pin instanceof Fault) return { found: { kind: 'broken', fault: pin } };
  const result = await audit(httpLog(location.origin), pin, { now: Date.now() });
  // It is true of what the log signed, whichever pin is kept now.
  if (result.status === 'fault' && result.evidence !== undefined) keepEvidence(result.fault, result.evidence);
  return { found: asState(result, pin), result };
}

/** Trusts the log anew from its present head on: for a pin that is of another log, or was altered. */
export async function pinAnew(): Promise<PinState> {
  texts.remove(key);
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
  texts.set(key, writePin(pin));
  remember(pin);
  return checkLog();
}

/** The evidence was seen to by somebody. */
export function putEvidenceAway(): void {
  texts.remove(evidenceKey);
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
      return { kind: 'broken', fault, ...known, ...(text !== undefined && { evidence: text }) };
    }
    default:
      return {
        kind: 'verified',
        pin: result.pin,
        keys: result.keys,
        at: Date.now(),
        ...(result.newKey !== undefined && { newKey: result.newKey }),
      };
  }
}

function keep(pin: Pin, status: AuditResult['status']): void {
  texts.set(key, writePin(pin));
  if (status !== 'unchanged') remember(pin);
}

function remember({ head, updatedAt }: Pin): void {
  const next = {
    size: head.size,
    root: bytesToHex(head.root),
    at: updatedAt,
    head: writeTreeHead(head),
  };
  pins.value = withPinned(readHistory(texts.get(historyKey)), next);
  texts.set(historyKey, JSON.stringify(pins.value));
}

function keepEvidence({ code, message }: Fault, text: string): void {
  if (evidence.value !== undefined) return;
  evidence.value = { code, message, at: new Date().toISOString(), text };
  texts.set(evidenceKey, JSON.stringify(evidence.value));
}
