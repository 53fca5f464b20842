import { sha256 } from '../sha256.ts';
import { type Binding, bindsElsewhere, firstRootOf, type SizedRoot } from '../tlog/binding.ts';
import { consistencyPlan, omitsFirstRoot } from '../tlog/proof.ts';
import { equalHashes, type Hash } from '../tlog/tree.ts';

/** Why two roots that one log signed contradict each other. */
export interface Fork {
  readonly message: string;
  readonly binding?: Binding;
}

/**
 * Whether two signed checkpoints convict their log: another root for the same size, or a proof that leads to the later
 * root from another beginning. A wrong proof alone convicts nobody, since anyone can send one, and neither does a
 * smaller checkpoint.
 *
 * RFC 6962 leaves the first root out of the proof from a power of two, because a verifier has it. A log that was
 * refused sends such a proof again with its own first root in front, and only that proof shows the other beginning.
 */
export function findFork(kept: SizedRoot, later: SizedRoot, proof: readonly Hash[]): Fork | undefined {
  const [firstSize, secondSize] = [kept.size, later.size];
  if (firstSize === secondSize) {
    if (equalHashes(kept.root, later.root)) return undefined;
    return { message: `two roots are signed for size ${firstSize}` };
  }
  if (firstSize === 0 || firstSize > secondSize) return undefined;
  const hasFirstRoot =
    omitsFirstRoot(firstSize) && proof.length === consistencyPlan(firstSize, secondSize).length + 1;
  const firstRoot = hasFirstRoot ? proof[0] : firstRootOf(sha256, proof, firstSize, secondSize);
  if (firstRoot === undefined) return undefined;
  const binding = { firstSize, secondSize, firstRoot, path: hasFirstRoot ? proof.slice(1) : proof };
  if (!bindsElsewhere(sha256, binding, kept, later)) return undefined;
  return {
    message: `the tree of size ${secondSize} does not begin with the tree that is signed for size ${firstSize}`,
    binding,
  };
}
