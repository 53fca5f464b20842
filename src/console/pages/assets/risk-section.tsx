import { href } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { Section, SmallTable } from '../../ui/detail.tsx';
import { counted, decimal, number } from '../../ui/format.ts';
import { Answered } from '../../ui/states.tsx';
import { Severity, Time } from '../../ui/values.tsx';
import type { AssetRow } from './question.ts';
import { RiskOverTime } from './risk-over-time.tsx';
import './risk-section.css';

const shownReasons = 4;

/** The risk score of the asset, with the alerts that contribute to it. */
export function AssetRisk({ asset }: { asset: AssetRow }) {
  const { id, attributes } = asset;
  const isAtRisk = attributes.risk_score > 0;
  const answer = useAnswer('getRiskScore', {}, { enabled: isAtRisk });
  return (
    <Section title="Risk">
      <RiskOverTime asset={asset} />
      {!isAtRisk ? (
        <p class="quiet">No open alerts contribute to the risk.</p>
      ) : (
        <Answered of={answer} rows={3}>
          {({ data: { attributes: risk } }) => {
            const own = risk.entities.find(({ asset_id }) => asset_id === id);
            if (own === undefined)
              return (
                <p class="quiet">
                  Contributions are listed for the {counted(risk.entities.length, 'riskiest asset')} only. See the
                  alerts below.
                </p>
              );
            const more = own.alerts.length - shownReasons;
            return (
              <>
                <p>
                  {own.score} of 100, {own.criticality} criticality
                  <span class="quiet">
                    ; contributes {decimal(own.points)} to the network score of {risk.score}
                  </span>
                </p>
                <SmallTable
                  heads={[
                    { title: 'Severity' },
                    { title: 'Alert' },
                    { title: 'Contributes', end: true },
                    { title: 'Last seen', end: true },
                  ]}
                >
                  {own.alerts.slice(0, shownReasons).map(({ alert_id, title, severity, points, last_seen }) => (
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
                  <summary class="quiet">How the score is calculated</summary>
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
