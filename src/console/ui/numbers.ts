/** Formats of numbers, sizes and durations. */

const grouped = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const fraction = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

/** Formats a whole number, such as 1,234,567. */
export const number = (value: number): string => grouped.format(value);
/** Formats a count with its noun: `1 entry`, `1,234 entries`. */
export const counted = (value: number, singular: string, plural = `${singular}s`): string =>
  `${number(value)} ${value === 1 ? singular : plural}`;
/** Formats a number for small spaces, such as axes: 1.2M. */
export const compact = (value: number): string => (Math.abs(value) < 10_000 ? decimal(value) : short.format(value));
/** Formats with three significant digits below 1,000. */
export const decimal = (value: number): string =>
  Math.abs(value) >= 1000 ? grouped.format(value) : fraction.format(value);

const binary = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

/** Formats bytes in binary units. */
export function bytes(value: number): string {
  const power = value < 1024 ? 0 : Math.min(binary.length - 1, Math.floor(Math.log2(value) / 10));
  return `${power === 0 ? grouped.format(value) : decimal(value / 1024 ** power)} ${binary[power]}`;
}

/** Formats a change in per cent with its sign. */
export const percent = (value: number): string =>
  `${value > 0 ? '+' : ''}${Math.abs(value) < 10 ? fraction.format(value) : grouped.format(value)} %`;

/** Units of time, longest first. */
export const timeUnits = [
  { ms: 86_400_000, name: 'd' },
  { ms: 3_600_000, name: 'h' },
  { ms: 60_000, name: 'min' },
  { ms: 1000, name: 's' },
] as const;

/** Formats a duration in at most two units: `2 d 4 h`, `3 min 20 s`, `250 ms`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${fraction.format(ms)} ms`;
  if (ms < 10_000) return `${fraction.format(ms / 1000)} s`;
  const first = timeUnits.findIndex((unit) => ms >= unit.ms);
  const { ms: unit, name } = timeUnits[first]!;
  const whole = Math.floor(ms / unit);
  const next = timeUnits[first + 1];
  const rest = next === undefined ? 0 : Math.floor((ms % unit) / next.ms);
  return rest === 0 || next === undefined ? `${whole} ${name}` : `${whole} ${name} ${rest} ${next.name}`;
}
