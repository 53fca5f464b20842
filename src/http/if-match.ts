import { invalidField } from '../errors.ts';

/**
 * Returns the version in `If-Match: "<version>"` (RFC 9110, section 13.1.1); undefined if the header is absent or
 * accepts any version. Throws INVALID_REQUEST for all other values.
 */
export function ifMatchVersion(header: string | undefined): number | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  const digits = /^\s*"([1-9][0-9]{0,14})"\s*$/.exec(header)?.[1];
  if (digits === undefined) throw invalidField('if-match', 'must be one version in quotes, such as "3"');
  return Number(digits);
}
