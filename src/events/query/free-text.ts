import { appProtocols, protocolWord } from '../../contract/app-protocols.ts';
import { addressRanges } from '../../net/ip.ts';
import { columnNames, columnOf } from '../format/columns.ts';
import type { Table } from '../records.ts';
import { markAnswers, markTested } from '../text-match.ts';
import { addressTerm } from './address-term.ts';
import { costs, either, entriesIn, type Prepared, type Term } from './term.ts';
import { markMatches, mayHave, needle } from './text-search.ts';

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
