import { sha256 } from '../crypto/sha256.ts';
import { type Binding, bindsElsewhere, firstRootOf, type SizedRoot } from '../tlog/binding.ts';
import { consistencyPlan, omitsFirstRoot } from '../tlog/proof.ts';
import { equalHashes, type Hash } from '../tlog/tree.ts';

/** A contradiction between two roots signed by the same log. */
export interface Fork {
  readonly message: string;
  readonly binding?: Binding;
}

/**
 * Returns the fork that two signed checkpoints prove; undefined if they prove no fork. A fork is proven by two roots
 * for the same size, or by a consistency proof that derives the later root from a different earlier root. An invalid
 * proof alone proves nothing, since any client can send an invalid proof; a smaller checkpoint proves nothing either.
 *
 * A consistency proof from a power of two omits the first root (RFC 6962), because the verifier has it. After a
 * rejection, the log sends such a proof again with its own first root in front. That root reveals the different earlier
 * tree.
 */
export function findFork(cosigned: SizedRoot, later: SizedRoot, proof: readonly Hash[]): Fork | undefined {
  const [firstSize, secondSize] = [cosigned.size, later.size];
  if (firstSize === secondSize) {
    if (equalHashes(cosigned.root, later.root)) return undefined;
    return { message: `two roots are signed for size ${firstSize}` };
  }
  if (firstSize === 0 || firstSize > secondSize) return undefined;
  const hasFirstRoot = omitsFirstRoot(firstSize) && proof.length === consistencyPlan(firstSize, secondSize).length + 1;
  const firstRoot = hasFirstRoot ? proof[0] : firstRootOf(sha256, proof, firstSize, secondSize);
  if (firstRoot === undefined) return undefined;
  const binding = { firstSize, secondSize, firstRoot, path: hasFirstRoot ? proof.slice(1) : proof };
  if (!bindsElsewhere(sha256, binding, cosigned, later)) return undefined;
  return {
    message: `the tree of size ${secondSize} does not extend the tree signed for size ${firstSize}`,
    binding,
  };
}
