import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { ServiceError } from '../../errors.ts';
import { useKeys } from '../state/keys.ts';
import { number } from './format.ts';
import { Failure, Loading } from './states.tsx';
import { useVirtualRows } from './virtual-rows.ts';
import './table.css';

export interface Column<Row> {
  readonly id: string;
  readonly title: string;
  /** A track of CSS grid: `120px`, `minmax(80px, 1fr)`. */
  readonly width: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Numbers stand at the end of their cell. */
  readonly end?: boolean;
  /** By what the list sorts when this title is pressed. */
  readonly sort?: string;
  /** Shown where the table is at least this wide, in pixels. */
  readonly from?: number;
}

/** The rows there are, and how more are got: what `useList` answers, or rows that are all there. */
export interface Rows<Row> {
  readonly rows: readonly Row[];
  readonly total?: number | undefined;
  readonly hasMore?: boolean;
  readonly more?: () => void;
  readonly isLoading?: boolean;
  readonly error?: ServiceError | null;
  readonly refetch?: () => void;
}

interface TableProps<Row> {
  readonly label: string;
  readonly list: Rows<Row>;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  /** The row whose detail is shown. */
  readonly open?: string | undefined;
  readonly onOpen?: (row: Row, options: { replace: boolean }) => void;
  /** The row that keys act on; moved by j and k. */
  readonly cursor?: Signal<string | undefined>;
  /** Rows that are selected together, for what is done to many. */
  readonly marked?: ReadonlySet<string>;
  readonly onMark?: (row: Row) => void;
  /** `name`, or `-name` for descending. */
  readonly sort?: string | undefined;
  readonly onSort?: (sort: string) => void;
  /** What is said where there is nothing. */
  readonly empty: ComponentChildren;
  /** What tells rows apart at a glance: a class of the row. */
  readonly rowClass?: (row: Row) => string;
}

const rowHeight = 32;
/** More rows are asked for when this many are left below. */
const ahead = 40;

/** A list of rows, however many: only those that are seen are drawn. */
export function Table<Row>(props: TableProps<Row>) {
  const { label, list, keyOf, open, onOpen, marked, onMark, rowClass } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const id = useId();
  const own = useSignal<string | undefined>(undefined);
  const cursor = props.cursor ?? own;
  const columns = useFitting(scroller, props.columns);
  const { rows, height, show } = useVirtualRows(scroller, list.rows.length, rowHeight);
  const tracks = [...(marked ? ['28px'] : []), ...columns.map(({ width }) => width)].join(' ');

  const lastSeen = rows.at(-1)?.index ?? 0;
  useEffect(() => {
    if (list.hasMore && list.error == null && lastSeen + ahead >= list.rows.length) list.more?.();
  }, [lastSeen, list.rows.length, list.hasMore]);

  const move = (by: number) => {
    const at = list.rows.findIndex((row) => keyOf(row) === (cursor.value ?? open));
    const next = Math.max(0, Math.min(list.rows.length - 1, at + by));
    const row = list.rows[next];
    if (row === undefined) return;
    cursor.value = keyOf(row);
    show(next);
    if (open !== undefined) onOpen?.(row, { replace: true });
  };
  const current = () => list.rows.find((row) => keyOf(row) === cursor.value);
  useKeys(label, {
    j: { title: 'Next row', run: () => move(1) },
    k: { title: 'Row before', run: () => move(-1) },
    down: { title: 'Next row', run: () => move(1) },
    up: { title: 'Row before', run: () => move(-1) },
    ...(onOpen && {
      enter: {
        title: 'Open the row',
        run: () => {
          const row = current();
          if (row !== undefined) onOpen(row, { replace: false });
        },
      },
    }),
    ...(onMark && {
      x: {
        title: 'Select the row',
        run: () => {
          const row = current();
          if (row !== undefined) onMark(row);
        },
      },
    }),
  });

  if (list.rows.length === 0)
    return (
      <div class="table table-without-rows" ref={scroller}>
        {list.error ? (
          <Failure error={list.error} {...(list.refetch && { onRetry: list.refetch })} />
        ) : list.isLoading ? (
          <Loading rows={10} />
        ) : (
          props.empty
        )}
      </div>
    );

  return (
    <div
      ref={scroller}
      class="table"
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={(list.total ?? list.rows.length) + 1}
      aria-activedescendant={cursor.value === undefined ? undefined : `${id}-${cursor.value}`}
      {...(marked && { 'aria-multiselectable': true })}
    >
      <div class="table-head" role="row" aria-rowindex={1} style={{ gridTemplateColumns: tracks }}>
        {marked && (
          <span role="columnheader">
            <span class="unseen">Selected</span>
          </span>
        )}
        {columns.map((column) => (
          <Head key={column.id} column={column} sort={props.sort} onSort={props.onSort} />
        ))}
      </div>
      <div class="table-body" role="rowgroup" style={{ height: `${height}px` }}>
        {rows.map(({ index, start }) => {
          const row = list.rows[index];
          if (row === undefined) return null;
          const key = keyOf(row);
          const classes = [
            'table-row',
            key === cursor.value && 'table-row-current',
            key === open && 'table-row-open',
            rowClass?.(row),
          ];
          return (
            <div
              key={key}
              id={`${id}-${key}`}
              class={classes.filter(Boolean).join(' ')}
              role="row"
              aria-rowindex={index + 2}
              aria-selected={marked === undefined ? key === open : marked.has(key)}
              style={{ gridTemplateColumns: tracks, transform: `translateY(${start}px)` }}
              onClick={(event) => {
                cursor.value = key;
                if (!isControl(event)) onOpen?.(row, { replace: open !== undefined });
              }}
            >
              {marked && (
                <span role="gridcell" class="table-mark">
                  <input
                    type="checkbox"
                    tabIndex={-1}
                    aria-label="Select the row"
                    checked={marked.has(key)}
                    onChange={() => onMark?.(row)}
                  />
                </span>
              )}
              {columns.map((column) => (
                <span key={column.id} role="gridcell" class={column.end ? 'table-end' : ''}>
                  {column.cell(row)}
                </span>
              ))}
            </div>
          );
        })}
      </div>
      {list.error && (
        <div role="row">
          <div role="gridcell">
            <Failure error={list.error} {...(list.refetch && { onRetry: list.refetch })} />
          </div>
        </div>
      )}
    </div>
  );
}

/** What is pressed inside of a row does its own thing. */
const isControl = (event: JSX.TargetedMouseEvent<HTMLElement>): boolean =>
  event.target instanceof Element && event.target.closest('a, button, input') !== null;

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
      <span role="columnheader" class={column.end ? 'table-end' : ''}>
        {column.title}
      </span>
    );
  const order = sort === by ? 'ascending' : sort === `-${by}` ? 'descending' : 'none';
  return (
    <span role="columnheader" aria-sort={order} class={column.end ? 'table-end' : ''}>
      <button type="button" onClick={() => onSort(order === 'descending' ? by : `-${by}`)}>
        {column.title}
        <span aria-hidden="true">{order === 'ascending' ? ' ↑' : order === 'descending' ? ' ↓' : ''}</span>
      </button>
    </span>
  );
}

/** The columns for which there is room. */
function useFitting<Row>(
  element: { readonly current: HTMLElement | null },
  columns: readonly Column<Row>[],
): readonly Column<Row>[] {
  const [width, setWidth] = useState(innerWidth);
  useEffect(() => {
    const seen = element.current;
    if (seen === null) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWidth(Math.round(entry.contentRect.width));
    });
    observer.observe(seen);
    return () => observer.disconnect();
  }, [element.current]);
  return columns.filter(({ from }) => from === undefined || width >= from);
}

/** How many there are, and of how many. */
export function Counted({ list, of }: { list: Rows<unknown>; of: string }) {
  if (list.total === undefined) return <p class="counted quiet">…</p>;
  return (
    <p class="counted quiet" role="status">
      {number(list.total)} {of}
    </p>
  );
}
