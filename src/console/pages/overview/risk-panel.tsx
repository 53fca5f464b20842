import type { CallResult } from '../../../client/client.ts';
import { href } from '../../state/address.ts';
import { counted, decimal } from '../../ui/format.ts';
import { Answered, type Asked, Empty } from '../../ui/states.tsx';
import { Risk, Severity, Time } from '../../ui/values.tsx';

const shownEntities = 6;
const shownAlerts = 3;

/** The network's risk score, with the assets and alerts that contribute to it. */
export function RiskPanel({ risk }: { risk: Asked<CallResult<'getRiskScore'>> }) {
  return (
    <section class="panel overview-risk" aria-labelledby="overview-risk">
      <h2 id="overview-risk">Risk</h2>
      <Answered of={risk} rows={8}>
        {({ data: { attributes } }) => (
          <>
            <p class="overview-big">
              <a href={href('assets', { sort: '-risk_score' })}>{attributes.score}</a>
              <span class="overview-small">
                <span class="quiet">of 100 ·</span> <Risk level={attributes.level} />{' '}
                <span class="quiet">
                  · {counted(attributes.entities_at_risk, 'asset')} at risk · as of <Time at={attributes.as_of} />
                </span>
              </span>
            </p>
            {attributes.entities.length === 0 && attributes.unassigned === undefined ? (
              <Empty title="No risk">No open alerts contribute to the score.</Empty>
            ) : (
              <ol class="overview-entities">
                {attributes.entities.slice(0, shownEntities).map((entity) => (
                  <li key={entity.asset_id}>
                    <details>
                      <summary>
                        <span class="clip">
                          <bdi>{entity.name}</bdi>
                          {entity.criticality !== 'medium' && (
                            <span class="quiet"> {entity.criticality} criticality</span>
                          )}
                        </span>
                        <Risk level={entity.level} score={entity.score} />
                        <span class="quiet number">contributes {decimal(entity.points)}</span>
                      </summary>
                      <Reasons alerts={entity.alerts} />
                      <p>
                        <a href={href('assets', { id: entity.asset_id })}>Show asset</a>
                      </p>
                    </details>
                  </li>
                ))}
                {attributes.unassigned && (
                  <li>
                    <details>
                      <summary>
                        <span class="clip">Unknown addresses</span>
                        <Risk level={attributes.unassigned.level} score={attributes.unassigned.score} />
                        <span class="quiet number">contributes {decimal(attributes.unassigned.points)}</span>
                      </summary>
                      <Reasons alerts={attributes.unassigned.alerts} />
                    </details>
                  </li>
                )}
              </ol>
            )}
            <details class="overview-method">
              <summary class="quiet">How the score is calculated</summary>
              <p class="quiet">{attributes.method}</p>
            </details>
          </>
        )}
      </Answered>
    </section>
  );
}

type Contribution = CallResult<'getRiskScore'>['data']['attributes']['entities'][number]['alerts'][number];

function Reasons({ alerts }: { alerts: readonly Contribution[] }) {
  const more = alerts.length - shownAlerts;
  return (
    <ul class="overview-reasons">
      {alerts.slice(0, shownAlerts).map(({ alert_id, title: text, severity, last_seen, points }) => (
        <li key={alert_id}>
          <Severity level={severity} short />
          <a class="clip" href={href('alerts', { range: 'all', id: alert_id })}>
            <bdi>{text}</bdi>
          </a>
          <span class="quiet number">
            {decimal(points)} · <Time at={last_seen} />
          </span>
        </li>
      ))}
      {more > 0 && <li class="quiet">and {counted(more, 'more alert')}</li>}
    </ul>
  );
}
