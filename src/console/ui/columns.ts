import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';

/** A column of a table. */
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

/** The columns for which there is room. */
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
