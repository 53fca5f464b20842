import type { Prepared, Term } from './term.ts';

/**
 * True of exactly the rows of which the term is not. What a term says of a whole block is certain either way, so that a
 * block which it would skip is taken whole, and one that has nothing else is skipped.
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
    // Both are ascending, and the one is part of the other.
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
