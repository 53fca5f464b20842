import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { ServiceError } from '../../errors.ts';
import { useKeys } from '../state/keys.ts';
import { type Column, useFitting } from './columns.ts';
import { counted } from './format.ts';
import { Failure, Loading } from './states.tsx';
import { TableHead } from './table-head.tsx';
import { type RowActions, TableRow } from './table-row.tsx';
import { useVirtualRows } from './virtual-rows.ts';
import './table.css';

export { type Column, column } from './columns.ts';

/** Rows and a function to load more: a result of `useList`, or rows that are complete. */
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
  /** The row whose detail is open. */
  readonly open?: string | undefined;
  readonly onOpen?: (row: Row, options: { replace: boolean }) => void;
  /** The row that keys act on, moved by j and k. */
  readonly cursor?: Signal<string | undefined>;
  /** Rows selected for bulk actions. */
  readonly marked?: ReadonlySet<string>;
  /** Called when a row is selected. `through`: selects all rows up to the previously selected row (shift). */
  readonly onMark?: (row: Row, how: { through: boolean }) => void;
  /** Called to select or deselect all loaded rows. */
  readonly onMarkAll?: (all: boolean) => void;
  /** Sort order: `name`, or `-name` for descending. */
  readonly sort?: string | undefined;
  readonly onSort?: (sort: string) => void;
  /** Contents if there are no rows. */
  readonly empty: ComponentChildren;
  /** CSS class of a row, for example to mark its state. */
  readonly rowClass?: (row: Row) => string;
  /** Minimum width of a row in pixels; a narrower table scrolls horizontally. */
  readonly minWidth?: number;
  /**
   * Whether to reuse row elements by position instead of moving them, for lists that receive many rows per second and
   * whose cells hold no state.
   */
  readonly streams?: boolean;
}

const rowHeight = 32;
/** More rows are loaded when fewer rows than this remain below the view. */
const ahead = 40;

/** A table that renders only its visible rows. */
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
    // All reused rows are redrawn, so the overscan is small.
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
  /**
   * Returns whether the focus is in the table or on no element: other scrollable areas handle the arrow keys
   * themselves.
   */
  const isHere = (target: EventTarget | null) =>
    target === document.body || (target instanceof Node && scroller.current?.contains(target) === true);
  const current = () => list.rows.find((row) => keyOf(row) === (cursor.value ?? open));
  // Stable functions, so that unchanged rows are not drawn again.
  const actions: RowActions<Row> = { open: onOpen, mark: onMark, isAnyOpen: open !== undefined };
  const latest = useRef(actions);
  latest.current = actions;
  const mark = (through: boolean) => {
    const row = current();
    if (row !== undefined) onMark?.(row, { through });
  };
  // Scrolls to the row when the cursor is moved from outside.
  useEffect(() => {
    const at = list.rows.findIndex((row) => keyOf(row) === cursor.value);
    if (at >= 0) show(at);
  }, [cursor.value]);
  useKeys(label, {
    j: { title: 'Next row', run: () => move(1), repeats: true },
    k: { title: 'Previous row', run: () => move(-1), repeats: true },
    down: { title: 'Next row', run: () => move(1), repeats: true, within: isHere },
    up: { title: 'Previous row', run: () => move(-1), repeats: true, within: isHere },
    ...(onOpen && {
      enter: {
        title: 'Open row',
        run: () => {
          const row = current();
          if (row !== undefined) onOpen(row, { replace: false });
        },
      },
    }),
    ...(onMark && {
      x: { title: 'Select row', run: () => mark(false) },
      X: { title: 'Select range up to row', run: () => mark(true) },
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

/** Number of rows with their name. The plural is `one` with an s, unless `many` is given. */
export function Counted({ list, one, many }: { list: Rows<unknown>; one: string; many?: string }) {
  if (list.total === undefined) return <p class="counted quiet">…</p>;
  return (
    <p class="counted quiet" role="status">
      {counted(list.total, one, many)}
    </p>
  );
}
