import { foldedUnit } from './char-set.ts';
import type { Regex } from './parse-regex.ts';

/**
 * Returns case-folded literals such that every match contains at least one of them; undefined if there are no such
 * literals. The longest literals are chosen, so that an index excludes most values that do not match.
 */
export function requiredLiterals(tree: Regex): readonly string[] | undefined {
  const found = inside(tree);
  const best = better(found.of, found.exact === undefined ? undefined : [found.exact]);
  return best?.some((text) => text === '') ? undefined : best;
}

/**
 * Literals found for a part of the expression. `exact` is the only text that the part can match, ignoring case.
 */
interface Found {
  readonly exact: string | undefined;
  readonly of: readonly string[] | undefined;
}

const maxChoices = 64;

function inside(tree: Regex): Found {
  switch (tree.kind) {
    case 'unit':
      return { exact: foldedUnit(tree.set), of: undefined };
    case 'assert':
      return { exact: '', of: undefined };
    case 'sequence':
      return sequence(tree.of);
    case 'choice':
      return { exact: undefined, of: choice(tree.of) };
    case 'repeat': {
      if (tree.min === 0) return { exact: undefined, of: undefined };
      const { exact, of } = inside(tree.of);
      if (exact === undefined) return { exact, of };
      const text = exact.repeat(tree.min);
      return tree.min === tree.max ? { exact: text, of: undefined } : { exact: undefined, of: [text] };
    }
  }
}

function sequence(parts: readonly Regex[]): Found {
  let run = '';
  let all = true;
  let best: readonly string[] | undefined;
  for (const part of parts) {
    const { exact, of } = inside(part);
    if (exact !== undefined) {
      run += exact;
      continue;
    }
    all = false;
    best = better(best, better(of, [run]));
    run = '';
  }
  return all ? { exact: run, of: undefined } : { exact: undefined, of: better(best, [run]) };
}

function choice(parts: readonly Regex[]): readonly string[] | undefined {
  const all: string[] = [];
  for (const part of parts) {
    const found = requiredLiterals(part);
    if (found === undefined || all.length + found.length > maxChoices) return undefined;
    all.push(...found);
  }
  return all;
}

/** Returns the set whose shortest literal is longer. */
function better(a: readonly string[] | undefined, b: readonly string[] | undefined): readonly string[] | undefined {
  return shortest(b) > shortest(a) ? b : a;
}

function shortest(texts: readonly string[] | undefined): number {
  return texts === undefined ? 0 : Math.min(...texts.map(({ length }) => length));
}
