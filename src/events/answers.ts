import type { TextList } from './column-readers.ts';
import { markMatches, type Needle } from './text-search.ts';

/**
 * Marks, as `markMatches` does, the entries that pass the test; returns how many.
 *
 * @param candidates - entries without one of these are not tested; undefined tests all
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
 * Marks the answer sections that have a record whose data `holds`. The sections are kept as JSON, so that a needle also
 * meets names of its fields, types and punctuation: what it finds is only a candidate.
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
