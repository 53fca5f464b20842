import { useMemo } from 'preact/hooks';
import type { CallResult } from '../../../client/client.ts';
import { type AlertGrouping, type Severity as SeverityName, severities } from '../../../contract/vocabulary.ts';
import { place, setParams } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { refreshed } from '../../state/moving-range.ts';
import { rangeQuery, shownRange } from '../../state/range.ts';
import { counted, number, title, words } from '../../ui/format.ts';
import { Empty } from '../../ui/states.tsx';
import { type Column, column, Table } from '../../ui/table.tsx';
import { AssetName, Severity, Time } from '../../ui/values.tsx';
import { AlertHistogram } from './histogram.tsx';
import type { Filters } from './question.ts';

type Group = CallResult<'groupAlerts'>['data']['groups'][number];

const maxGroups = 1000;
const refreshMs = 30_000;

export const groupTitles: Readonly<Record<AlertGrouping, string>> = {
  rule_id: 'Rule',
  rule_source: 'Rule source',
  category: 'Category',
  severity: 'Severity',
  src_ip: 'Source',
  dst_ip: 'Target',
  asset_id: 'Asset',
  status: 'Status',
};

/** Groups of alerts, largest first; opening a group shows its alerts. */
export function Groups({ by, filters }: { by: AlertGrouping; filters: Filters }) {
  const answer = useAnswer(
    'groupAlerts',
    { query: { ...filters, ...rangeQuery(), by, limit: maxGroups } as never },
    refreshed(shownRange(), refreshMs),
  );
  const shown = answer.data?.data;
  const columns = useMemo(() => columnsOf(by), [by]);
  const list = {
    rows: shown?.groups ?? [],
    total: shown?.groups.length,
    isLoading: answer.isPending,
    error: answer.error,
    refetch: () => void answer.refetch(),
  };
  return (
    <>
      <AlertHistogram filters={filters} />
      <p class="list-line quiet" role="status">
        {shown === undefined ? '…' : summary(shown)}
      </p>
      <Table
        key={by}
        label="Groups of alerts"
        list={list}
        columns={columns}
        keyOf={({ value }) => value ?? ''}
        onOpen={({ value }) => {
          if (value !== undefined)
            setParams({
              group: undefined,
              [by]: [value],
              id: undefined,
              ...(by === 'status' && { view: 'all' }),
            });
        }}
        empty={<Empty title="No alerts in this range" />}
      />
    </>
  );
}

function summary({ groups, alerts, findings, distinct, others, complete }: CallResult<'groupAlerts'>['data']): string {
  const shown = `${counted(groups.length, 'group')}, ${counted(alerts, 'alert')}, ${counted(findings, 'occurrence')}`;
  if (others.alerts === 0) return `${shown}.`;
  const where = complete ? counted(distinct - groups.length, 'smaller group') : 'other smaller groups';
  return `${shown}; ${counted(others.alerts, 'more alert')} in ${where}.`;
}

const columnsOf = (by: AlertGrouping): readonly Column<Group>[] => [
  column('severity', 'Severity', { width: '76px' }, ({ severity }) => <Severity level={severity} short />),
  column('value', groupTitles[by], { width: 'minmax(90px, 1fr)' }, ({ value }) => <GroupName by={by} value={value} />),
  column('open', 'Open', { width: '60px', end: true }, ({ statuses }) => number(statuses.new + statuses.in_progress)),
  column('progress', 'In progress', { width: '84px', end: true, from: 640 }, ({ statuses }) =>
    number(statuses.in_progress),
  ),
  column('alerts', 'Alerts', { width: '60px', end: true, from: 420 }, ({ alerts }) => number(alerts)),
  column('times', 'Count', { width: '64px', end: true, from: 520 }, ({ findings }) => number(findings)),
  column('first', 'First seen', { width: '90px', end: true, from: 820 }, ({ first_seen }) => <Time at={first_seen} />),
  column('last', 'Last seen', { width: '84px', end: true }, ({ last_seen }) => <Time at={last_seen} />),
];

function GroupName({ by, value }: { by: AlertGrouping; value: string | undefined }) {
  if (value === undefined) return <span class="quiet">none</span>;
  if (by === 'rule_id') return <RuleName id={value} />;
  if (by === 'asset_id') return <AssetName id={value} />;
  if (by === 'severity' && severities.some((one) => one === value)) return <Severity level={value as SeverityName} />;
  const isAddress = by === 'src_ip' || by === 'dst_ip';
  return (
    <bdi class={isAddress ? 'mono' : ''} title={value}>
      {by === 'status' || by === 'rule_source' ? title(words(value)) : value}
    </bdi>
  );
}

/** Shows the name of a rule. The name comes from an alert, because the list of rules lacks the rules of sensors. */
function RuleName({ id }: { id: string }) {
  const answer = useAnswer(
    'listAlerts',
    { query: { rule_id: [id], per_page: 1 } },
    { still: true, keepPrevious: false },
  );
  const name = answer.data?.data[0]?.attributes.rule_name;
  return (
    <>
      <bdi title={name ?? id}>{name ?? id}</bdi>
      {name !== undefined && name !== id && <span class="quiet mono alert-group-id">{id}</span>}
    </>
  );
}

/** Returns the grouping in the URL; undefined if it is absent or not valid. */
export function shownGrouping(): AlertGrouping | undefined {
  const grouping = place.value.params.get('group');
  return grouping !== null && Object.hasOwn(groupTitles, grouping) ? (grouping as AlertGrouping) : undefined;
}
