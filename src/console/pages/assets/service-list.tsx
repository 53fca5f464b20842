import { place } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { useKeys } from '../../state/keys.ts';
import { Split } from '../../ui/detail.tsx';
import { counted } from '../../ui/format.ts';
import { inUrl } from '../../ui/in-url.ts';
import { ListLine } from '../../ui/list-line.tsx';
import { Empty } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { WithoutFilters } from '../../ui/without-filters.tsx';
import { ListBar } from './list-bar.tsx';
import { defaultSort, seenParams } from './question.ts';
import { serviceColumns } from './service-columns.tsx';
import { OpenedService } from './service-detail.tsx';
import { useStillList } from './still-list.ts';

const sorts = [
  { by: '-last_seen', title: 'Last seen' },
  { by: '-first_seen', title: 'Newest first' },
  { by: '-clients', title: 'Most clients first' },
  { by: '-connections', title: 'Most connections first' },
  { by: 'port', title: 'By port' },
  { by: 'ip', title: 'By address' },
  { by: 'name', title: 'By name' },
  { by: 'product', title: 'By software' },
] as const;

/** The list of services, with the open service beside it. */
export function ServiceList() {
  const { params } = place.value;
  const { sort, list, refresh } = useStillList('listServices');
  const openId = params.get('id') ?? undefined;
  useKeys('Services', { '.': { title: 'Load new', run: refresh } });
  return (
    <Split
      detail={
        openId !== undefined && (
          <OpenedService key={openId} id={openId} listed={list.rows.find(({ id }) => id === openId)} />
        )
      }
    >
      <ListBar sorts={sorts} sort={sort} />
      <ListLine list={list} of="service" asOf={list.result.dataUpdatedAt} refresh="Refresh" onRefresh={refresh} />
      <Table
        label="Services"
        list={list}
        columns={serviceColumns}
        {...inUrl(defaultSort)}
        rowClass={({ attributes: { state } }) => (state === 'closed' ? 'asset-retired' : '')}
        empty={<NoServices />}
      />
    </Split>
  );
}

function NoServices() {
  const everything = useAnswer('listServices', { query: { per_page: 1 } });
  const known = everything.data?.pagination.total;
  if (known === 0)
    return (
      <Empty title="No services yet">
        Services on hosts in the home networks are listed once sensors see them or a scan finds them.
      </Empty>
    );
  return (
    <Empty title="No matching services">
      <p>{known !== undefined && `${counted(known, 'service')} in total.`}</p>
      <p class="row">
        <WithoutFilters list="listServices" also={seenParams({ kind: 'any' })} />
      </p>
    </Empty>
  );
}
