import type { Signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Denied } from '../../../client/log-source.ts';
import { AuditFault, type ProvenEntry } from '../../../client/verifier.ts';
import { severities } from '../../../contract/vocabulary.ts';
import { href } from '../../state/address.ts';
import { Button } from '../../ui/button.tsx';
import { Section } from '../../ui/detail.tsx';
import { abbreviated, counted, number } from '../../ui/format.ts';
import { Time } from '../../ui/values.tsx';
import { logged } from './logged.ts';
import { type ProvenLeaf, proveAlert } from './prove.ts';
import type { AlertRow } from './question.ts';

/** Delay before proving, so that alerts passed quickly with the keyboard are skipped. */
const pauseMs = 300;

/** Proves in this browser that the log contains the alert. Increasing `goTo` scrolls the section into view. */
export function Proof({ alert, goTo }: { alert: AlertRow; goTo: Signal<number> }) {
  const { transparency, severity } = alert.attributes;
  const [result, setResult] = useState<ProvenEntry | ProvenLeaf | AuditFault>();
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
      <Section title="Transparency log">
        {transparency === undefined ? (
          <p class="quiet">{isLogged ? 'Being added to the log.' : 'Only high and critical alerts are logged.'}</p>
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
              Show the proof step by step
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
  result: ProvenEntry | ProvenLeaf | AuditFault | undefined;
  alert: AlertRow;
  onRetry: () => void;
}) {
  if (result === undefined)
    return (
      <p class="alert-proof" role="status">
        Verifying in this browser…
      </p>
    );
  if (result instanceof Denied)
    return (
      <p class="alert-proof" role="status">
        Your role cannot read the log.
      </p>
    );
  if (result instanceof AuditFault)
    return (
      <div class={result.kind === 'unavailable' ? 'alert-proof' : 'alert-proof alert-proof-broken'} role="alert">
        <p>
          <strong>{result.kind === 'unavailable' ? '○ Could not be verified.' : '✕ Not proven.'}</strong>{' '}
          <span class="mono">{result.code}</span>
        </p>
        <p>{result.message}</p>
        <Button onClick={onRetry}>Retry</Button>
      </div>
    );
  if ('kind' in result)
    return (
      <div class="alert-proof" role="status">
        <p>
          <strong>The entry is in the log</strong>, verified in this browser:{' '}
          {counted(result.path.length, 'hash links', 'hashes link')} the hash of the entry to the signed head of{' '}
          {counted(result.head.size, 'entry', 'entries')}.
        </p>
        <p class="quiet">
          Your role cannot read the contents of the entry, so only the hash of the entry was verified.
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
        , not by the service: {counted(result.path.length, 'hash links', 'hashes link')} the entry to the signed head of{' '}
        {counted(result.head.size, 'entry', 'entries')}.
      </p>
      <p class="quiet">
        Logged as: {severity}, “<bdi>{title}</bdi>”, <Time at={at} />.
        {changed.length > 0 && ` The alert’s ${changed.join(' and ')} changed since then.`}
      </p>
    </div>
  );
}
