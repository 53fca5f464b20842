/** Returns the preceding half-open range of the same length; undefined if the range has no start or is empty. */
export function periodBefore(from: string | undefined, to: string): { from: string; to: string } | undefined {
  if (from === undefined) return undefined;
  const start = Date.parse(from);
  const length = Date.parse(to) - start;
  return length > 0 ? { from: new Date(start - length).toISOString(), to: from } : undefined;
}

/** Returns the change from the previous period in per cent; undefined if the previous count is 0 or unknown. */
export const changeOf = (now: number, before: number | undefined): number | undefined =>
  before === undefined || before === 0 ? undefined : ((now - before) / before) * 100;
