const units = [
  ['days', 86_400],
  ['hours', 3600],
  ['minutes', 60],
] as const;

/** Formats a length of time in the largest unit that fits at least twice, such as `3 days`; at least `1 second`. */
export function durationText(ms: number): string {
  const s = ms / 1000;
  if (s < 1.5) return '1 second';
  const [unit, length] = units.find(([, one]) => s >= 2 * one) ?? ['seconds', 1];
  return `${Math.round(s / length)} ${unit}`;
}
