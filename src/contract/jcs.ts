/**
 * Serialises a value from JSON.parse with the JSON Canonicalization Scheme (RFC 8785): members sorted by
 * UTF-16 code units, numbers and strings as ECMAScript prints them, no whitespace. Throws a TypeError for
 * strings that are not well-formed Unicode.
 */
export function jcs(value: unknown): string {
  if (typeof value === 'string' && !value.isWellFormed()) throw new TypeError('a lone surrogate has no canonical form');
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(jcs).join(',')}]`;
  const sorted = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([name, member]) => `${jcs(name)}:${jcs(member)}`).join(',')}}`;
}
