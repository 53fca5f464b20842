import { useState } from 'preact/hooks';
import type { Status } from '../../../contract/resources/status.ts';
import { witnessFailures } from '../../../contract/witness-failures.ts';
import { href } from '../../state/address.ts';
import { change } from '../../state/answers.ts';
import { may } from '../../state/session.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { Button } from '../../ui/button.tsx';
import { Facts, Section } from '../../ui/detail.tsx';
import { counted, duration, number, title } from '../../ui/format.ts';
import { Time } from '../../ui/values.tsx';

/** Unresolved problems that need an operator. */
export function Findings({ findings }: { findings: Status['ledger']['findings'] }) {
  return findings.map(({ code, message, since }) => (
    <p key={code} class="status-unwell">
      <span aria-hidden="true">▲ </span>
      {title(code)} since <Time at={since} />: {message}
    </p>
  ));
}

/** The state of the transparency log, its queue and its witnesses. */
export function LogHealth({ status: { ledger, outbox, witnesses } }: { status: Status }) {
  return (
    <section class="panel status-facts" aria-label="Transparency log">
      <h2>
        <a href={href('transparency')}>Transparency log</a>
      </h2>
      <p class={ledger.state === 'ok' ? 'status-well' : 'status-unwell'}>
        <span aria-hidden="true">{ledger.state === 'ok' ? '✓ ' : '▲ '}</span>
        {ledger.state === 'ok' ? 'Accepting entries' : `Not accepting entries: ${title(ledger.fault ?? 'degraded')}`}
      </p>
      {ledger.advice !== undefined && <p>{ledger.advice}</p>}
      {ledger.fault === 'clock' && <ConfirmClock />}
      {ledger.regression !== undefined && (
        <p>
          {title(ledger.regression.event)} <Time at={ledger.regression.at} />: from{' '}
          {number(ledger.regression.from_size)} to {counted(ledger.regression.to_size, 'entry', 'entries')}.
        </p>
      )}
      <Findings findings={ledger.findings.filter((finding) => !isAboutStorage(finding))} />
      <Facts
        facts={[
          ['Entries', number(ledger.size)],
          ['Head age', ledger.head_age_s === undefined ? undefined : duration(ledger.head_age_s * 1000)],
          ['Queued', `${number(outbox.rows)} of ${number(outbox.limit)}`],
          ['Key', <code key="k">{ledger.sth_key_id}</code>],
          ['Fingerprint', <code key="f">{ledger.sth_key_fingerprint}</code>],
        ]}
      />
      {witnesses !== undefined && (
        <Section title="Witnesses">
          <p class={witnesses.quorum ? 'status-well' : 'status-unwell'}>
            {witnesses.quorum ? 'Checkpoint quorum reached.' : 'Checkpoint quorum not reached.'}
          </p>
          <ul>
            {witnesses.witnesses.map(({ name, size, failing, cosignatures, rollback_since }) => (
              <li key={name} class={rollback_since === undefined ? undefined : 'status-unwell'}>
                <bdi>{name}</bdi>: {counted(cosignatures, 'cosignature')}
                {size !== undefined && `, latest at size ${number(size)}`}
                {failing !== undefined && <span class="status-unwell">; it {witnessFailures[failing]}</span>}
                {rollback_since !== undefined && (
                  <>
                    {' '}
                    ▲ Reports a rollback since <Time at={rollback_since} />.
                  </>
                )}
              </li>
            ))}
          </ul>
        </Section>
      )}
    </section>
  );
}

/** Returns true for findings that the Storage panel shows. */
export const isAboutStorage = ({ code }: { readonly code: string }): boolean =>
  code === 'store_damaged' || code === 'events_skipped';

/** Lets administrators confirm the host's clock while the log rejects it. */
function ConfirmClock() {
  const [asking, setAsking] = useState(false);
  if (!may('confirmClock')) return null;
  return (
    <>
      <Button onClick={() => setAsking(true)}>Confirm clock</Button>
      {asking && (
        <ActionDialog
          title="Confirm the host clock?"
          action="Confirm"
          run={() => change('confirmClock', {}, ['getStatus'])}
          done="Clock confirmed."
          onClose={() => setAsking(false)}
        >
          <p>
            Check the clock against a second source first. If the clock is wrong now, correct it instead: the log
            recovers within a minute. Entries with wrong times stay in the log.
          </p>
        </ActionDialog>
      )}
    </>
  );
}
