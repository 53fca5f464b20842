import { type ReadonlySignal, signal } from '@preact/signals';
import {
  AuditFault,
  type AuditResult,
  audit,
  httpLog,
  type KeySet,
  type Pin,
  parsePin,
  writePin,
  writeTreeHead,
} from '../../client/verifier.ts';
import { bytesToHex } from '../../tlog/hex.ts';
import { type PinnedHead, readHistory, withPinned } from './pin-history.ts';
import { type KeptEvidence, keptTexts, readEvidence, takeVerdict } from './pin-kept.ts';

export type { PinnedHead } from './pin-history.ts';
export type { KeptEvidence } from './pin-kept.ts';

/**
 * The browser's own view of the log. The browser pins the last tree head that it verified, and keeps the pin across
 * visits. Each new head must extend the pinned head; otherwise the log is broken, even if the service reports a healthy
 * log.
 */
export type PinState =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'empty' }
  | {
      readonly kind: 'verified';
      readonly pin: Pin;
      /** The current published keys. */
      readonly keys: KeySet;
      readonly at: number;
      readonly newKey?: 'vouched' | 'accepted';
    }
  /** The log contradicts an earlier head or does not verify, or the stored pin was altered. */
  | { readonly kind: 'broken'; readonly fault: AuditFault; readonly evidence?: string; readonly pin?: Pin }
  /**
   * The log continues under a key that no pinned key announced: after a restore, a new start, or a revocation. The
   * new head is pinned once the user has confirmed the key. Nothing contradicts the pin.
   */
  | {
      readonly kind: 'unconfirmed';
      readonly fault: AuditFault;
      readonly fingerprint: string;
      readonly pin: Pin | undefined;
    }
  /** The log could not be reached; no contradiction is known. */
  | { readonly kind: 'unreachable'; readonly fault: AuditFault; readonly pin?: Pin };

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
/** The first evidence that this browser found and that the user has not dismissed. */
export const keptEvidence: ReadonlySignal<KeptEvidence | undefined> = evidence;

/** Returns this browser's pin; undefined before the first pin; an AuditFault if the stored pin was altered. */
export function keptPin(): Pin | AuditFault | undefined {
  const text = texts.get(key);
  return text === null ? undefined : parsePin(text);
}

/**
 * Fetches the newest head, verifies its signature and its consistency with the pin, and pins the head.
 *
 * @param acceptedKey - fingerprint of a key that the user has confirmed
 */
export async function checkLog(acceptedKey?: string): Promise<PinState> {
  await takeVerdict(
    () => texts.get(key),
    (text) => checkedAgainst(text === null ? undefined : parsePin(text), acceptedKey),
    ({ found, result }) => {
      if (result !== undefined && 'pin' in result) keep(result.pin, result.status);
      state.value = found;
    },
  );
  return state.value;
}

async function checkedAgainst(
  pin: Pin | AuditFault | undefined,
  acceptedKey: string | undefined,
): Promise<{ found: PinState; result?: AuditResult }> {
  if (pin instanceof AuditFault) return { found: { kind: 'broken', fault: pin } };
  const result = await audit(httpLog(location.origin), pin, {
    now: Date.now(),
    ...(acceptedKey !== undefined && { acceptedKeys: [acceptedKey] }),
  });
  // Evidence is about heads that the log signed, so it is valid for any stored pin.
  if (result.status === 'fault' && result.evidence !== undefined) keepEvidence(result.fault, result.evidence);
  return { found: asState(result, pin), result };
}

/**
 * Discards the stored pin and pins the current head. Used when the stored pin is from another log or was altered.
 */
export async function replacePin(): Promise<PinState> {
  texts.remove(key);
  return checkLog();
}

/**
 * Replaces this browser's pin with an imported pin and checks the log against the imported pin. A pin that is malformed
 * or of another log changes nothing. A pin that the log contradicts is kept, because it is evidence against the log.
 */
export async function importPin(text: string): Promise<PinState | AuditFault> {
  const pin = parsePin(text);
  if (pin instanceof AuditFault) return pin;
  if (pin.log !== location.origin)
    return new AuditFault('OTHER_LOG', `the pin belongs to ${pin.log}, not to ${location.origin}`);
  texts.set(key, writePin(pin));
  remember(pin);
  return checkLog();
}

/** Dismisses the evidence. */
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
      const { fingerprint } = fault;
      if (fault.kind === 'unavailable') return { kind: 'unreachable', fault, ...known };
      if (fingerprint !== undefined) return { kind: 'unconfirmed', fault, fingerprint, pin: before };
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

function keepEvidence({ code, message }: AuditFault, text: string): void {
  if (evidence.value !== undefined) return;
  evidence.value = { code, message, at: new Date().toISOString(), text };
  texts.set(evidenceKey, JSON.stringify(evidence.value));
}
