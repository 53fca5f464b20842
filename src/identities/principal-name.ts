import { alikeForm } from '../contract/confusable-names.ts';
import { invalidField } from '../errors.ts';

/** Names that the log and the audit log use instead of the name of a principal. */
const reserved: ReadonlySet<string> = new Set(['system', 'anonymous', 'several'].map(alikeForm));

/**
 * Scripts in modern use (Unicode Standard Annex #31, table 5). All letters of a name must be of one script,
 * so that a Cyrillic letter cannot imitate a Latin letter. Each East Asian writing system counts as one
 * script and may include Latin letters.
 */
const scripts: readonly RegExp[] = [
  'Latin Han Hiragana Katakana',
  'Latin Han Hangul',
  'Latin Han Bopomofo',
  ...(
    'Greek Cyrillic Armenian Hebrew Arabic Thaana Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada ' +
    'Malayalam Sinhala Thai Lao Tibetan Myanmar Georgian Ethiopic Khmer'
  ).split(' '),
].map((group) => {
  const some = `${group} Common Inherited`.split(' ').map((script) => `\\p{Script_Extensions=${script}}`);
  return new RegExp(`^[${some.join('')}]*$`, 'u');
});

function isOfOneScript(name: string): boolean {
  const letters = name.match(/\p{L}/gu)?.join('') ?? '';
  return scripts.some((script) => script.test(letters));
}

/**
 * Characters that render as nothing although Unicode classifies them as visible (a Braille pattern without
 * dots, a musical note without a head, the Khitan filler), and replacement characters.
 */
const blank = /[\u2800\u{1d159}\u{16fe4}\ufffc\ufffd]/u;

/**
 * Tests for names that are rejected, each with its error message. Names appear in the log, in the audit log
 * and in the console, where a name with hidden parts, or a name that looks like another name, could
 * impersonate another principal. The store rejects names that look like an existing name.
 */
const faults: readonly { readonly found: (name: string) => boolean; readonly reason: string }[] = [
  { found: (name) => !name.isWellFormed(), reason: 'must be well-formed Unicode' },
  { found: (name) => name.trim() !== name, reason: 'must not begin or end with whitespace' },
  {
    found: (name) => /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u.test(name),
    reason: 'must not contain control or invisible characters',
  },
  {
    found: (name) => blank.test(name),
    reason: 'must not contain blank or replacement characters',
  },
  { found: (name) => name.normalize('NFC') !== name, reason: 'must be in Unicode normalization form C' },
  { found: (name) => !isOfOneScript(name), reason: 'must have letters of one script only' },
  { found: (name) => reserved.has(alikeForm(name)), reason: 'is reserved by the service' },
];

/** Throws INVALID_REQUEST for a name that is not allowed. */
export function requireName(name: string): void {
  for (const { found, reason } of faults) if (found(name)) throw invalidField('name', reason);
}

/** Returns the normalised form of a typed username, which is used for look-ups (RFC 8265, section 3.4). */
export function nameAsStored(typed: string): string {
  return typed.normalize('NFC');
}
