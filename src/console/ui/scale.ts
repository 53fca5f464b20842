const digits = [1, 2, 3, 4, 5, 6, 8, 10] as const;

/**
 * Returns the smallest round number that is not below a value, for the top of a scale.
 *
 * @param base - 1000 for counts, 1024 for sizes in KiB, MiB and so on
 */
export function roundUp(value: number, base: 1000 | 1024 = 1000): number {
  if (!(value > 1)) return 1;
  const unit = base ** Math.floor(Math.log(value) / Math.log(base) + 1e-12);
  for (let power = 1; power < base; power *= 10)
    for (const digit of digits) if (digit * power <= base && digit * power * unit >= value) return digit * power * unit;
  return base * unit;
}

/**
 * Returns the tops of stacked bars. Each series is stacked on the series after it, so the first series is drawn first
 * and reaches highest. A previous period is not stacked.
 *
 * @param least - smallest drawn height of a value above zero (the value of a pixel), so that no part of a bar covers
 * another
 */
export function stacked(
  series: readonly { readonly values: readonly (number | null)[]; readonly previous?: boolean }[],
  least: number,
): (number | null)[][] {
  const sums: number[] = [];
  return series
    .toReversed()
    .map(({ values, previous }) => {
      if (previous === true) return [...values];
      values.forEach((value, i) => {
        sums[i] = (sums[i] ?? 0) + (value ? Math.max(value, least) : 0);
      });
      return [...sums];
    })
    .reverse();
}
