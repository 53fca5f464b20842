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
