/** The span of the same length before, half-open; undefined where there is none to compare with. */
export function periodBefore(from: string | undefined, to: string): { from: string; to: string } | undefined {
  if (from === undefined) return undefined;
  const start = Date.parse(from);
  const length = Date.parse(to) - start;
  return length > 0 ? { from: new Date(start - length).toISOString(), to: from } : undefined;
}

/** How the number of one period stands to that before, in per cent; undefined where there was nothing. */
export const changeOf = (now: number, before: number | undefined): number | undefined =>
  before === undefined || before === 0 ? undefined : ((now - before) / before) * 100;
