import { parseTime } from '../../contract/formats.ts';
import type { Collected } from './collected.ts';

/** Placeholder addresses in hosts files. A placeholder before a name blocks the name. */
const nowhere: ReadonlySet<string> = new Set(['0.0.0.0', '127.0.0.1', '::', '::1', 'fe80::1%lo0', '255.255.255.255']);

/**
 * Parses plain lines. A line contains an address, block, domain or URL, or is a line of a hosts file with a placeholder
 * address and names. Text after `#` or `;`, at the start or after a blank, is a comment, as is a line that begins with
 * `!`. A comma may be followed by the expiry, an ISO 8601 date or time (UTC by default).
 */
export function parseLines(text: string, into: Collected): void {
  let line = 0;
  for (let start = 0; start <= text.length && !into.isFull; ) {
    const end = text.indexOf('\n', start);
    const stop = end < 0 ? text.length : end;
    parseLine(text.slice(start, stop), ++line, into);
    start = stop + 1;
  }
}

/** Maximum characters of a line. Lines of hosts files have up to ten names, other lines a single name. */
const longestLine = 2 ** 16;

function parseLine(written: string, line: number, into: Collected): void {
  if (written.length > longestLine) return into.reject(written, `is longer than ${longestLine} characters`, { line });
  const content = written
    .replace(/^\uFEFF/, '')
    .replace(/(?:^|\s)[#;].*$/s, '')
    .trim();
  if (content === '' || content.startsWith('!')) return;
  const { value, end } = columns(content);
  const place = { line };
  const until = end === undefined ? undefined : expiry(end);
  if (end !== undefined && until === undefined)
    return into.reject(content, 'has a second column that is not an ISO 8601 date or time', place);
  const options = until === undefined ? {} : { until };
  const [first = '', ...names] = value.split(/\s+/);
  if (names.length === 0) return into.add(first, options, place);
  if (!nowhere.has(first)) return into.reject(content, 'contains more than one value', place);
  for (const name of names) into.add(name, options, place);
}

/** A URL may contain commas, so for URLs only a date counts as a second column. */
function columns(content: string): { readonly value: string; readonly end?: string } {
  const isUrl = /^"?[a-z*]+:\/\//i.test(content);
  const comma = isUrl ? content.lastIndexOf(',') : content.indexOf(',');
  if (comma < 0) return { value: unquoted(content) };
  const end = unquoted(content.slice(comma + 1));
  if (isUrl && expiry(end) === undefined) return { value: unquoted(content) };
  const value = unquoted(content.slice(0, comma));
  return end === '' ? { value } : { value, end };
}

const unquoted = (text: string): string =>
  text
    .trim()
    .replace(/^"(.*)"$/s, '$1')
    .trim();

function expiry(text: string): number | undefined {
  return /^\d{4}-/.test(text) ? parseTime(text.replace(' ', 'T')) : undefined;
}
