import type { ComponentChildren } from 'preact';
import type { ListId, ListItem } from '../../../../client/client.ts';
import { place, setParams } from '../../../state/address.ts';
import { useList } from '../../../state/answers.ts';
import { filterQuery } from '../../../state/filters.ts';
import { useStillRange } from '../../../state/still-range.ts';
import { Button } from '../../../ui/button.tsx';
import { FilterBar } from '../../../ui/chips.tsx';
import { Detail, Split } from '../../../ui/detail.tsx';
import { inUrl } from '../../../ui/in-url.ts';
import { Empty, Failure, Loading } from '../../../ui/states.tsx';
import { type Column, Counted, Table } from '../../../ui/table.tsx';
import { idOf, type OneOf, type Opened, useOpened } from './opened.ts';

export interface ListViewProps<O extends ListId> {
  readonly operation: O;
  /** Plural name of the items, such as `rules`. */
  readonly of: string;
  /** Default order. */
  readonly sort: string;
  readonly columns: readonly Column<ListItem<O>>[];
  readonly detail: (row: ListItem<O>) => ComponentChildren;
  /** The call that fetches an item that is not in the list. */
  readonly one?: OneOf;
  /** Whether the list is limited to the page's time range. */
  readonly ranged?: boolean;
  /** Buttons beside Refresh. */
  readonly actions?: ComponentChildren;
  /** Contents if there are no items and no filters. */
  readonly empty: ComponentChildren;
  /** Contents of the detail if the item in the URL does not exist. */
  readonly absent?: (id: string) => ComponentChildren;
  readonly rowClass?: (row: ListItem<O>) => string;
}

/**
 * A list with filters and the detail of the open item. The list is fetched when shown and after changes made here, not
 * periodically, because reads are recorded in the audit trail.
 */
export function ListView<O extends ListId>(props: ListViewProps<O>) {
  const { operation, of, columns, detail, one, ranged = false, actions, empty, absent, rowClass } = props;
  const filters = filterQuery(operation);
  const { range } = useStillRange();
  const sort = place.value.params.get('sort') ?? props.sort;
  const list = useList(operation, { query: { ...filters, ...(ranged && range), sort } } as never, { still: true });
  const opened = useOpened<ListItem<O>>(list, one);
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <Split detail={opened.id !== undefined && <Open opened={opened} detail={detail} absent={absent} />}>
      <div class="admin-tools">
        <FilterBar list={operation} search={`Search ${of}`} />
        <div class="row">
          <Counted list={list} one={of.replace(/s$/, '')} many={of} />
          <Button kind="plain" onClick={list.refetch} busy={list.result.isRefetching}>
            Refresh
          </Button>
          {actions}
        </div>
      </div>
      <Table
        label={of.charAt(0).toUpperCase() + of.slice(1)}
        list={list}
        columns={columns}
        {...inUrl(props.sort)}
        keyOf={idOf}
        onOpen={(row, options) => setParams({ id: idOf(row) }, options)}
        empty={
          isFiltered ? (
            <Empty title={`No matching ${of}`}>Remove a filter{ranged && ' or choose a longer time range'}.</Empty>
          ) : (
            empty
          )
        }
        {...(rowClass && { rowClass })}
      />
    </Split>
  );
}

function Open<Row>({
  opened: { id, row, isLoading, error, refetch },
  detail,
  absent,
}: {
  opened: Opened<Row>;
  detail: (row: Row) => ComponentChildren;
  absent: ((id: string) => ComponentChildren) | undefined;
}) {
  if (row !== undefined) return <>{detail(row)}</>;
  return (
    <Detail title="Not found">
      {error !== null ? (
        <Failure error={error} onRetry={refetch} />
      ) : isLoading ? (
        <Loading />
      ) : (
        (absent?.(id ?? '') ?? <Empty title="Not in the list">A filter may hide it.</Empty>)
      )}
    </Detail>
  );
}
