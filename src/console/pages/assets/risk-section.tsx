import { href } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { decimal, number } from '../../ui/format.ts';
import { Severity } from '../../ui/severity.tsx';
import { SmallTable } from '../../ui/small-table.tsx';
import { Section } from '../../ui/split.tsx';
import { Answered } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import type { AssetRow } from './question.ts';
import { RiskOverTime } from './risk-over-time.tsx';
import './risk-section.css';

const shownReasons = 4;

/** Why it is the risk that it is: its alerts, by how much each adds to the score. */
export function AssetRisk({ asset }: { asset: AssetRow }) {
  const { id, attributes } = asset;
  const isAtRisk = attributes.risk_score > 0;
  const answer = useAnswer('getRiskScore', {}, { enabled: isAtRisk });
  return (
    <Section title="Risk">
      <RiskOverTime asset={asset} />
      {!isAtRisk ? (
        <p class="quiet">Nothing adds to its risk: no alert on it is open that would count.</p>
      ) : (
        <Answered of={answer} rows={3}>
          {({ data: { attributes: risk } }) => {
            const own = risk.entities.find(({ asset_id }) => asset_id === id);
            if (own === undefined)
              return (
                <p class="quiet">
                  {number(risk.entities.length)} assets are a higher risk; reasons are told of those. Its
                  alerts are below.
                </p>
              );
            const more = own.alerts.length - shownReasons;
            return (
              <>
                <p>
                  {own.score} of 100 at {own.criticality} criticality
                  <span class="quiet">
                    , which adds {decimal(own.points)} to the {risk.score} of the network
                  </span>
                </p>
                <SmallTable
                  heads={[
                    { title: 'Because of' },
                    { title: 'Alert' },
                    { title: 'Adds', end: true },
                    { title: 'Last seen', end: true },
                  ]}
                >
                  {own.alerts
                    .slice(0, shownReasons)
                    .map(({ alert_id, title, severity, points, last_seen }) => (
                      <tr key={alert_id}>
                        <td>
                          <Severity level={severity} short />
                        </td>
                        <td class="small-table-wide">
                          <a href={href('alerts', { range: 'all', view: 'all', id: alert_id })}>
                            <bdi>{title}</bdi>
                          </a>
                        </td>
                        <td class="table-end">{decimal(points)}</td>
                        <td class="table-end quiet">
                          <Time at={last_seen} />
                        </td>
                      </tr>
                    ))}
                </SmallTable>
                {more > 0 && <p class="quiet">and {number(more)} more</p>}
                <details class="asset-method">
                  <summary class="quiet">How it is computed</summary>
                  <p class="quiet">{risk.method}</p>
                </details>
              </>
            );
          }}
        </Answered>
      )}
    </Section>
  );
}
