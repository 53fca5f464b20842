import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { ServiceError } from '../../errors.ts';
import { useKeys } from '../state/keys.ts';
import { type Column, useFitting } from './columns.ts';
import { number } from './format.ts';
import { Failure, Loading } from './states.tsx';
import { TableHead } from './table-head.tsx';
import { type RowActions, TableRow } from './table-row.tsx';
import { useVirtualRows } from './virtual-rows.ts';
import './table.css';

export type { Column } from './columns.ts';

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

  const leastWidth = minWidth === undefined ? {} : { minWidth: `${minWidth}px` };

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
  const actions: RowActions<Row> = { open: onOpen, mark: onMark, isAnyOpen: open !== undefined };
  const latest = useRef(actions);
  latest.current = actions;
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
      <TableHead
        columns={columns}
        style={{ gridTemplateColumns: tracks, ...leastWidth }}
        sort={props.sort}
        onSort={props.onSort}
        areAllMarked={marked && list.rows.every((row) => marked.has(keyOf(row)))}
        onMarkAll={onMarkAll}
      />
      <div class="table-body" role="rowgroup" style={{ height: `${height}px`, ...leastWidth }}>
        {rows.map(({ index, start }) => {
          const row = list.rows[index];
          if (row === undefined) return null;
          const key = keyOf(row);
          return (
            <TableRow
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

/** How many there are, and of how many. */
export function Counted({ list, of }: { list: Rows<unknown>; of: string }) {
  if (list.total === undefined) return <p class="counted quiet">…</p>;
  return (
    <p class="counted quiet" role="status">
      {number(list.total)} {of}
    </p>
  );
}
