/**
 * The first second after the year 9999. This number and larger numbers are read as milliseconds, so times in
 * milliseconds cannot be before January 1978.
 */
const firstMillis = 253_402_300_800;

/**
 * Converts epoch seconds with a fraction, or epoch milliseconds, to whole milliseconds rounded down. The
 * fraction is first rounded to microseconds: in doubles, 1763683201.123 × 1000 is slightly below …123, and
 * rounding down would lose a millisecond.
 */
export function epochMillis(value: number): number {
  return value < firstMillis ? Math.floor(Math.round(value * 1e6) / 1e3) : Math.floor(value);
}

/**
 * Parses `YYYY-MM-DDThh:mm:ss[.f…][Z | ±hh[:]mm | ±hh]` as epoch milliseconds, rounded down; returns NaN for
 * other texts. A time without a zone is read as UTC, because some shippers remove Suricata's zone (+hhmm,
 * without a colon). Date.parse would read a time without a zone as local time, and its result for +hhmm depends
 * on the engine. Date.parse takes 450 ns; this function takes 60 ns.
 */
export function isoMillis(text: string): number {
  return isoMillisOf(bytesOf(text), 0, text.length);
}

/** Parses a time that is ASCII in [start, end). */
export function isoMillisOf(bytes: Uint8Array, start: number, end: number): number {
  let at = start + minuteLength;
  if (at + 2 > end) return Number.NaN;
  const minute = isLast(bytes, start) ? lastMillis : minuteMillis(bytes, start);
  const second = pair(bytes, at);
  if (!(second <= 60)) return Number.NaN;
  at += 2;
  let millis = 0;
  if (at < end && bytes[at] === point) {
    const first = ++at;
    for (let unit = 100; at < end && isDigit(bytes, at); at++, unit /= 10) {
      if (unit >= 1) millis += digit(bytes, at) * unit;
    }
    if (at === first) return Number.NaN;
  }
  return minute + second * 1000 + millis - zoneMinutes(bytes, at, end) * 60_000;
}

/** Returns the microseconds that `isoMillis` drops, 0–999: the fourth to sixth digits of the fraction. */
export function isoMicros(text: string): number {
  return isoMicrosOf(bytesOf(text), 0, text.length);
}

export function isoMicrosOf(bytes: Uint8Array, start: number, end: number): number {
  let micros = 0;
  const first = start + minuteLength + 2;
  if (first >= end || bytes[first] !== point) return 0;
  for (let at = first + 1, unit = 100_000; unit >= 1 && at < end && isDigit(bytes, at); at++, unit /= 10) {
    if (unit < 1000) micros += digit(bytes, at) * unit;
  }
  return micros;
}

const dash = 45;
const plus = 43;
const point = 46;
const colon = 58;
const letterT = 84;
const letterZ = 90;

/** Length of `YYYY-MM-DDThh:mm:`. */
const minuteLength = 17;
/**
 * The last valid minute that was parsed, and its epoch milliseconds. Most times in a body fall in the same minute.
 */
const lastMinute = new Uint8Array(minuteLength);
let lastMillis = Number.NaN;

function isLast(bytes: Uint8Array, start: number): boolean {
  for (let at = minuteLength - 1; at >= 0; at--) if (bytes[start + at] !== lastMinute[at]) return false;
  return true;
}

function minuteMillis(bytes: Uint8Array, start: number): number {
  const year = pair(bytes, start) * 100 + pair(bytes, start + 2);
  const month = pair(bytes, start + 5);
  const day = pair(bytes, start + 8);
  const hour = pair(bytes, start + 11);
  const minute = pair(bytes, start + 14);
  if (
    bytes[start + 4] !== dash ||
    bytes[start + 7] !== dash ||
    bytes[start + 10] !== letterT ||
    bytes[start + 13] !== colon ||
    bytes[start + 16] !== colon ||
    !(day >= 1 && day <= daysIn(month, year)) ||
    !(hour <= 23 && minute <= 59)
  ) {
    return Number.NaN;
  }
  for (let at = 0; at < minuteLength; at++) lastMinute[at] = bytes[start + at] as number;
  lastMillis = (daysFromCivil(year, month, day) * 86400 + hour * 3600 + minute * 60) * 1000;
  return lastMillis;
}

const scratch = new Uint8Array(256);

/** Returns the bytes of a text, with 0 for characters that are not ASCII. Valid until the next call. */
function bytesOf(text: string): Uint8Array {
  const bytes = text.length <= scratch.length ? scratch : new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    bytes[at] = code < 128 ? code : 0;
  }
  return bytes;
}

/** Returns the digit at a position; NaN for other characters, which makes every result NaN. */
function digit(bytes: Uint8Array, at: number): number {
  const value = (bytes[at] as number) - 48;
  return value >= 0 && value <= 9 ? value : Number.NaN;
}

function isDigit(bytes: Uint8Array, at: number): boolean {
  const value = (bytes[at] as number) - 48;
  return value >= 0 && value <= 9;
}

function pair(bytes: Uint8Array, at: number): number {
  return digit(bytes, at) * 10 + digit(bytes, at + 1);
}

function zoneMinutes(bytes: Uint8Array, at: number, end: number): number {
  if (end === at) return 0;
  const sign = bytes[at];
  if (sign === letterZ) return end === at + 1 ? 0 : Number.NaN;
  if (sign !== plus && sign !== dash) return Number.NaN;
  const hours = pair(bytes, at + 1);
  const rest = end - at;
  const minutes =
    rest === 3
      ? 0
      : rest === 5
        ? pair(bytes, at + 3)
        : rest === 6 && bytes[at + 3] === colon
          ? pair(bytes, at + 4)
          : Number.NaN;
  if (!(hours <= 23 && minutes <= 59)) return Number.NaN;
  return (sign === dash ? -1 : 1) * (hours * 60 + minutes);
}

function daysIn(month: number, year: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  if (month === 4 || month === 6 || month === 9 || month === 11) return 30;
  return month >= 1 && month <= 12 ? 31 : 0;
}

/**
 * Returns days since 1970-01-01 in the proleptic Gregorian calendar. The calculation uses years that begin in
 * March, in eras of 400 years.
 */
function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}
