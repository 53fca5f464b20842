import { applied, href, type Params, place } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { Section } from '../../ui/detail.tsx';
import { number } from '../../ui/format.ts';
import { Answered } from '../../ui/states.tsx';
import { Severity, Time } from '../../ui/values.tsx';
import { Status } from './columns.tsx';
import type { Alert, AlertRow } from './question.ts';

const shownEach = 3;

interface Relation {
  readonly title: string;
  readonly filters: Readonly<Record<string, readonly string[]>>;
}

/** Relations between alerts, strongest first. */
function relations({ id, attributes }: AlertRow): Relation[] {
  const { src_ip, dst_ip, rule_id, domain } = attributes;
  return [
    { title: 'Recurred as', filters: { previous_alert_id: [id] } },
    { title: 'Merged alerts', filters: { folded_into: [id] } },
    ...(src_ip === undefined ? [] : [{ title: 'Same source', filters: { src_ip: [src_ip] } }]),
    ...(dst_ip === undefined ? [] : [{ title: 'Same target', filters: { dst_ip: [dst_ip] } }]),
    ...(domain === undefined ? [] : [{ title: 'Same domain', filters: { domain: [domain] } }]),
    { title: 'Same rule', filters: { rule_id: [rule_id] } },
  ];
}

/** Related alerts from all time. */
export function Related({ alert }: { alert: AlertRow }) {
  const { previous_alert_id, folded_into } = alert.attributes;
  return (
    <Section title="Related alerts">
      {previous_alert_id !== undefined && <Named title="Recurrence of" id={previous_alert_id} />}
      {folded_into !== undefined && <Named title="Merged into" id={folded_into} />}
      {relations(alert).map((relation) => (
        <Same key={relation.title} relation={relation} than={alert.id} />
      ))}
    </Section>
  );
}

/** A related alert given by its id. */
function Named({ title, id }: { title: string; id: string }) {
  const answer = useAnswer('getAlert', { params: { alert_id: id } }, { keepPrevious: false });
  return (
    <div class="alert-related">
      <h4>{title}</h4>
      {answer.error?.code === 'NOT_FOUND' ? (
        <p class="quiet">This alert is no longer stored.</p>
      ) : (
        <Answered of={answer} rows={1}>
          {({ data }) => (
            <ul>
              <Line id={data.id} alert={data.attributes} />
            </ul>
          )}
        </Answered>
      )}
    </div>
  );
}

function Same({ relation, than }: { relation: Relation; than: string }) {
  const answer = useAnswer(
    'listAlerts',
    { query: { ...relation.filters, per_page: shownEach + 1 } },
    { keepPrevious: false },
  );
  const data = answer.data?.data ?? [];
  const others = data.filter(({ id }) => id !== than).slice(0, shownEach);
  const isAmong = Object.keys(relation.filters).every((name) => name !== 'previous_alert_id' && name !== 'folded_into');
  const total = (answer.data?.pagination.total ?? 0) - (isAmong ? 1 : 0);
  if (others.length === 0) return null;
  return (
    <div class="alert-related">
      <h4>
        {relation.title} <span class="quiet">· {number(total)}</span>
        {total > others.length && (
          <a href={href('alerts', { range: 'all', view: 'all', ...(relation.filters as Params) })}>Show all</a>
        )}
      </h4>
      <ul>
        {others.map(({ id, attributes }) => (
          <Line key={id} id={id} alert={attributes} />
        ))}
      </ul>
    </div>
  );
}

function Line({ id, alert }: { id: string; alert: Alert }) {
  return (
    <li>
      <Severity level={alert.severity} short />
      <a class="clip" href={`/alerts?${applied(place.value.params, { id })}`}>
        <bdi>{alert.title}</bdi>
      </a>
      <Status status={alert.status} />
      <span class="quiet">
        <Time at={alert.last_seen} />
      </span>
    </li>
  );
}
