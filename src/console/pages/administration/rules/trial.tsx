import { useState } from 'preact/hooks';
import type { RuleTestResult } from '../../../../contract/resources/rule.ts';
import { href } from '../../../state/address.ts';
import { api } from '../../../state/session.ts';
import { Button, Choice } from '../../../ui/button.tsx';
import { FormError } from '../../../ui/form.tsx';
import { counted } from '../../../ui/format.ts';
import { useSending } from '../../../ui/sending.ts';
import { Severity, Time } from '../../../ui/values.tsx';
import './trial.css';

const day = 86_400_000;
const spans = [
  { value: '1', title: '24 h', ms: day },
  { value: '7', title: '7 days', ms: 7 * day },
  { value: '30', title: '30 days', ms: 30 * day },
  { value: 'all', title: 'All', ms: undefined },
] as const;

/** Tests a rule on stored events. Nothing is saved. */
export function Trial({ source, disabled = false }: { source: string; disabled?: boolean }) {
  const [span, setSpan] = useState<(typeof spans)[number]['value']>('1');
  const [found, setFound] = useState<{ source: string; result: RuleTestResult } | undefined>();
  const sending = useSending();
  const ms = spans.find(({ value }) => value === span)?.ms;
  return (
    <div class="stack">
      <div class="row">
        <Choice label="Test period" options={spans} value={span} onChange={setSpan} />
        <Button
          busy={sending.busy}
          disabled={disabled}
          onClick={() =>
            sending.send(async () => {
              const from = ms === undefined ? {} : { from: new Date(Date.now() - ms).toISOString() };
              setFound({ source, result: (await api.call('testRule', { body: { source, ...from } })).data });
            })
          }
        >
          Test on stored data
        </Button>
        {sending.busy && <span role="status">Searching events…</span>}
      </div>
      <FormError>{sending.elsewhere}</FormError>
      {found !== undefined && !sending.busy && (
        <>
          {found.source !== source && <p class="quiet">This result is for an earlier version of the rule.</p>}
          <Found result={found.result} />
        </>
      )}
    </div>
  );
}

function Found({ result }: { result: RuleTestResult }) {
  const { looked_at, cut_short, cut_short_by, answerable, not_stored, matched, matches } = result;
  return (
    <div class="stack" role="status">
      {answerable ? (
        <p>
          {matched === 0 ? 'No matches' : counted(matched, 'match', 'matches')} in {counted(looked_at, 'event')}
          {cut_short && ', the newest ones; older events of this period were not searched'}
          {cut_short_by === 'time' && ', because the rule took too long'}.
        </p>
      ) : (
        <p>Cannot be tested: the rule matches record types that are not stored.</p>
      )}
      {not_stored.length > 0 && (
        <p class="quiet">
          Not stored, so not searched: <code>{not_stored.join(', ')}</code>. The rule checks these records on arrival.
        </p>
      )}
      {matches.length > 0 && (
        <div class="trial-matches" tabIndex={0} role="group" aria-label="Matches, newest first">
          <ul>
            {matches.map((match, index) => (
              <li key={index}>
                <Time at={match.timestamp} as="exact" />
                <Severity level={match.severity} short />
                <bdi class="mono">
                  {[match.src_ip, match.dst_ip].filter(Boolean).join(' → ')}
                  {match.dst_port !== undefined && `:${match.dst_port}`} {match.domain ?? ''}
                </bdi>
                {match.description !== undefined && <bdi class="quiet">{match.description}</bdi>}
                {match.event_ids[0] !== undefined && (
                  <a href={href('events', { range: 'all', id: match.event_ids[0] })}>Event</a>
                )}
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}
