/** From here on what moves memory at once is quicker than a loop, and worth the list that a splice makes of what it took out. */
const manyMoved = 96;

/** The list that new values begin with: never put into, only replaced. */
export const nothing: never[] = [];

/**
 * The list with a value put in, those from this place on after it: the same one, or a new one while it is short. A list
 * that is pushed onto gets room for 17 more, 150 bytes, and most keys never have three of anything.
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
