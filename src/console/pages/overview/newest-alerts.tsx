import { openAlertStatuses } from '../../../contract/vocabulary.ts';
import { href } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { Answered, Empty } from '../../ui/states.tsx';
import { Severity, Time } from '../../ui/values.tsx';

const shown = 8;

/** The most recent open alerts of medium severity and above. */
export function NewestAlerts() {
  const alerts = useAnswer(
    'listAlerts',
    { query: { status: openAlertStatuses, min_severity: 'medium', per_page: shown } },
    { refreshMs: 30_000 },
  );
  return (
    <section class="panel overview-newest" aria-labelledby="overview-newest">
      <h2 id="overview-newest">
        <a href={href('alerts', { range: 'all', status: openAlertStatuses, min_severity: 'medium' })}>
          Open alerts (medium+)
        </a>
      </h2>
      <Answered of={alerts} rows={shown}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No open alerts" />
          ) : (
            <ul class="overview-reasons">
              {data.map(({ id, attributes }) => (
                <li key={id}>
                  <Severity level={attributes.severity} short />
                  <a class="clip" href={href('alerts', { range: 'all', id })}>
                    <bdi>{attributes.title}</bdi>
                  </a>
                  <span class="quiet number">
                    <Time at={attributes.last_seen} />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
    </section>
  );
}
