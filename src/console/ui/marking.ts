import { useEffect, useMemo, useState } from 'preact/hooks';

/** Selection of rows by id. */
export interface Marking {
  readonly ids: ReadonlySet<string>;
  /** The most recently clicked row, at which a range selection begins. */
  readonly anchor: string | undefined;
}

export const noMarks: Marking = { ids: new Set(), anchor: undefined };

/** Selects or deselects a row. */
export function toggled({ ids }: Marking, id: string): Marking {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return { ids: next, anchor: id };
}

/** Selects all rows between the anchor and this row, in either direction; without an anchor only this row. */
export function through(marking: Marking, id: string, order: readonly string[]): Marking {
  const [from, to] = [order.indexOf(marking.anchor ?? id), order.indexOf(id)];
  if (from < 0 || to < 0) return toggled(marking, id);
  const between = order.slice(Math.min(from, to), Math.max(from, to) + 1);
  return { ids: new Set([...marking.ids, ...between]), anchor: id };
}

export const all = (order: readonly string[]): Marking => ({ ids: new Set(order), anchor: order.at(-1) });

/** Returns the selected rows of a list, and the properties of its table. A new `key` clears the selection. */
export function useMarking(rows: readonly { readonly id: string }[], key: string) {
  const [marking, setMarking] = useState<Marking>(noMarks);
  useEffect(() => setMarking(noMarks), [key]);
  const order = useMemo(() => rows.map(({ id }) => id), [rows]);
  return {
    ids: marking.ids,
    /** Selects only these rows. */
    only: (ids: ReadonlySet<string>) => setMarking({ ids, anchor: undefined }),
    clear: () => setMarking(noMarks),
    table: {
      // Checkboxes are hidden at phone widths to leave room for the text.
      ...(innerWidth > 480 && { marked: marking.ids }),
      onMark: ({ id }: { readonly id: string }, how: { through: boolean }) =>
        setMarking(how.through ? through(marking, id, order) : toggled(marking, id)),
      onMarkAll: (every: boolean) => setMarking(every ? all(order) : noMarks),
    },
  };
}

/**
 * Returns the next remaining row, or the previous row at the end of the list; `isLeft` returns whether a row remains.
 */
export function neighbour(id: string, order: readonly string[], isLeft: (id: string) => boolean): string | undefined {
  const at = order.indexOf(id);
  return order.slice(at + 1).find(isLeft) ?? order.slice(0, Math.max(at, 0)).findLast(isLeft);
}
