import { invalidField } from '../errors.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });
const surrogateEscape = /\\u[dD][89a-fA-F]/;

/**
 * JSON in UTF-8 as a value. Strings come out as well-formed Unicode.
 *
 * @throws INVALID_REQUEST with field `body` for anything else
 */
export function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw invalidField('body', 'is not UTF-8');
  }
  if (text.trim() === '') throw invalidField('body', 'must be JSON, but is empty');
  try {
    // Only an escape can put a lone surrogate into valid UTF-8; the reviver costs several times the parse.
    return surrogateEscape.test(text) ? JSON.parse(text, wellFormed) : JSON.parse(text);
  } catch {
    throw invalidField('body', 'is not valid JSON');
  }
}

function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}
