import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type VirtualItem,
  Virtualizer,
} from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useLayoutEffect, useReducer, useState } from 'preact/hooks';

/** Renders only the visible rows of a long list. All rows are `rowHeight` pixels high. */
export function useVirtualRows(
  scroller: RefObject<HTMLElement>,
  count: number,
  rowHeight: number,
  /** Number of rows rendered beyond the visible rows at either end, so that scrolling shows them immediately. */
  overscan = 12,
): { rows: VirtualItem[]; height: number; show: (index: number) => void } {
  const [, redraw] = useReducer((times: number) => times + 1, 0);
  const options = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: redraw as () => void,
  };
  const [virtualizer] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(options));
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  return {
    rows: virtualizer.getVirtualItems(),
    height: virtualizer.getTotalSize(),
    show: (index) => virtualizer.scrollToIndex(index, { align: 'auto' }),
  };
}
