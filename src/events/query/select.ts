import { type Severity, severities } from '../../contract/vocabulary.ts';
import { invalidField } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { type AssetLookup, noAssets } from '../asset-lookup.ts';
import type { EventBlock } from '../format/block.ts';
import type { Table } from '../records.ts';
import type { EventFilter } from './filter.ts';
import { freeText } from './free-text.ts';
import { type Prepared, type Term, timeRange } from './term.ts';
import { compileTerm, numberTerm } from './terms.ts';

/**
 * A filter compiled for one table. It can be applied to many blocks at low cost, and belongs to one thread.
 */
export interface CompiledFilter {
  readonly table: Table;
  /** True if every row of every block matches. */
  readonly all: boolean;
  /** Returns the matching rows, ascending. */
  select(block: EventBlock): Uint32Array<ArrayBuffer>;
  /** Returns the number of matching rows of a block. */
  count(block: EventBlock): number;
}

/**
 * Compiles a filter.
 *
 * @param assets - the lookup for terms that name assets
 * @throws INVALID_REQUEST with the field if the table does not have the field or a value is malformed
 */
export function compileFilter(table: Table, filter: EventFilter, assets: AssetLookup = noAssets): CompiledFilter {
  const terms: Term[] = filter.terms.map((term) => {
    if (term.values.length === 0) throw invalidField(term.field, 'must have a value');
    if (term.values.length > limits.maxFilterValues) {
      throw invalidField(term.field, `must have at most ${limits.maxFilterValues} values`);
    }
    const compiled = compileTerm(table, term, assets);
    return term.negated === true ? negatedTerm(compiled) : compiled;
  });
  if (filter.from !== undefined || filter.to !== undefined) terms.push(timeRange(filter.from, filter.to));
  if (filter.min_severity !== undefined) terms.push(atLeast(filter.min_severity));
  if (filter.q !== undefined && filter.q !== '') terms.push(freeText(table, filter.q));
  terms.sort((a, b) => a.cost - b.cost);
  return new Conjunction(table, terms);
}

function atLeast(severity: Severity): Term {
  const rank = severities.indexOf(severity);
  if (rank < 0) throw invalidField('min_severity', `must be one of ${severities.join(', ')}`);
  return numberTerm('severity', new Set(severities.map((_, place) => place).filter((place) => place >= rank)));
}

/** Row buffer shared by all filters of a thread, because subscribers have thousands of filters. */
let scratch = new Uint32Array(0);

class Conjunction implements CompiledFilter {
  readonly table: Table;
  readonly all: boolean;
  readonly #terms: readonly Term[];
  constructor(table: Table, terms: readonly Term[]) {
    this.table = table;
    this.all = terms.length === 0;
    this.#terms = terms;
  }

  select(block: EventBlock): Uint32Array<ArrayBuffer> {
    const count = this.#run(block);
    return scratch.slice(0, count);
  }

  count(block: EventBlock): number {
    if (this.all) return block.rows;
    return this.#told(block) ?? this.#run(block);
  }

  /**
   * Returns the count if header and dictionaries determine it: all terms except one match the whole block, or one term
   * matches no row. Returns undefined otherwise.
   */
  #told(block: EventBlock): number | undefined {
    this.#check(block);
    if (block.rows === 0) return 0;
    const last = this.#terms.length - 1;
    if (this.#terms[last]!.count === undefined) return undefined;
    for (let i = 0; i < last; i++) {
      const prepared = this.#terms[i]!.prepare(block);
      if (prepared === false) return 0;
      if (prepared !== true) return undefined;
    }
    return this.#terms[last]!.count(block);
  }

  #check(block: EventBlock): void {
    if (block.table !== this.table)
      throw new Error(`cannot apply a filter for ${this.table} events to ${block.table} events`);
  }

  /** Writes the rows to `scratch` and returns their number. */
  #run(block: EventBlock): number {
    this.#check(block);
    const refinements: Exclude<Prepared, boolean>[] = [];
    // Every term checks header and dictionaries before any term reads codes.
    for (const term of this.#terms) {
      const prepared = block.rows > 0 && term.prepare(block);
      if (prepared === false) return 0;
      if (prepared !== true) refinements.push(prepared);
    }
    if (scratch.length < block.rows) scratch = new Uint32Array(block.rows);
    const rows = scratch;
    for (let row = 0; row < block.rows; row++) rows[row] = row;
    let count = block.rows;
    for (const refine of refinements) {
      count = refine(rows, count);
      if (count === 0) break;
    }
    return count;
  }
}

/**
 * Matches exactly the rows that the term does not match. If the term matches no row of a block, all rows are taken
 * without checking them; if the term matches every row, the block is skipped.
 */
function negatedTerm(term: Term): Term {
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
