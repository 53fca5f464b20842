import { sha256 } from '../../../client/sha256.ts';
import {
  AuditFault,
  type Bundle,
  type KeySet,
  type LogKey,
  verifyEntry,
  verifyHead,
  verifyInclusion,
} from '../../../client/verifier.ts';
import { equalHashes, type Hash, leafHash } from '../../../tlog/tree.ts';
import { climb, type PathStep, pathSteps } from './audit-path.ts';

/** Verification of a proof part by part, so that valid and broken parts can be shown together. */
export interface Judged {
  readonly leafHash: Hash;
  readonly steps: readonly PathStep[];
  /** The node of each step; the last node is the computed root. */
  readonly nodes: readonly Hash[];
  readonly computedRoot: Hash;
  /** Whether the computed root is that of the head. */
  readonly isIncluded: boolean;
  readonly inclusion: AuditFault | undefined;
  readonly headKey: LogKey | AuditFault;
  /** The entry's own signature; undefined if its bytes are not available. */
  readonly entry: { readonly key: LogKey } | AuditFault | undefined;
}

/** A proof. Without the entry's bytes, only its leaf hash is available. */
export type Provable = Pick<Bundle, 'path' | 'head'> & {
  readonly leafIndex: number;
  readonly leaf: { readonly canonical: Uint8Array } | { readonly hash: Hash };
};

/** Verifies all parts with these keys, even if a part fails. */
export function judge({ leafIndex, leaf, path, head }: Provable, keys: KeySet): Judged {
  const hash = 'hash' in leaf ? leaf.hash : leafHash(sha256, leaf.canonical);
  const steps = leafIndex < head.size ? pathSteps(leafIndex, head.size) : [];
  const nodes = climb(sha256, hash, steps, path);
  const computedRoot = nodes.at(-1) ?? hash;
  // If the bytes are available, the verifier computes the leaf hash itself.
  const included =
    'canonical' in leaf
      ? verifyInclusion({ leafIndex, canonical: leaf.canonical }, path, head)
      : steps.length === path.length && equalHashes(computedRoot, head.root)
        ? hash
        : new AuditFault(
            'NOT_INCLUDED',
            `leaf ${leafIndex} in the tree of size ${head.size}: the path leads to a different root`,
          );
  const entry = 'canonical' in leaf ? verifyEntry({ leafIndex, canonical: leaf.canonical }, keys) : undefined;
  return {
    leafHash: hash,
    steps,
    nodes,
    computedRoot,
    isIncluded: !(included instanceof AuditFault),
    inclusion: included instanceof AuditFault ? included : undefined,
    headKey: verifyHead(head, keys),
    entry,
  };
}

/** Returns whether all parts verify. */
export const isSound = ({ isIncluded, headKey, entry }: Judged): boolean =>
  isIncluded && !(headKey instanceof AuditFault) && !(entry instanceof AuditFault);
