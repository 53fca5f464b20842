import { appProtocols, protocolWord } from '../../contract/app-protocols.ts';
import { addressRanges } from '../../net/ip.ts';
import type { TextList } from '../format/column-readers.ts';
import { columnNames, columnOf } from '../format/columns.ts';
import type { Table } from '../records.ts';
import { addressTerm } from './address-term.ts';
import { costs, either, entriesIn, type Prepared, type Term } from './term.ts';
import { markMatches, mayHave, type Needle, needle } from './text-search.ts';

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

/**
 * Matches `q`, which is one of the following: a part of an event's names (see `q` in columns.ts) or of the data of an
 * answer, ignoring case; a whole connection id; an address or CIDR block that contains the source or destination
 * address.
 */
export function freeText(table: Table, q: string): Term {
  const columns = columnNames[table].filter((name) => {
    const column = columnOf(table, name);
    return (column?.kind === 'text' || column?.kind === 'unique') && column.q === true;
  });
  const part = needle(q, { fold: true, match: 'part' });
  const inJson = [needle(JSON.stringify(q).slice(1, -1), { fold: true, match: 'part' })];
  const lower = q.toLowerCase();
  const holds = (data: string) => data.toLowerCase().includes(lower);
  const word = protocolWord(q);
  const inNames = (text: string) => appProtocols(text).some((name) => name === word || holds(name));
  const whole = needle(q, { fold: false, match: 'whole' });
  const ends = addressRanges(q) === undefined ? undefined : addressTerm(['src_ip', 'dst_ip'], [q], 'q');
  return {
    cost: costs.freeText,
    prepare(block) {
      let found: Prepared = ends?.prepare(block) ?? false;
      for (const name of columns) {
        const wanted = columnOf(table, name)?.kind === 'unique' ? whole : part;
        if (!mayHave(block, name, wanted)) continue;
        const column = block.texts(name);
        const member = new Uint8Array(column.list.length + 1);
        const marked =
          name === 'answers'
            ? markAnswers(column.list, inJson, holds, member)
            : name === 'app_protocol'
              ? markTested(column.list, undefined, member, inNames)
              : markMatches(column.list, wanted, member);
        found = either(found, entriesIn(column, member, marked));
        if (found === true) return true;
      }
      return found;
    },
  };
}
