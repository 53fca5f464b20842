import { Fault, judge, type Pin, parseEvidence } from '../../../client/verifier.ts';
import { href } from '../../state/address.ts';
import { checkLog, keptEvidence, type PinState, pinState, putEvidenceAway } from '../../state/pin.ts';
import { saveText } from '../../state/save.ts';
import { Button } from '../../ui/button.tsx';
import { number } from '../../ui/format.ts';
import { Time } from '../../ui/time.tsx';
import { FaultText } from './check.tsx';
import './broken-log.css';

/** Said above every view of the log while it does not hold, and after, until somebody has seen to it. */
export function BrokenLog() {
  const state = pinState.value;
  const kept = keptEvidence.value;
  if (state.kind === 'broken') return <BrokenNow state={state} />;
  if (kept === undefined) return null;
  return (
    <section class="broken-log" role="alert">
      <h2>
        {convicts(kept.text)
          ? 'This log once contradicted itself'
          : 'This log once did not fit what it was before'}
      </h2>
      <p>
        <Time at={kept.at} as="exact" />: <bdi class="mono">{kept.code}</bdi>. <bdi>{kept.message}</bdi>
      </p>
      <p>
        What it shows now fits again{convicts(kept.text) ? ", but what it signed then can't be unsigned" : ''}
        . The evidence is kept in this browser.
      </p>
      <div class="row">
        <Button onClick={() => saveEvidence(kept.text)}>Download the evidence</Button>
        <Button onClick={putEvidenceAway}>I have it: don't show this again</Button>
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
            Download the evidence
          </Button>
        )}
        <Button onClick={() => void checkLog()}>Check again</Button>
        <a class="button" href={href('transparency', { view: 'consistency' })}>
          The pin
        </a>
      </div>
    </section>
  );
}

function titleOf(fault: Fault, evidence: string | undefined): string {
  if (fault.kind !== 'misbehaviour') return 'What the log shows does not verify';
  return convicts(evidence)
    ? 'The log contradicts what it signed before'
    : 'The log is not what it was before';
}

/** Whether the evidence shows to everybody that the log signed what can't both be true. */
function convicts(text: string | undefined): boolean {
  const evidence = text === undefined ? undefined : parseEvidence(text);
  return evidence !== undefined && !(evidence instanceof Fault) && judge(evidence).convicts;
}

/** What follows from it, and what to do. */
function Meaning({ fault, pin, convicting }: { fault: Fault; pin: Pin | undefined; convicting: boolean }) {
  const before =
    pin === undefined
      ? ''
      : ` This browser verified it at ${number(pin.head.size)} entries, and keeps that pin as it is.`;
  if (fault.kind === 'misbehaviour')
    return (
      <>
        <p>
          Entries may have been removed, changed, or shown differently to others.{before}{' '}
          {convicting
            ? 'The evidence convicts it by itself: it signed what can not both be true.'
            : 'It may be deliberate, a backup that was restored or a log that was replaced, or an old answer from something on the way: the evidence alone convicts nobody.'}
        </p>
        <ol class="broken-steps">
          <li>Download the evidence: it holds both signed heads and what doesn't fit.</li>
          <li>
            Check it elsewhere, without this service: <code>npx candor verify candor-evidence.json</code>
          </li>
          <li>Compare with other auditors and witnesses, and ask the operator. Don't pin anew before.</li>
        </ol>
      </>
    );
  if (fault.code === 'MALFORMED_PIN' || fault.code === 'OTHER_LOG')
    return (
      <p>
        The pin that this browser kept is not usable for this log: it was altered, or is of another address.
        That accuses nobody. Import a pin that you trust, or pin anew.
      </p>
    );
  return (
    <p>
      Nothing that it says is believed until it does.{before} It may be a mistake of the service or of
      something on the way: check again, and if it stays, ask the operator.
    </p>
  );
}

const saveEvidence = (text: string): void => saveText('candor-evidence.json', text);
