import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

/** Returns the current width of an element in whole pixels, or `before` until the width is measured. */
export function useWidth(element: RefObject<HTMLElement>, before: number): number {
  const [width, setWidth] = useState(before);
  useLayoutEffect(() => {
    const shown = element.current;
    if (shown === null) return;
    const take = (next: number) => setWidth(Math.floor(next));
    take(shown.getBoundingClientRect().width);
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) take(entry.contentRect.width);
    });
    observer.observe(shown);
    return () => observer.disconnect();
  }, []);
  return width;
}
