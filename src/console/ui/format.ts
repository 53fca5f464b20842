import { zone } from '../state/preferences.ts';

/** Numbers, sizes and times as the console writes them; pure but for the zone that is preferred. */

const grouped = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const fraction = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

/** 1,234,567. */
export const number = (value: number): string => grouped.format(value);
/** 1.2M, for axes and where room is short. */
export const compact = (value: number): string =>
  Math.abs(value) < 10_000 ? decimal(value) : short.format(value);
/** Three significant digits below 1,000. */
export const decimal = (value: number): string =>
  Math.abs(value) >= 1000 ? grouped.format(value) : fraction.format(value);

const binary = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

/** Bytes in binary units. */
export function bytes(value: number): string {
  const power = value < 1024 ? 0 : Math.min(binary.length - 1, Math.floor(Math.log2(value) / 10));
  return `${fraction.format(value / 1024 ** power)} ${binary[power]}`;
}

/** A change in per cent, with its sign. */
export const percent = (value: number): string =>
  `${value > 0 ? '+' : ''}${Math.abs(value) < 10 ? fraction.format(value) : grouped.format(value)} %`;

const units = [
  { ms: 86_400_000, name: 'd' },
  { ms: 3_600_000, name: 'h' },
  { ms: 60_000, name: 'min' },
  { ms: 1000, name: 's' },
] as const;

/** A length of time in two units at most: `2 d 4 h`, `3 min 20 s`, `250 ms`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${fraction.format(ms)} ms`;
  if (ms < 10_000) return `${fraction.format(ms / 1000)} s`;
  const first = units.findIndex((unit) => ms >= unit.ms);
  const { ms: unit, name } = units[first]!;
  const whole = Math.floor(ms / unit);
  const next = units[first + 1];
  const rest = next === undefined ? 0 : Math.floor((ms % unit) / next.ms);
  return rest === 0 || next === undefined ? `${whole} ${name}` : `${whole} ${name} ${rest} ${next.name}`;
}

/** How long ago, or how far ahead, in one unit: `2 min ago`, `in 3 d`, `now`. */
export function relative(at: number, now: number): string {
  const away = Math.abs(now - at);
  if (away < 1000) return 'now';
  const { ms, name } = units.find((unit) => away >= unit.ms)!;
  const text = `${Math.floor(away / ms)} ${name}`;
  return at <= now ? `${text} ago` : `in ${text}`;
}

const two = (value: number): string => String(value).padStart(2, '0');

/** 2026-11-20 23:15:00.123, in the zone that is preferred. */
export function instant(at: number, { ms = true }: { ms?: boolean } = {}): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return 'no time';
  const utc = zone.value === 'utc';
  const shifted = utc ? date : new Date(at - date.getTimezoneOffset() * 60_000);
  const text = shifted.toISOString();
  return `${text.slice(0, 10)} ${text.slice(11, ms ? 23 : 19)}`;
}

/** The same with the name of its zone: `… UTC`, `… UTC+02:00`. */
export const exact = (at: number): string => `${instant(at)} ${zoneName(at)}`;

export function zoneName(at: number): string {
  if (zone.value === 'utc') return 'UTC';
  const minutes = -new Date(at).getTimezoneOffset();
  if (minutes === 0) return 'UTC';
  const away = Math.abs(minutes);
  return `UTC${minutes < 0 ? '−' : '+'}${two(Math.floor(away / 60))}:${two(away % 60)}`;
}

/** `snake_case` as words. */
export const words = (name: string): string => name.replaceAll('_', ' ');
/** The same, beginning with a capital letter. */
export const title = (name: string): string => name.charAt(0).toUpperCase() + words(name.slice(1));

/** The beginning and the end of a hash or an identifier. */
export const abbreviated = (text: string, length = 8): string =>
  text.length <= 2 * length + 1 ? text : `${text.slice(0, length)}…${text.slice(-4)}`;
