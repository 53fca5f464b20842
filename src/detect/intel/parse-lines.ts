import { parseTime } from '../../contract/formats.ts';
import type { Collected } from './collected.ts';

/** Addresses before a name in a hosts file: where it sends what shall go nowhere. */
const nowhere: ReadonlySet<string> = new Set([
  '0.0.0.0',
  '127.0.0.1',
  '::',
  '::1',
  'fe80::1%lo0',
  '255.255.255.255',
]);

/**
 * Plain lines: an address, block, domain or URL each, or as in a hosts file an address of nowhere and names. What begins
 * with `#` or `;`, alone or behind a blank, is a comment. Behind a comma may stand until when it holds, as an ISO 8601
 * date or time (UTC unless it says otherwise).
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

/** Lines of hosts files have up to ten names, those of others one. */
const longestLine = 2 ** 16;

function parseLine(written: string, line: number, into: Collected): void {
  if (written.length > longestLine) return into.reject(written, 'is too long', { line });
  const content = written
    .replace(/^\uFEFF/, '')
    .replace(/(?:^|\s)[#;].*$/s, '')
    .trim();
  if (content === '' || content.startsWith('!')) return;
  const { value, end } = columns(content);
  const place = { line };
  const until = end === undefined ? undefined : expiry(end);
  if (end !== undefined && until === undefined)
    return into.reject(content, 'has a second column that is no ISO 8601 date or time', place);
  const terms = until === undefined ? {} : { until };
  const [first = '', ...names] = value.split(/\s+/);
  if (names.length === 0) return into.add(first, terms, place);
  if (!nowhere.has(first)) return into.reject(content, 'holds more than one value', place);
  for (const name of names) into.add(name, terms, place);
}

/** A URL may have commas of its own: there, only what is a date ends it. */
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
