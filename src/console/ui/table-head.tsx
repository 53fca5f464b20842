import type { JSX } from 'preact';
import type { Column } from './columns.ts';

/** The column titles, which sort when clicked. */
export function TableHead<Row>({
  columns,
  style,
  sort,
  onSort,
  areAllMarked,
  onMarkAll,
}: {
  columns: readonly Column<Row>[];
  /** CSS grid tracks. */
  style: JSX.CSSProperties;
  sort: string | undefined;
  onSort: ((sort: string) => void) | undefined;
  /** Whether all rows are selected; undefined if rows cannot be selected. */
  areAllMarked: boolean | undefined;
  onMarkAll: ((all: boolean) => void) | undefined;
}) {
  return (
    <div class="table-head" role="row" aria-rowindex={1} style={style}>
      {areAllMarked !== undefined && (
        <span role="columnheader">
          {onMarkAll ? (
            <input
              type="checkbox"
              aria-label="Select all rows"
              checked={areAllMarked}
              onChange={(event) => onMarkAll(event.currentTarget.checked)}
            />
          ) : (
            <span class="unseen">Selected</span>
          )}
        </span>
      )}
      {columns.map((column) => (
        <Head key={column.id} column={column} sort={sort} onSort={onSort} />
      ))}
    </div>
  );
}

function Head<Row>({
  column,
  sort,
  onSort,
}: {
  column: Column<Row>;
  sort: string | undefined;
  onSort: ((sort: string) => void) | undefined;
}) {
  const by = column.sort;
  if (by === undefined || onSort === undefined)
    return (
      <span role="columnheader" data-column={column.id} class={column.end ? 'table-end' : ''}>
        {column.title}
      </span>
    );
  const order = sort === by ? 'ascending' : sort === `-${by}` ? 'descending' : 'none';
  return (
    <span role="columnheader" data-column={column.id} aria-sort={order} class={column.end ? 'table-end' : ''}>
      <button type="button" onClick={() => onSort(order === 'descending' ? by : `-${by}`)}>
        {column.title}
        <span aria-hidden="true">{order === 'ascending' ? ' ↑' : order === 'descending' ? ' ↓' : ''}</span>
      </button>
    </span>
  );
}
