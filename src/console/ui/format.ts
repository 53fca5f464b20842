import { zone } from '../state/preferences.ts';
import { timeUnits } from './numbers.ts';

export * from './numbers.ts';
export * from './words.ts';

/** Formats of times, in the preferred zone. */

/** Times that are at least this far from now, in milliseconds, are shown as a date. */
const datedFromMs = 30 * 86_400_000;

/**
 * Formats a time relative to `now` in one unit, such as `2 min ago`, `in 3 d` or `now`; as a date if it is more than a
 * month away.
 */
export function relative(at: number, now: number): string {
  const away = Math.abs(now - at);
  if (Number.isNaN(away)) return 'invalid date';
  if (away < 1000) return 'now';
  if (away >= datedFromMs) return instant(at).slice(0, 10);
  const { ms, name } = timeUnits.find((unit) => away >= unit.ms)!;
  const text = `${Math.floor(away / ms)} ${name}`;
  return at <= now ? `${text} ago` : `in ${text}`;
}

const two = (value: number): string => String(value).padStart(2, '0');

/** Formats a time as 2026-11-20 23:15:00.123 in the preferred zone. */
export function instant(at: number, { ms = true }: { ms?: boolean } = {}): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return 'invalid date';
  const utc = zone.value === 'utc';
  const shifted = utc ? date : new Date(at - date.getTimezoneOffset() * 60_000);
  const text = shifted.toISOString();
  return `${text.slice(0, 10)} ${text.slice(11, ms ? 23 : 19)}`;
}

/** Formats a day, with its year unless that is the current year: `11-20`, `2009-11-20`. */
export function day(at: number): string {
  const date = instant(at).slice(0, 10);
  return date.slice(0, 4) === instant(Date.now()).slice(0, 4) ? date.slice(5) : date;
}

/** Formats the bounds of a range, with milliseconds if they are within one second; `…` for an open bound. */
export function edges(from: string | undefined, to: string | undefined): [string, string] {
  const texts = (ms: boolean) =>
    [from, to].map((iso) => (iso === undefined ? '…' : instant(Date.parse(iso), { ms }))) as [string, string];
  const [start, end] = texts(false);
  return start === end ? texts(true) : [start, end];
}

/** Formats the bounds of a range, if any: ` between … and …`, ` since …`, ` before …`. */
export function within(from: string | undefined, to: string | undefined): string {
  const [start, end] = edges(from, to);
  if (from === undefined) return to === undefined ? '' : ` before ${end}`;
  return to === undefined ? ` since ${start}` : ` between ${start} and ${end}`;
}

/** Formats an instant with its zone: `… UTC`, `… UTC+02:00`. */
export const exact = (at: number): string => `${instant(at)} ${zoneName(at)}`;

export function zoneName(at: number): string {
  if (zone.value === 'utc') return 'UTC';
  const minutes = -new Date(at).getTimezoneOffset();
  if (minutes === 0) return 'UTC';
  const away = Math.abs(minutes);
  return `UTC${minutes < 0 ? '−' : '+'}${two(Math.floor(away / 60))}:${two(away % 60)}`;
}
