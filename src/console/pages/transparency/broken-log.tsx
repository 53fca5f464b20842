import { AuditFault, judge, type Pin, parseEvidence } from '../../../client/verifier.ts';
import { href } from '../../state/address.ts';
import { checkLog, keptEvidence, type PinState, pinState, putEvidenceAway } from '../../state/pin.ts';
import { saveText } from '../../state/save.ts';
import { Button } from '../../ui/button.tsx';
import { counted } from '../../ui/format.ts';
import { Time } from '../../ui/values.tsx';
import { FaultText } from './check.tsx';
import './broken-log.css';

/** Banner above all views while the log does not verify, and afterwards until the user dismisses it. */
export function BrokenLog() {
  const state = pinState.value;
  const kept = keptEvidence.value;
  if (state.kind === 'broken') return <BrokenNow state={state} />;
  if (kept === undefined) return null;
  return (
    <section class="broken-log" role="alert">
      <h2>
        {convicts(kept.text)
          ? 'This log contradicted itself in the past'
          : 'This log was once inconsistent with its earlier state'}
      </h2>
      <p>
        <Time at={kept.at} as="exact" />: <bdi class="mono">{kept.code}</bdi>. <bdi>{kept.message}</bdi>
      </p>
      <p>
        The log is consistent again
        {convicts(kept.text) ? ', but the conflicting signatures can’t be withdrawn' : ''}. The evidence is saved in
        this browser.
      </p>
      <div class="row">
        <Button onClick={() => saveEvidence(kept.text)}>Download evidence</Button>
        <Button onClick={putEvidenceAway}>Dismiss</Button>
      </div>
    </section>
  );
}

function BrokenNow({ state }: { state: Extract<PinState, { kind: 'broken' }> }) {
  const { fault, evidence, pin } = state;
  const text = evidence ?? keptEvidence.value?.text;
  return (
    <section class="broken-log" role="alert">
      <h2>{titleOf(fault, text)}</h2>
      <FaultText fault={fault} />
      <Meaning fault={fault} pin={pin} convicting={convicts(text)} />
      <div class="row">
        {text !== undefined && (
          <Button kind="primary" onClick={() => saveEvidence(text)}>
            Download evidence
          </Button>
        )}
        <Button onClick={() => void checkLog()}>Check again</Button>
        <a class="button" href={href('transparency', { view: 'consistency' })}>
          View pin
        </a>
      </div>
    </section>
  );
}

function titleOf(fault: AuditFault, evidence: string | undefined): string {
  if (fault.kind !== 'misbehaviour') return 'The log does not verify';
  return convicts(evidence)
    ? 'The log contradicts an earlier signed tree head'
    : 'The log is inconsistent with its earlier state';
}

/** Returns whether the evidence proves to third parties that the log signed conflicting statements. */
function convicts(text: string | undefined): boolean {
  const evidence = text === undefined ? undefined : parseEvidence(text);
  return evidence !== undefined && !(evidence instanceof AuditFault) && judge(evidence).convicts;
}

/** Explains the fault and the next steps. */
function Meaning({ fault, pin, convicting }: { fault: AuditFault; pin: Pin | undefined; convicting: boolean }) {
  const before =
    pin === undefined
      ? ''
      : ` This browser last verified the log at ${counted(pin.head.size, 'entry', 'entries')} and keeps that pin.`;
  if (fault.kind === 'misbehaviour')
    return (
      <>
        <p>
          Entries may have been removed, changed, or shown differently to other readers.{before}{' '}
          {convicting
            ? 'The evidence is conclusive: the log signed two conflicting statements.'
            : 'The cause may be tampering, a restored backup, a replaced log, or a stale response from a proxy: the evidence alone is not conclusive.'}
        </p>
        <ol class="broken-steps">
          <li>Download the evidence: it contains both signed heads and the mismatch.</li>
          <li>
            Verify the evidence without this service: <code>npx candor verify candor-evidence.json</code>
          </li>
          <li>Compare with other auditors and witnesses, and contact the operator. Do not reset the pin until then.</li>
        </ol>
      </>
    );
  if (fault.code === 'MALFORMED_PIN' || fault.code === 'OTHER_LOG')
    return (
      <p>
        The pin stored in this browser cannot be used for this log: it was altered or belongs to a log at another URL.
        This is not evidence against the log. Import a pin that you trust, or reset the pin.
      </p>
    );
  return (
    <p>
      The log cannot be trusted until it verifies.{before} The cause may be an error in the service or a proxy: check
      again, and contact the operator if the error persists.
    </p>
  );
}

const saveEvidence = (text: string): void => saveText('candor-evidence.json', text);
