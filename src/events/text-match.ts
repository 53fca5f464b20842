import type { TextList } from './format/column-readers.ts';
import { markMatches, type Needle } from './query/text-search.ts';

/**
 * Marks the entries that pass the test, like `markMatches`; returns their number.
 *
 * @param candidates - texts, one of which an entry must contain to be tested; undefined to test all entries
 */
export function markTested(
  list: TextList,
  candidates: readonly Needle[] | undefined,
  member: Uint8Array,
  test: (text: string) => boolean,
): number {
  if (candidates === undefined) member.fill(1, 1);
  else for (const wanted of candidates) markMatches(list, wanted, member);
  let marked = 0;
  for (let code = 1; code < member.length; code++) {
    if (member[code] === 0) continue;
    if (test(list.text(code - 1))) marked++;
    else member[code] = 0;
  }
  return marked;
}

/**
 * Marks the answer sections that contain a record for whose data `holds` returns true. Sections are stored as
 * JSON, so a needle may also match field names, types and punctuation: its matches are only candidates.
 */
export const markAnswers = (
  list: TextList,
  candidates: readonly Needle[],
  holds: (data: string) => boolean,
  member: Uint8Array,
): number =>
  markTested(list, candidates, member, (section) =>
    (JSON.parse(section) as { data: string }[]).some(({ data }) => holds(data)),
  );
