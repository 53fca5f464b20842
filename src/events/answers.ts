import type { TextList } from './column-readers.ts';
import { markMatches, type Needle } from './text-search.ts';

/**
 * Marks, as `markMatches` does, the answer sections that have a record whose data `holds`. The sections are kept as
 * JSON, so that a needle also meets names of its fields, types and punctuation: what it finds is only a candidate.
 */
export function markAnswers(
  list: TextList,
  candidates: readonly Needle[],
  holds: (data: string) => boolean,
  member: Uint8Array,
): number {
  for (const needle of candidates) markMatches(list, needle, member);
  let marked = 0;
  for (let code = 1; code < member.length; code++) {
    if (member[code] === 0) continue;
    const answers = JSON.parse(list.text(code - 1)) as { data: string }[];
    if (answers.some(({ data }) => holds(data))) marked++;
    else member[code] = 0;
  }
  return marked;
}
