import { invalidField } from '../errors.ts';

/**
 * What a name may not be, with what the caller is told. Names stand in the log, in the audit log and on screens: two
 * that look alike, or one that hides a part of itself, would speak for somebody else.
 */
const faults: readonly { readonly found: (name: string) => boolean; readonly reason: string }[] = [
  { found: (name) => !name.isWellFormed(), reason: 'must be well-formed Unicode' },
  { found: (name) => name.trim() !== name, reason: 'must not begin or end with space' },
  {
    found: (name) => /[\p{C}\p{Zl}\p{Zp}]/u.test(name),
    reason: 'must have no control or invisible characters',
  },
  { found: (name) => name.normalize('NFC') !== name, reason: 'must be in Unicode normalization form C' },
  { found: (name) => name.toLowerCase() === 'system', reason: 'is what the service calls itself' },
];

/** @throws INVALID_REQUEST for a name that nobody may have. */
export function requireName(name: string): void {
  for (const { found, reason } of faults) if (found(name)) throw invalidField('name', reason);
}

/** The spelling under which somebody who signs in is looked up (RFC 8265, section 3.4). */
export function nameAsStored(typed: string): string {
  return typed.normalize('NFC');
}
