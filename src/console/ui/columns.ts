import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';

/** A column of a table. */
export interface Column<Row> {
  readonly id: string;
  readonly title: string;
  /** A CSS grid track: `120px`, `minmax(80px, 1fr)`. */
  readonly width: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Whether the cells are aligned to the end, for numbers. */
  readonly end?: boolean;
  /** The sort field that pressing the title selects. */
  readonly sort?: string;
  /** Minimum table width in pixels at which the column is shown. */
  readonly from?: number;
}

/** Returns a column. `cell` comes last, so that lists of columns read as tables. */
export const column = <Row>(
  id: string,
  title: string,
  layout: Omit<Column<unknown>, 'id' | 'title' | 'cell'>,
  cell: (row: Row) => ComponentChildren,
): Column<Row> => ({ id, title, cell, ...layout });

/** Returns the columns that fit into the width of the element. */
export function useFitting<Row>(
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
