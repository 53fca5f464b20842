import { limits } from '../../../limits.ts';
import { refuse } from '../fault.ts';
import type { CharSet } from './char-set.ts';
import type { Assertion, Regex } from './parse-regex.ts';

/** A state of a nondeterministic automaton, and the numbers of those that follow it. */
export type State =
  | { readonly kind: 'unit'; readonly set: CharSet; readonly next: number }
  | { readonly kind: 'assert'; readonly what: Assertion; readonly next: number }
  | { readonly kind: 'split'; readonly next: number[] }
  | { readonly kind: 'match' };

export interface Program {
  readonly states: readonly State[];
  readonly start: number;
}

/**
 * Thompson's construction, from the end to the beginning: each part is made for what follows it. Repetitions are spelt
 * out, wherefore their product is bounded.
 *
 * @throws SigmaFault past `limits.maxRegexStates`
 */
export function compileRegex(tree: Regex): Program {
  const states: State[] = [];
  let steps = 0;

  const add = (state: State): number => {
    if (states.length === limits.maxRegexStates)
      return refuse(
        `is a regular expression of more than ${limits.maxRegexStates} states, with its repetitions spelt out`,
      );
    return states.push(state) - 1;
  };

  const compile = (node: Regex, next: number): number => {
    // Repetitions of nothing make no states, but would take their time.
    if (++steps > 16 * limits.maxRegexStates) return refuse('is a regular expression that repeats too much');
    switch (node.kind) {
      case 'unit':
        return add({ kind: 'unit', set: node.set, next });
      case 'assert':
        return add({ kind: 'assert', what: node.what, next });
      case 'sequence':
        return node.of.reduceRight((after, part) => compile(part, after), next);
      case 'choice':
        return add({ kind: 'split', next: node.of.map((part) => compile(part, next)) });
      case 'repeat':
        return repeat(node.of, node.min, node.max, next);
    }
  };

  const repeat = (part: Regex, min: number, max: number, next: number): number => {
    let first = next;
    if (max === Number.POSITIVE_INFINITY) {
      const ways: number[] = [];
      first = add({ kind: 'split', next: ways });
      ways.push(compile(part, first), next);
    } else {
      for (let more = min; more < max; more++)
        first = add({ kind: 'split', next: [compile(part, first), next] });
    }
    for (let count = 0; count < min; count++) first = compile(part, first);
    return first;
  };

  const match = add({ kind: 'match' });
  return { start: compile(tree, match), states };
}
