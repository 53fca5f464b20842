import type { Signal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Column } from './columns.ts';

/** Actions of a row. */
export interface RowActions<Row> {
  readonly open: ((row: Row, options: { replace: boolean }) => void) | undefined;
  readonly mark: ((row: Row, how: { through: boolean }) => void) | undefined;
  readonly isAnyOpen: boolean;
}

/** One row. It reads the cursor signal, so it is drawn again only when the cursor or a property changes. */
export function TableRow<Row>({
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
        const { open, isAnyOpen } = actions.current;
        if (!isControl(event)) open?.(row, { replace: isAnyOpen });
      }}
    >
      {isMarked !== undefined && (
        <span role="gridcell" class="table-mark">
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label="Select row"
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

/** Returns whether a click was on a link, button or input within the row, which handles the click. */
const isControl = (event: JSX.TargetedMouseEvent<HTMLElement>): boolean =>
  event.target instanceof Element && event.target.closest('a, button, input') !== null;
