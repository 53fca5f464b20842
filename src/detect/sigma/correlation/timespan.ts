const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of a Sigma timespan (`30s`, `90m`, `24h`, `7d`); undefined where it is none. */
export function parseTimespan(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (count === undefined || unit === undefined) return;
  return Number(count) * unitMs[unit as keyof typeof unitMs];
}
