import type { Status } from '../../../contract/resources/status.ts';
import { witnessFailures } from '../../../contract/witness-failures.ts';
import { href } from '../../state/address.ts';
import { duration, number, title } from '../../ui/format.ts';
import { Facts, Section } from '../../ui/split.tsx';
import { Time } from '../../ui/time.tsx';
import { ConfirmClock } from './confirm-clock.tsx';

/** Open conditions that an operator must look at. */
export function Findings({ findings }: { findings: Status['ledger']['findings'] }) {
  return findings.map(({ code, message, since }) => (
    <p key={code} class="status-unwell">
      <span aria-hidden="true">▲ </span>
      {title(code)} since <Time at={since} />: {message}
    </p>
  ));
}

/** The transparency log as the service sees it, what is on its way there, and who cosigns it. */
export function LogHealth({ status: { ledger, outbox, witnesses } }: { status: Status }) {
  return (
    <section class="panel status-facts" aria-label="Transparency log">
      <h2>
        <a href={href('transparency')}>Transparency log</a>
      </h2>
      <p class={ledger.state === 'ok' ? 'status-well' : 'status-unwell'}>
        <span aria-hidden="true">{ledger.state === 'ok' ? '✓ ' : '▲ '}</span>
        {ledger.state === 'ok'
          ? 'It takes entries.'
          : `It takes no entries: ${title(ledger.fault ?? 'degraded')}.`}
      </p>
      {ledger.advice !== undefined && <p>{ledger.advice}</p>}
      {ledger.fault === 'clock' && <ConfirmClock />}
      {ledger.regression !== undefined && (
        <p>
          {title(ledger.regression.event)} <Time at={ledger.regression.at} />: from{' '}
          {number(ledger.regression.from_size)} to {number(ledger.regression.to_size)} entries.
        </p>
      )}
      <Findings findings={ledger.findings.filter(({ code }) => code !== 'store_damaged')} />
      <Facts
        facts={[
          ['Entries', number(ledger.size)],
          [
            'Age of the head',
            ledger.head_age_s === undefined ? undefined : duration(ledger.head_age_s * 1000),
          ],
          ['On their way', `${number(outbox.rows)} of ${number(outbox.limit)} at most`],
          ['Key', <code key="k">{ledger.sth_key_id}</code>],
          ['Fingerprint', <code key="f">{ledger.sth_key_fingerprint}</code>],
        ]}
      />
      {witnesses !== undefined && (
        <Section title="Witnesses">
          <p class={witnesses.quorum ? 'status-well' : 'status-unwell'}>
            {witnesses.quorum ? 'The checkpoint has its quorum.' : 'The checkpoint lacks its quorum.'}
          </p>
          <ul>
            {witnesses.witnesses.map(({ name, size, failing, cosignatures, rollback_since }) => (
              <li key={name} class={rollback_since === undefined ? undefined : 'status-unwell'}>
                <bdi>{name}</bdi>: {number(cosignatures)} cosignatures
                {size !== undefined && `, last of size ${number(size)}`}
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
