import type { Prepared, Term } from './term.ts';

/**
 * Matches exactly the rows that the term does not match. If the term matches no row of a block, all rows are taken
 * without checking them; if the term matches every row, the block is skipped.
 */
export function negatedTerm(term: Term): Term {
  const { cost } = term;
  const prepare: Term['prepare'] = (block) => others(term.prepare(block));
  if (term.count === undefined) return { cost, prepare };
  return {
    cost,
    prepare,
    count(block) {
      const rows = term.count!(block);
      return rows === undefined ? undefined : block.rows - rows;
    },
  };
}

function others(prepared: Prepared): Prepared {
  if (typeof prepared === 'boolean') return !prepared;
  return (rows, count) => {
    const matching = rows.slice(0, count);
    const matches = prepared(matching, count);
    // Both lists are ascending, and `matching` is a subset of the other list.
    let kept = 0;
    let next = 0;
    for (let i = 0; i < count; i++) {
      const row = rows[i]!;
      if (next < matches && matching[next] === row) next++;
      else rows[kept++] = row;
    }
    return kept;
  };
}
