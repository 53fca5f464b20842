const digits = [1, 2, 3, 4, 5, 6, 8, 10] as const;

/**
 * The least round number that is not below a value: the top of a scale.
 *
 * @param base - 1000 for counts, 1024 for sizes in KiB, MiB and so on
 */
export function roundUp(value: number, base: 1000 | 1024 = 1000): number {
  if (!(value > 1)) return 1;
  const unit = base ** Math.floor(Math.log(value) / Math.log(base) + 1e-12);
  for (let power = 1; power < base; power *= 10)
    for (const digit of digits)
      if (digit * power <= base && digit * power * unit >= value) return digit * power * unit;
  return base * unit;
}

/**
 * The tops of stacked bars: each series stands on those after it, so the first one is drawn first and reaches highest. A
 * series of the period before stands alone.
 *
 * @param least - what a value above zero is drawn as at least: the worth of a pixel, added to the bar so that none of its
 *   parts covers another
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
