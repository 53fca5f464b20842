import type { Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { href } from '../../state/address.ts';
import { may } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { Detail, Facts, Raw } from '../../ui/detail.tsx';
import { abbreviated, counted, number, title } from '../../ui/format.ts';
import { Address, AssetName, Severity, Time, Value } from '../../ui/values.tsx';
import { refusal } from './changes.ts';
import { Status } from './columns.tsx';
import { EditAssignee, EditPriority, EditSeverity, EditTags } from './editing.tsx';
import { Evidence } from './evidence-section.tsx';
import { attackPage } from './mitre.ts';
import { Proof } from './proof-section.tsx';
import type { Alert, AlertRow } from './question.ts';
import { Related } from './related.tsx';
import { Notes, Timeline } from './timeline.tsx';
import { Traffic } from './traffic-section.tsx';
import { Verdicts } from './verdicts-section.tsx';

/** Triage actions on one alert, shared by buttons and keys. */
export interface Triage {
  readonly assign: () => void;
  readonly begin: () => void;
  readonly resolve: () => void;
  readonly silence: () => void;
  readonly note: () => void;
  readonly verdict: () => void;
  readonly reverse: () => void;
  readonly archive: () => void;
}

/** One alert. The facts that matter most for triage come first. */
export function AlertDetail({ alert, triage, proof }: { alert: AlertRow; triage: Triage; proof: Signal<number> }) {
  const { attributes } = alert;
  // Scrolls to the top when another alert is opened.
  useEffect(() => document.querySelector('.detail-body')?.scrollTo(0, 0), [alert.id]);
  return (
    <Detail
      title={<bdi>{attributes.title}</bdi>}
      {...((may('updateAlert') || may('createSilence')) && {
        actions: <Actions alert={attributes} triage={triage} />,
      })}
    >
      <p class="row alert-standing">
        <Severity level={attributes.severity} />
        <Status status={attributes.status} verdict={attributes.verdict} />
        <span class="quiet">
          {counted(attributes.count, 'occurrence')}, last <Time at={attributes.last_seen} />
        </span>
      </p>
      {attributes.description !== undefined && (
        <p class="alert-description">
          <bdi>{attributes.description}</bdi>
        </p>
      )}
      <About alert={alert} />
      <Verdicts alert={attributes} onVerdict={triage.verdict} />
      <Evidence key={`evidence ${alert.id}`} alert={attributes} />
      <Traffic alert={attributes} />
      <Notes key={`notes ${alert.id}`} alert={alert} />
      <Related alert={alert} />
      <Proof alert={alert} goTo={proof} />
      <Timeline alert={alert} />
      <Raw of={alert} />
    </Detail>
  );
}

function Actions({ alert, triage }: { alert: Alert; triage: Triage }) {
  const { status } = alert;
  const closed = status === 'resolved' || status === 'suppressed';
  if (status === 'archived') return <span class="quiet">Archived alerts cannot be changed.</span>;
  const silence = !closed && may('createSilence') && (
    <Button hint="s" onClick={triage.silence}>
      Silence
    </Button>
  );
  if (!may('updateAlert')) return silence;
  return (
    <>
      {refusal(status, 'resolved') === undefined && status !== 'resolved' && (
        <Button kind="primary" hint="r" onClick={triage.resolve}>
          Resolve
        </Button>
      )}
      {closed ? (
        <Button kind="primary" hint="u" onClick={triage.reverse}>
          Reopen
        </Button>
      ) : (
        <>
          <Button hint="a" onClick={triage.assign}>
            Assign to me
          </Button>
          {status === 'new' && (
            <Button hint="i" onClick={triage.begin}>
              Start work
            </Button>
          )}
          {status === 'in_progress' && (
            <Button hint="u" onClick={triage.reverse}>
              Unassign
            </Button>
          )}
        </>
      )}
      {silence}
      <Button hint="n" onClick={triage.note}>
        Note
      </Button>
      {closed && <Button onClick={triage.archive}>Archive</Button>}
    </>
  );
}

function About({ alert }: { alert: AlertRow }) {
  const { attributes } = alert;
  const { rule_id, rule_name, rule_source, src_ip, src_port, dst_ip, dst_port, domain } = attributes;
  const { mitre, asset_ids, silence_id, confidence, transport, category, sensors } = attributes;
  return (
    <div class="alert-about">
      <Facts
        facts={[
          ['Severity', <EditSeverity key="severity" alert={alert} />],
          ['Priority', <EditPriority key="priority" alert={alert} />],
          ['Assignee', <EditAssignee key="assignee" alert={alert} />],
          ['Risk', <RiskReasons key="risk" alert={attributes} />],
          ['Source', src_ip && <Address key="src" ip={src_ip} port={src_port} list="listAlerts" field="src_ip" />],
          ['Target', dst_ip && <Address key="dst" ip={dst_ip} port={dst_port} list="listAlerts" field="dst_ip" />],
          ['Domain', domain && <Value key="domain" value={domain} list="listAlerts" field="domain" pivot="domain" />],
          ['Transport', transport],
          [
            asset_ids.length > 1 ? 'Assets' : 'Asset',
            asset_ids.length > 0 && (
              <span key="assets" class="row">
                {asset_ids.map((id) => (
                  <AssetName key={id} id={id} link />
                ))}
              </span>
            ),
          ],
          ['Rule', <Value key="rule" value={rule_name} list="listAlerts" field="rule_name" mono={false} />],
          [
            'Rule ID',
            rule_source === 'sigma' ? (
              <a key="id" class="mono" href={href('administration', { view: 'rules', id: rule_id })}>
                {rule_id}
              </a>
            ) : (
              <Value key="id" value={rule_id} list="listAlerts" field="rule_id" pivot="rule" />
            ),
          ],
          ['Rule source', title(rule_source)],
          [sensors?.length === 1 ? 'Sensor' : 'Sensors', sensors && <Sensors key="sensors" sensors={sensors} />],
          ['Confidence', confidence === undefined ? undefined : `${Math.round(confidence * 100)} %`],
          [
            'Category',
            category && <Value key="category" value={category} list="listAlerts" field="category" mono={false} />,
          ],
          ['Tactics', mitre && mitre.tactics.length > 0 && <Attack key="tactics" ids={mitre.tactics} />],
          ['Techniques', mitre && mitre.techniques.length > 0 && <Attack key="techniques" ids={mitre.techniques} />],
          ['First seen', <Time key="first" at={attributes.first_seen} as="exact" />],
          ['Last seen', <Time key="last" at={attributes.last_seen} as="exact" />],
          ['Raised', <Time key="created" at={attributes.created_at} />],
          ['Updated', <Time key="updated" at={attributes.updated_at} />],
          [
            'Silenced by',
            silence_id && (
              <a key="silence" href={href('administration', { view: 'silences', id: silence_id })}>
                View silence
              </a>
            ),
          ],
          ['Tags', <EditTags key="tags" alert={alert} />],
        ]}
      />
    </div>
  );
}

/** The risk score and its factors. */
function RiskReasons({ alert: { risk_score, severity, confidence } }: { alert: Alert }) {
  if (risk_score === undefined) return <>not scored</>;
  const sure = confidence === undefined ? '' : ` and confidence ${Math.round(confidence * 100)} %`;
  return (
    <span title={`Out of 100, from severity ${severity}${sure}. Adds to the assets’ risk while the alert is open.`}>
      <span class="mono">{risk_score}</span>{' '}
      <span class="quiet">
        of 100: {severity}
        {confidence !== undefined && `, confidence ${Math.round(confidence * 100)} %`}
      </span>
    </span>
  );
}

/** Links to ATT&CK, without a referrer. */
function Attack({ ids }: { ids: readonly string[] }) {
  return (
    <span class="row">
      {ids.map((id) => {
        const page = attackPage(id);
        return page === undefined ? (
          <bdi key={id}>{id}</bdi>
        ) : (
          <a key={id} class="mono" href={page} target="_blank" rel="noreferrer">
            {id} ↗
          </a>
        );
      })}
    </span>
  );
}

/** The sensors that reported the alert, with the number of occurrences from each. */
function Sensors({ sensors }: { sensors: NonNullable<Alert['sensors']> }) {
  return (
    <span class="row">
      {sensors.map(({ id, name, count }) => (
        <span key={id} title={id}>
          {name === undefined ? <span class="mono">{abbreviated(id)}</span> : <bdi>{name}</bdi>}{' '}
          <span class="quiet">{number(count)}×</span>
        </span>
      ))}
      {sensors.length === 1 && <span class="quiet">Seen by this sensor only.</span>}
    </span>
  );
}
