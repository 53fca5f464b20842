import type { Signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Denied } from '../../../client/log-source.ts';
import { Fault, type ProvenEntry } from '../../../client/verifier.ts';
import { severities } from '../../../contract/vocabulary.ts';
import { href } from '../../state/address.ts';
import { Button } from '../../ui/button.tsx';
import { abbreviated, number } from '../../ui/format.ts';
import { Section } from '../../ui/split.tsx';
import { Time } from '../../ui/time.tsx';
import { logged } from './logged.ts';
import { proveAlert } from './prove.ts';
import type { ProvenLeaf } from './prove-leaf.ts';
import type { AlertRow } from './question.ts';

/** Who goes through the queue by key is not proven every alert that is passed. */
const pauseMs = 300;

/** Whether the log has the alert: checked in this browser whenever it is shown. `goTo` grows when one wants to see it. */
export function Proof({ alert, goTo }: { alert: AlertRow; goTo: Signal<number> }) {
  const { transparency, severity } = alert.attributes;
  const [result, setResult] = useState<ProvenEntry | ProvenLeaf | Fault>();
  const [attempt, setAttempt] = useState(0);
  const section = useRef<HTMLDivElement>(null);
  const index = transparency?.leaf_index;
  useEffect(() => {
    setResult(undefined);
    if (index === undefined) return;
    let wanted = true;
    const timer = setTimeout(async () => {
      const proven = await proveAlert(alert);
      if (wanted) setResult(proven);
    }, pauseMs);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [alert.id, index, attempt]);
  const seen = useRef(0);
  useEffect(() => {
    if (goTo.value === seen.current) return;
    seen.current = goTo.value;
    section.current?.scrollIntoView({ block: 'start' });
    section.current?.querySelector<HTMLElement>('a, button')?.focus({ preventScroll: true });
  }, [goTo.value]);
  const isLogged = severities.indexOf(severity) >= severities.indexOf('high');
  return (
    <div ref={section}>
      <Section title="In the transparency log">
        {transparency === undefined ? (
          <p class="quiet">
            {isLogged ? 'It is on its way into the log.' : 'Alerts below high are not logged.'}
          </p>
        ) : (
          <>
            <Outcome result={result} alert={alert} onRetry={() => setAttempt(attempt + 1)} />
            <p class="quiet">
              Entry <span class="mono">{number(transparency.leaf_index)}</span>, leaf{' '}
              <span class="mono" title={transparency.leaf_hash}>
                {abbreviated(transparency.leaf_hash)}
              </span>
            </p>
            <a href={href('transparency', { view: 'proof', index: transparency.leaf_index })}>
              See the proof, step by step
            </a>
          </>
        )}
      </Section>
    </div>
  );
}

function Outcome({
  result,
  alert,
  onRetry,
}: {
  result: ProvenEntry | ProvenLeaf | Fault | undefined;
  alert: AlertRow;
  onRetry: () => void;
}) {
  if (result === undefined)
    return (
      <p class="alert-proof" role="status">
        Checking in this browser …
      </p>
    );
  if (result instanceof Denied)
    return (
      <p class="alert-proof" role="status">
        Your role may not read the log. Who may can prove it.
      </p>
    );
  if (result instanceof Fault)
    return (
      <div
        class={result.kind === 'unavailable' ? 'alert-proof' : 'alert-proof alert-proof-broken'}
        role="alert"
      >
        <p>
          <strong>{result.kind === 'unavailable' ? '○ Could not be checked.' : '✕ Not proven.'}</strong>{' '}
          <span class="mono">{result.code}</span>
        </p>
        <p>{result.message}</p>
        <Button onClick={onRetry}>Check again</Button>
      </div>
    );
  if ('kind' in result)
    return (
      <div class="alert-proof" role="status">
        <p>
          <strong>The log has the entry that the alert names</strong>, verified in this browser:{' '}
          {number(result.path.length)} hashes lead from the hash of the entry to the signed head of{' '}
          {number(result.head.size)} entries.
        </p>
        <p class="quiet">
          What the entry says is for other roles to read: with the proof they check that it says the same.
        </p>
      </div>
    );
  const { severity, title, at, changed } = logged(result, alert.attributes);
  return (
    <div class="alert-proof alert-proof-good" role="status">
      <p>
        <strong>
          <span aria-hidden="true">✓ </span>Verified in this browser
        </strong>
        , not by the service: {number(result.path.length)} hashes lead from the entry to the signed head of{' '}
        {number(result.head.size)} entries.
      </p>
      <p class="quiet">
        It says: {severity}, “<bdi>{title}</bdi>”, <Time at={at} />.
        {changed.length > 0 && ` Since then its ${changed.join(' and ')} changed.`}
      </p>
    </div>
  );
}
