/**
 * The JSON Canonicalization Scheme (RFC 8785) of a value that JSON.parse gave: members sorted by UTF-16 code units,
 * numbers and strings as ECMAScript prints them, no space. Throws where a string is no well-formed Unicode.
 */
export function jcs(value: unknown): string {
  if (typeof value === 'string' && !value.isWellFormed())
    throw new TypeError('a lone surrogate has no canonical form');
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(jcs).join(',')}]`;
  const sorted = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([name, member]) => `${jcs(name)}:${jcs(member)}`).join(',')}}`;
}
