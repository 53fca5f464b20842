/** Which rows are selected together: by their ids, in the order of the list that is shown. */
export interface Marking {
  readonly ids: ReadonlySet<string>;
  /** The one that was pressed last: where a range begins. */
  readonly anchor: string | undefined;
}

export const noMarks: Marking = { ids: new Set(), anchor: undefined };

/** Selects a row, or no longer. */
export function toggled({ ids }: Marking, id: string): Marking {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return { ids: next, anchor: id };
}

/** Selects all rows from the anchor to this one, either way round; without an anchor this one alone. */
export function through(marking: Marking, id: string, order: readonly string[]): Marking {
  const [from, to] = [order.indexOf(marking.anchor ?? id), order.indexOf(id)];
  if (from < 0 || to < 0) return toggled(marking, id);
  const between = order.slice(Math.min(from, to), Math.max(from, to) + 1);
  return { ids: new Set([...marking.ids, ...between]), anchor: id };
}

export const all = (order: readonly string[]): Marking => ({ ids: new Set(order), anchor: order.at(-1) });

/** The next row after one, or the one before where it is the last; `isLeft` says which count. */
export function neighbour(
  id: string,
  order: readonly string[],
  isLeft: (id: string) => boolean,
): string | undefined {
  const at = order.indexOf(id);
  return order.slice(at + 1).find(isLeft) ?? order.slice(0, Math.max(at, 0)).findLast(isLeft);
}
