import { invalidField } from '../errors.ts';
import { limits } from '../limits.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });
const surrogateEscape = /\\u[dD][89a-fA-F]/;

/**
 * Parses JSON in UTF-8. Strings in the result are well-formed Unicode.
 *
 * @throws INVALID_REQUEST with field `body` for invalid JSON, and for nesting so deep that recursion could overflow the
 * stack
 */
export function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw invalidField('body', 'is not UTF-8');
  }
  if (text.trim() === '') throw invalidField('body', 'must be JSON, but is empty');
  if (nestsTooDeep(bytes)) throw invalidField('body', `nests deeper than ${limits.maxNesting}`);
  try {
    // In valid UTF-8, only an escape can produce a lone surrogate. Other texts need no reviver, which takes several
    // times as long as the parse.
    return surrogateEscape.test(text) ? JSON.parse(text, wellFormed) : JSON.parse(text);
  } catch {
    throw invalidField('body', 'is not valid JSON');
  }
}

/** Returns whether brackets and braces nest deeper than `limits.maxNesting`, even in invalid JSON. */
function nestsTooDeep(bytes: Uint8Array): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (inString) {
      if (byte === backslash) at++;
      else inString = byte !== quote;
    } else if (byte === quote) inString = true;
    else if ((byte | caseBit) === openBrace) {
      if (++depth > limits.maxNesting) return true;
    } else if ((byte | caseBit) === closeBrace) depth--;
  }
  return false;
}

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
/** The bit that differs between brackets and braces. */
const caseBit = 0x20;

function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}
