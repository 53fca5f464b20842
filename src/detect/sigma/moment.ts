/** The time modifiers (Sigma modifiers 2.1.0). */
export const momentParts = ['minute', 'hour', 'day', 'week', 'month', 'year'] as const;
export type MomentPart = (typeof momentParts)[number];

/**
 * Returns one part of a time, in UTC regardless of the sensor's zone: minute 0–59, hour 0–23, day of the month 1–31,
 * ISO 8601 week 1–53, month 1–12, year. Returns undefined for other values.
 *
 * @param value - ISO 8601, in UTC by default, or seconds or milliseconds since 1970
 */
export function momentPart(value: unknown, part: MomentPart): number | undefined {
  const millis = millisOf(value);
  if (millis === undefined || !(Math.abs(millis) <= 8.64e15)) return undefined;
  const date = new Date(millis);
  switch (part) {
    case 'minute':
      return date.getUTCMinutes();
    case 'hour':
      return date.getUTCHours();
    case 'day':
      return date.getUTCDate();
    case 'week':
      return isoWeek(date);
    case 'month':
      return date.getUTCMonth() + 1;
    case 'year':
      return date.getUTCFullYear();
  }
}

/** The first second after the year 9999. Larger numbers are milliseconds. */
const firstMillis = 253_402_300_800;

function millisOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value < firstMillis ? value * 1000 : value;
  if (typeof value !== 'string' || value.length > 64) return undefined;
  const [, day, time, sign, hours = '00', minutes = '00'] = iso.exec(value) ?? [];
  if (day === undefined) return undefined;
  const zone = sign === undefined ? 'Z' : `${sign}${hours}:${minutes}`;
  const millis = Date.parse(`${day}T${time}${zone}`);
  return Number.isNaN(millis) ? undefined : millis;
}

const iso = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(?:\.\d+)?\s*(?:Z|([+-])(\d{2}):?(\d{2})?)?$/i;

/** Returns the ISO 8601 week. The first week contains the year's first Thursday; weeks begin on Monday. */
function isoWeek(date: Date): number {
  const day = date.getUTCDay() || 7;
  const thursday = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + 4 - day);
  const newYear = Date.UTC(new Date(thursday).getUTCFullYear(), 0, 1);
  return Math.floor((thursday - newYear) / (7 * 86_400_000)) + 1;
}
