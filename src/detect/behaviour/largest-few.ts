/** Names with their amounts, of which only the largest few are kept. Plain data, at like places. */
export interface Largest {
  readonly names: string[];
  readonly amounts: number[];
}

export const noneYet = (): Largest => ({ names: [], amounts: [] });

/**
 * Space saving (Metwally, Agrawal, El Abbadi 2005): where there is no place, a name takes that of the smallest, with its
 * amount. None is missing that has more than an `atMost`-th of all, and none is too high by more than that.
 */
export function addTo(largest: Largest, name: string, amount: number, atMost: number): void {
  const { names, amounts } = largest;
  const at = names.indexOf(name);
  if (at >= 0) amounts[at]! += amount;
  else if (names.length < atMost) {
    names.push(name);
    amounts.push(amount);
  } else {
    let least = 0;
    for (let i = 1; i < amounts.length; i++) if (amounts[i]! < amounts[least]!) least = i;
    names[least] = name;
    amounts[least]! += amount;
  }
}

/** Adds all of another: the largest of both, as exact as they were. */
export function mergeInto(into: Largest, from: Largest, atMost: number): void {
  const sums = new Map(into.names.map((name, i) => [name, into.amounts[i]!]));
  for (const [i, name] of from.names.entries()) sums.set(name, (sums.get(name) ?? 0) + from.amounts[i]!);
  const kept = [...sums].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).slice(0, atMost);
  into.names.length = 0;
  into.amounts.length = 0;
  for (const [name, amount] of kept) {
    into.names.push(name);
    into.amounts.push(amount);
  }
}
