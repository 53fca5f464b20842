import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
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
  /** `through`: with all between it and the one before (shift). */
  readonly onMark?: (row: Row, how: { through: boolean }) => void;
  /** All rows that are there, or none of them any more. */
  readonly onMarkAll?: (all: boolean) => void;
  /** `name`, or `-name` for descending. */
  readonly sort?: string | undefined;
  readonly onSort?: (sort: string) => void;
  /** What is said where there is nothing. */
  readonly empty: ComponentChildren;
  /** What tells rows apart at a glance: a class of the row. */
  readonly rowClass?: (row: Row) => string;
  /** The least width of a row, in pixels; where there is less room, the table scrolls sideways. */
  readonly minWidth?: number;
  /**
   * Rows stream through: what is drawn at a place is written anew, not moved and made again. For many rows a second whose
   * cells keep no state.
   */
  readonly streams?: boolean;
}

const rowHeight = 32;
/** More rows are asked for when this many are left below. */
const ahead = 40;

/** A list of rows, however many: only those that are seen are drawn. */
export function Table<Row>(props: TableProps<Row>) {
  const { label, list, keyOf, open, onOpen, marked, onMark, onMarkAll, rowClass, minWidth, streams } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const id = useId();
  const own = useSignal<string | undefined>(undefined);
  const cursor = props.cursor ?? own;
  const columns = useFitting(scroller, props.columns);
  const { rows, height, show } = useVirtualRows(
    scroller,
    list.rows.length,
    rowHeight,
    // Each of them is written anew with what comes.
    streams ? 1 : undefined,
  );
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
  /** Where nothing has the focus, or something in the table: what scrolls elsewhere has arrows of its own. */
  const isHere = (target: EventTarget | null) =>
    target === document.body || (target instanceof Node && scroller.current?.contains(target) === true);
  const current = () => list.rows.find((row) => keyOf(row) === (cursor.value ?? open));
  // Rows are given the same functions each time, so that those that stay the same are not drawn again.
  const latest = useRef<RowActions<Row>>({});
  latest.current = { open: onOpen, mark: onMark, isOpen: open !== undefined };
  const mark = (through: boolean) => {
    const row = current();
    if (row !== undefined) onMark?.(row, { through });
  };
  // Who moves the cursor from outside wants its row to be seen.
  useEffect(() => {
    const at = list.rows.findIndex((row) => keyOf(row) === cursor.value);
    if (at >= 0) show(at);
  }, [cursor.value]);
  useKeys(label, {
    j: { title: 'Next row', run: () => move(1), repeats: true },
    k: { title: 'Row before', run: () => move(-1), repeats: true },
    down: { title: 'Next row', run: () => move(1), repeats: true, within: isHere },
    up: { title: 'Row before', run: () => move(-1), repeats: true, within: isHere },
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
      x: { title: 'Select the row', run: () => mark(false) },
      X: { title: 'Select the rows up to this', run: () => mark(true) },
    }),
    ...(onMarkAll && {
      'ctrl a': { title: 'Select all rows', run: () => onMarkAll(true) },
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
      <div
        class="table-head"
        role="row"
        aria-rowindex={1}
        style={{ gridTemplateColumns: tracks, ...(minWidth && { minWidth: `${minWidth}px` }) }}
      >
        {marked && (
          <span role="columnheader">
            {onMarkAll ? (
              <input
                type="checkbox"
                aria-label="Select all rows"
                checked={list.rows.every((row) => marked.has(keyOf(row)))}
                onChange={(event) => onMarkAll(event.currentTarget.checked)}
              />
            ) : (
              <span class="unseen">Selected</span>
            )}
          </span>
        )}
        {columns.map((column) => (
          <Head key={column.id} column={column} sort={props.sort} onSort={props.onSort} />
        ))}
      </div>
      <div
        class="table-body"
        role="rowgroup"
        style={{ height: `${height}px`, ...(minWidth && { minWidth: `${minWidth}px` }) }}
      >
        {rows.map(({ index, start }) => {
          const row = list.rows[index];
          if (row === undefined) return null;
          const key = keyOf(row);
          return (
            <DrawnRow
              key={streams ? index : key}
              row={row}
              id={key}
              table={id}
              index={index}
              start={start}
              tracks={tracks}
              columns={columns}
              cursor={cursor}
              isOpen={key === open}
              isMarked={marked?.has(key)}
              class={rowClass?.(row)}
              actions={latest}
            />
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

interface RowActions<Row> {
  readonly open?: TableProps<Row>['onOpen'];
  readonly mark?: TableProps<Row>['onMark'];
  readonly isOpen?: boolean;
}

/** Reads a signal, and so is drawn again only when that or one of its properties changes. */
function DrawnRow<Row>({
  row,
  id,
  table,
  index,
  start,
  tracks,
  columns,
  cursor,
  isOpen,
  isMarked,
  class: own,
  actions,
}: {
  row: Row;
  id: string;
  table: string;
  index: number;
  start: number;
  tracks: string;
  columns: readonly Column<Row>[];
  cursor: Signal<string | undefined>;
  isOpen: boolean;
  isMarked: boolean | undefined;
  class: string | undefined;
  actions: { readonly current: RowActions<Row> };
}) {
  const isCurrent = cursor.value === id;
  const classes = ['table-row', isCurrent && 'table-row-current', isOpen && 'table-row-open', own];
  return (
    <div
      id={`${table}-${id}`}
      class={classes.filter(Boolean).join(' ')}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isMarked ?? isOpen}
      style={{ gridTemplateColumns: tracks, transform: `translateY(${start}px)` }}
      onClick={(event) => {
        cursor.value = id;
        const { open, isOpen: anyOpen = false } = actions.current;
        if (!isControl(event)) open?.(row, { replace: anyOpen });
      }}
    >
      {isMarked !== undefined && (
        <span role="gridcell" class="table-mark">
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label="Select the row"
            checked={isMarked}
            onClick={(event) => actions.current.mark?.(row, { through: event.shiftKey })}
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
  return useMemo(() => columns.filter(({ from }) => from === undefined || width >= from), [columns, width]);
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
