import { useMemo, useState } from 'preact/hooks';
import { place, setParams } from '../../state/address.ts';
import { useAnswer, useList } from '../../state/answers.ts';
import { recently } from '../../state/clock.ts';
import { filterQuery, removeFilter, shownChips } from '../../state/filters.ts';
import { useKeys } from '../../state/keys.ts';
import { ranges } from '../../state/range.ts';
import { Button } from '../../ui/button.tsx';
import { number } from '../../ui/format.ts';
import { Menu } from '../../ui/menu.tsx';
import { Split } from '../../ui/split.tsx';
import { Empty } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { type Filters, seenParams, seenQuery, shownSeen } from './question.ts';
import { serviceColumns } from './service-columns.tsx';
import { OpenedService } from './service-detail.tsx';
import { SeenPicker, Views } from './views.tsx';

const defaultSort = '-last_seen';
const sorts = [
  { by: '-last_seen', title: 'Last seen first' },
  { by: '-first_seen', title: 'Newest first' },
  { by: '-clients', title: 'Most clients first' },
  { by: '-connections', title: 'Most connections first' },
  { by: 'port', title: 'By port' },
  { by: 'ip', title: 'By address' },
  { by: 'name', title: 'By name' },
  { by: 'product', title: 'By software' },
] as const;

/** What is offered on the network, and the one that is open beside it. */
export function ServiceList() {
  const { params } = place.value;
  const chips = filterQuery('listServices') as Filters;
  const seen = shownSeen(params);
  const sort = params.get('sort') ?? defaultSort;
  const [asked, setAsked] = useState(0);
  const which = JSON.stringify([chips, seen, sort]);
  const filters = useMemo<Filters>(
    () => ({ ...chips, ...seenQuery(seen, recently.peek(), ranges) }),
    [which, asked],
  );
  const list = useList('listServices', { query: { ...filters, sort } as never }, { still: true });
  const openId = params.get('id') ?? undefined;
  const refresh = () => {
    if (seen.kind === 'any' || seen.kind === 'between') list.refetch();
    else setAsked(asked + 1);
  };
  useKeys('Services', { '.': { title: 'Show what is new', run: refresh } });
  return (
    <Split
      detail={
        openId !== undefined && (
          <OpenedService key={openId} id={openId} listed={list.rows.find(({ id }) => id === openId)} />
        )
      }
    >
      <div class="asset-bar">
        <Views />
        <div class="asset-tools">
          <SeenPicker />
          <Menu
            class="button"
            label={`Sort: ${sorts.find(({ by }) => by === sort)?.title ?? sort}`}
            items={() =>
              sorts.map(({ by, title }) => ({
                title,
                run: () => setParams({ sort: by === defaultSort ? undefined : by }),
              }))
            }
          >
            Sort ▾
          </Menu>
        </div>
      </div>
      <div class="asset-line">
        <span class="quiet" role="status">
          {list.total === undefined
            ? '…'
            : `${number(list.total)} ${list.total === 1 ? 'service' : 'services'}`}
        </span>
        {list.result.dataUpdatedAt > 0 && (
          <span class="quiet">
            as of <Time at={list.result.dataUpdatedAt} />
          </span>
        )}
        <Button kind="plain" hint="." onClick={refresh}>
          Refresh
        </Button>
      </div>
      <Table
        label="Services"
        list={list}
        columns={serviceColumns}
        keyOf={({ id }) => id}
        open={openId}
        onOpen={({ id }, options) => setParams({ id }, options)}
        sort={sort}
        onSort={(by) => setParams({ sort: by === defaultSort ? undefined : by })}
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
      <Empty title="No service is known yet.">
        What answers on hosts of the home networks is listed when sensors see it, or when a scan finds it.
      </Empty>
    );
  return (
    <Empty title="No service matches.">
      <p>{known !== undefined && `${number(known)} services were looked at.`}</p>
      <p class="row asset-ways">
        <Button
          onClick={() => {
            shownChips('listServices').forEach(removeFilter);
            setParams({ q: undefined, ...seenParams({ kind: 'any' }) });
          }}
        >
          Take the filters away
        </Button>
      </p>
    </Empty>
  );
}
