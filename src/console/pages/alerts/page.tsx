import type { ListItem } from '../../../client/client.ts';
import { place, setParams } from '../../state/address.ts';
import { useList } from '../../state/answers.ts';
import { filterQuery } from '../../state/filters.ts';
import { rangeQuery } from '../../state/range.ts';
import { FilterBar } from '../../ui/chips.tsx';
import { number } from '../../ui/format.ts';
import { Page } from '../../ui/page.tsx';
import { Severity } from '../../ui/severity.tsx';
import { Detail, Facts, Split } from '../../ui/split.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Counted, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { Address } from '../../ui/value.tsx';

type AlertRow = ListItem<'listAlerts'>;

const columns: readonly Column<AlertRow>[] = [
  {
    id: 'severity',
    title: 'Severity',
    width: '84px',
    sort: 'severity',
    cell: ({ attributes }) => <Severity level={attributes.severity} short />,
  },
  {
    id: 'title',
    title: 'Alert',
    width: 'minmax(120px, 1fr)',
    cell: ({ attributes }) => <bdi>{attributes.title}</bdi>,
  },
  {
    id: 'src',
    title: 'Source',
    width: '140px',
    from: 700,
    cell: ({ attributes }) =>
      attributes.src_ip && <Address ip={attributes.src_ip} list="listAlerts" field="src_ip" />,
  },
  {
    id: 'count',
    title: 'Times',
    width: '64px',
    end: true,
    sort: 'count',
    cell: ({ attributes }) => number(attributes.count),
  },
  {
    id: 'seen',
    title: 'Last seen',
    width: '84px',
    end: true,
    sort: 'last_seen',
    cell: ({ attributes }) => <Time at={attributes.last_seen} />,
  },
];

export default function Alerts() {
  const { params } = place.value;
  const sort = params.get('sort') ?? '-last_seen';
  const list = useList('listAlerts', {
    query: { ...filterQuery('listAlerts'), ...rangeQuery(), sort } as never,
  });
  const open = params.get('id') ?? undefined;
  const shown = list.rows.find(({ id }) => id === open);
  return (
    <Page title="Alerts" range="any" bar={<FilterBar list="listAlerts" search="Search alerts" />}>
      <Split
        detail={
          shown && (
            <Detail title={shown.attributes.title} onClose={() => setParams({ id: undefined })}>
              <Facts facts={[['Severity', <Severity key="s" level={shown.attributes.severity} />]]} />
            </Detail>
          )
        }
      >
        <Counted list={list} of="alerts" />
        <Table
          label="Alerts"
          list={list}
          columns={columns}
          keyOf={({ id }) => id}
          open={open}
          onOpen={({ id }, options) => setParams({ id }, options)}
          sort={sort}
          onSort={(by) => setParams({ sort: by })}
          empty={<Empty title="No alerts in this time." />}
        />
      </Split>
    </Page>
  );
}
