import { numberColumn, timeColumn } from '../../ui/attribute-columns.tsx';
import { counted, title, words } from '../../ui/format.ts';
import { type Column, column } from '../../ui/table.tsx';
import { Address, Severity, Value } from '../../ui/values.tsx';
import { type Alert, type AlertRow, isOpen } from './question.ts';

const shapes: Readonly<Record<Alert['status'], string>> = {
  new: '○',
  in_progress: '◐',
  resolved: '✓',
  suppressed: '–',
  archived: '□',
};

/** The status as a symbol and a word. */
export function Status({ status, verdict }: { status: Alert['status']; verdict?: Alert['verdict'] | undefined }) {
  return (
    <span class={`alert-status alert-status-${status}`}>
      <span aria-hidden="true">{shapes[status]} </span>
      {title(status)}
      {verdict !== undefined && <span class="quiet"> · {words(verdict)}</span>}
    </span>
  );
}

/** Columns of the queue; `from` is the minimum table width in pixels at which a column is shown. */
export const columns: readonly Column<AlertRow>[] = [
  column('severity', 'Severity', { width: '76px', sort: 'severity' }, ({ attributes }) => (
    <Severity level={attributes.severity} short />
  )),
  column('title', 'Alert', { width: 'minmax(120px, 1fr)', sort: 'title' }, ({ attributes }) => (
    <Title alert={attributes} />
  )),
  column(
    'src',
    'Source',
    { width: '116px', from: 760, sort: 'src_ip' },
    ({ attributes }) => attributes.src_ip && <Address ip={attributes.src_ip} list="listAlerts" field="src_ip" />,
  ),
  column(
    'dst',
    'Target',
    { width: '148px', from: 860, sort: 'dst_ip' },
    ({ attributes: { dst_ip, dst_port, domain } }) =>
      dst_ip !== undefined ? (
        <Address ip={dst_ip} port={dst_port} list="listAlerts" field="dst_ip" />
      ) : (
        domain !== undefined && <Value value={domain} list="listAlerts" field="domain" pivot="domain" />
      ),
  ),
  column(
    'status',
    'Status',
    { width: '148px', from: 700, sort: 'status' },
    ({ attributes: { status, verdict, assignee } }) => (
      <>
        <Status status={status} verdict={verdict} />
        {assignee !== undefined && (
          <span class="quiet" title={`Assigned to ${assignee}`}>
            {' · '}
            <bdi>{assignee}</bdi>
          </span>
        )}
      </>
    ),
  ),
  column(
    'priority',
    'Priority',
    { width: '64px', from: 1240, sort: 'priority' },
    ({ attributes: { priority } }) => priority && title(priority),
  ),
  column(
    'risk',
    'Risk',
    { width: '40px', end: true, from: 640, sort: 'risk_score' },
    ({ attributes: { risk_score } }) => risk_score,
  ),
  numberColumn('count', 'Count', 'count', { width: '52px', from: 420 }),
  timeColumn('seen', 'Last seen', 'last_seen', { width: '84px' }),
];

function Title({ alert }: { alert: Alert }) {
  return (
    <>
      {!isOpen(alert) && <span class="unseen">{title(alert.status)}: </span>}
      <bdi title={alert.title}>{alert.title}</bdi>
      {alert.note_count > 0 && <span class="quiet"> · {counted(alert.note_count, 'note')}</span>}
      {alert.tags.map((tag) => (
        <span key={tag} class="alert-tag">
          <bdi>{tag}</bdi>
        </span>
      ))}
    </>
  );
}

export const rowClass = ({ attributes }: AlertRow): string => (isOpen(attributes) ? '' : 'alert-done');

/** Sort orders of the queue, for widths at which column headers are hidden. */
export const sorts: readonly { readonly by: string; readonly title: string }[] = [
  { by: '-severity', title: 'Most severe first' },
  { by: '-last_seen', title: 'Last seen' },
  { by: '-created_at', title: 'Newest first' },
  { by: 'created_at', title: 'Oldest first' },
  { by: '-risk_score', title: 'Highest risk first' },
  { by: '-priority', title: 'Highest priority first' },
  { by: '-count', title: 'Highest count first' },
  { by: 'assignee', title: 'By assignee' },
  { by: '-updated_at', title: 'Last updated' },
];
