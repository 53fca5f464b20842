import type { ComponentChildren } from 'preact';
import { type AuditFault, faultCodes } from '../../../client/verifier.ts';
import './check.css';

export type CheckState = 'good' | 'bad' | 'waiting' | 'open';

const signs: Readonly<Record<CheckState, { shape: string; word: string }>> = {
  good: { shape: '✓', word: 'Verified' },
  bad: { shape: '✕', word: 'Failed' },
  waiting: { shape: '…', word: 'Verifying' },
  open: { shape: '○', word: 'Not verified' },
};

/** Verification status as a shape and a word, because colour alone is not accessible. */
export function Tick({ state }: { state: CheckState }) {
  const { shape, word } = signs[state];
  return (
    <span class={`tick tick-${state}`} title={word}>
      <span aria-hidden="true">{shape}</span>
      <span class="unseen">{word}: </span>
    </span>
  );
}

/** One check with its result and details. */
export function Check({
  state,
  title,
  children,
}: {
  state: CheckState;
  title: ComponentChildren;
  children?: ComponentChildren;
}) {
  return (
    <li class={`check check-${state}`}>
      <Tick state={state} />
      <div class="check-text">
        <p class="check-title">{title}</p>
        {children !== undefined && <div class="quiet">{children}</div>}
      </div>
    </li>
  );
}

/** A fault: its code, the meaning of the code, and the details. */
export function FaultText({ fault }: { fault: AuditFault }) {
  return (
    <p class="fault">
      <span class="mono">{fault.code}</span>: {faultCodes[fault.code].means}.{' '}
      <bdi class="mono quiet">{fault.message}</bdi>
    </p>
  );
}
