/**
 * Minimum number of moved items for moving all of them with one splice. For fewer items, a loop is faster, because a
 * splice also creates a list of the removed items.
 */
const manyMoved = 96;

/** The initial list of new values. It is never changed, only replaced. */
export const nothing: never[] = [];

/**
 * Returns the list with a value inserted: a new list for short lists, otherwise the given list. A push reserves room
 * for 17 more items, 150 bytes, and most keys never have three items.
 */
export function putAt<T>(list: T[], at: number, value: T): T[] {
  if (list.length === 0) return [value];
  if (list.length === 1) return at === 0 ? [value, list[0]!] : [list[0]!, value];
  if (list.length === 2) {
    if (at === 0) return [value, list[0]!, list[1]!];
    return at === 1 ? [list[0]!, value, list[1]!] : [list[0]!, list[1]!, value];
  }
  if (list.length - at > manyMoved) {
    list.splice(at, 0, value);
    return list;
  }
  list.push(value);
  for (let i = list.length - 1; i > at; i--) list[i] = list[i - 1]!;
  list[at] = value;
  return list;
}
