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

/**
 * Returns the next remaining row, or the previous row at the end of the list; `isLeft` returns whether a row remains.
 */
export function neighbour(id: string, order: readonly string[], isLeft: (id: string) => boolean): string | undefined {
  const at = order.indexOf(id);
  return order.slice(at + 1).find(isLeft) ?? order.slice(0, Math.max(at, 0)).findLast(isLeft);
}
