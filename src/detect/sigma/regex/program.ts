import { limits } from '../../../limits.ts';
import { refuse } from '../fault.ts';
import type { CharSet } from './char-set.ts';
import type { Assertion, Regex } from './parse-regex.ts';

/** A state of a nondeterministic automaton, and the indices of its successors. */
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
 * Compiles a regular expression by Thompson's construction, from the end to the beginning: each part is
 * compiled with the state that follows it. Repetitions are expanded, so their product is limited.
 *
 * @throws RuleError beyond `limits.maxRegexStates`
 */
export function compileRegex(tree: Regex): Program {
  const states: State[] = [];
  let steps = 0;

  const add = (state: State): number => {
    if (states.length === limits.maxRegexStates)
      return refuse(
        `is a regular expression of more than ${limits.maxRegexStates} states, after its repetitions are expanded`,
      );
    return states.push(state) - 1;
  };

  const compile = (node: Regex, next: number): number => {
    // Repetitions of empty parts create no states but take time.
    if (++steps > 16 * limits.maxRegexStates)
      return refuse('is not a supported regular expression: its nested quantifiers repeat too often');
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
      for (let more = min; more < max; more++) first = add({ kind: 'split', next: [compile(part, first), next] });
    }
    for (let count = 0; count < min; count++) first = compile(part, first);
    return first;
  };

  const match = add({ kind: 'match' });
  return { start: compile(tree, match), states };
}
