import type { ComponentChildren } from 'preact';
import type { AuditFault } from '../../../client/verifier.ts';
import { FaultText } from './check.tsx';
import './verdict.css';

type VerdictState = 'good' | 'bad' | 'waiting';

const signs: Readonly<Record<VerdictState, string>> = { good: '✓', bad: '✕', waiting: '…' };

/** The overall result in large type, with actions. */
export function Verdict({
  state,
  title,
  about,
  children,
}: {
  state: VerdictState;
  title: string;
  about: ComponentChildren;
  children?: ComponentChildren;
}) {
  return (
    <header class={`verdict verdict-${state}`}>
      <span class="verdict-sign" aria-hidden="true">
        {signs[state]}
      </span>
      <div class="verdict-text" role="status">
        <p class="verdict-title">{title}</p>
        <div class="quiet">{about}</div>
      </div>
      {children !== undefined && <div class="row">{children}</div>}
    </header>
  );
}

/** Shows why the verification failed. */
export function Refused({ fault }: { fault: AuditFault }) {
  return <Verdict state="bad" title="Verification failed" about={<FaultText fault={fault} />} />;
}
