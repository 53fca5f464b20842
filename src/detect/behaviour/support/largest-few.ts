/** The names with the largest amounts. Plain data; the name and amount of an entry have the same position. */
export interface Largest {
  readonly names: string[];
  readonly amounts: number[];
}

export const noneYet = (): Largest => ({ names: [], amounts: [] });

/**
 * Adds an amount by space saving (Metwally, Agrawal, El Abbadi 2005): without a free entry, a name replaces the name
 * with the smallest amount and takes over that amount. All names with more than `1 / atMost` of the total are kept,
 * and no amount is too high by more than that share of the total.
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

/** Merges `from` into `into`: keeps the largest entries of both lists, with the error bounds of both. */
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
