import { alikeForm } from '../contract/alike-names.ts';
import { invalidField } from '../errors.ts';

/** What stands in the log and in the audit log for nobody in particular. */
const reserved: ReadonlySet<string> = new Set(['system', 'anonymous', 'several'].map(alikeForm));

/**
 * Scripts in modern use (Unicode Standard Annex #31, table 5). The letters of a name are of one of them, so that no
 * Cyrillic letter passes for a Latin one within it; the writing systems of East Asia count as one each, and may have
 * Latin letters beside.
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
 * What is drawn as nothing, though Unicode calls it visible (a Braille pattern without dots, a musical note without a
 * head, the Khitan filler), and what is put in the place of something that is not there.
 */
const blank = /[\u2800\u{1d159}\u{16fe4}\ufffc\ufffd]/u;

/**
 * What a name may not be, with what the caller is told. Names stand in the log, in the audit log and on screens: two
 * that look alike, or one that hides a part of itself, would speak for somebody else. That nobody has a name that
 * looks like this one, the store sees to.
 */
const faults: readonly { readonly found: (name: string) => boolean; readonly reason: string }[] = [
  { found: (name) => !name.isWellFormed(), reason: 'must be well-formed Unicode' },
  { found: (name) => name.trim() !== name, reason: 'must not begin or end with space' },
  {
    found: (name) => /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u.test(name),
    reason: 'must have no control or invisible characters',
  },
  {
    found: (name) => blank.test(name),
    reason: 'must have no characters that show nothing or stand for others',
  },
  { found: (name) => name.normalize('NFC') !== name, reason: 'must be in Unicode normalization form C' },
  { found: (name) => !isOfOneScript(name), reason: 'must have letters of one script only' },
  { found: (name) => reserved.has(alikeForm(name)), reason: 'is what the service calls itself or nobody' },
];

/** @throws INVALID_REQUEST for a name that nobody may have. */
export function requireName(name: string): void {
  for (const { found, reason } of faults) if (found(name)) throw invalidField('name', reason);
}

/** The spelling under which somebody who signs in is looked up (RFC 8265, section 3.4). */
export function nameAsStored(typed: string): string {
  return typed.normalize('NFC');
}
