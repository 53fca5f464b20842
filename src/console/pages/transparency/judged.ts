import { sha256 } from '../../../client/sha256.ts';
import {
  type Bundle,
  Fault,
  type KeySet,
  type LogKey,
  verifyEntry,
  verifyHead,
  verifyInclusion,
} from '../../../client/verifier.ts';
import { equalHashes, type Hash, leafHash } from '../../../tlog/tree.ts';
import { climb, type PathStep, pathSteps } from './audit-path.ts';

/** What this browser computed of a proof, part by part, so that each can be shown: broken ones beside good ones. */
export interface Judged {
  readonly leafHash: Hash;
  readonly steps: readonly PathStep[];
  /** What each step gave; the last is the root that the bytes lead to. */
  readonly nodes: readonly Hash[];
  readonly computedRoot: Hash;
  /** Whether that is the root of the head. */
  readonly isIncluded: boolean;
  readonly inclusion: Fault | undefined;
  readonly headKey: LogKey | Fault;
  /** The entry's own signature; undefined where its bytes are not known. */
  readonly entry: { readonly key: LogKey } | Fault | undefined;
}

/** A proof without the bytes, for who may not read them, has the leaf's hash alone. */
export type Provable = Pick<Bundle, 'path' | 'head'> & {
  readonly leafIndex: number;
  readonly leaf: { readonly canonical: Uint8Array } | { readonly hash: Hash };
};

/** Checks all of it by these keys: every part, also where another one is broken. */
export function judge({ leafIndex, leaf, path, head }: Provable, keys: KeySet): Judged {
  const hash = 'hash' in leaf ? leaf.hash : leafHash(sha256, leaf.canonical);
  const steps = leafIndex < head.size ? pathSteps(leafIndex, head.size) : [];
  const nodes = climb(sha256, hash, steps, path);
  const computedRoot = nodes.at(-1) ?? hash;
  // The bytes count, where they are known: the verifier hashes them itself.
  const included =
    'canonical' in leaf
      ? verifyInclusion({ leafIndex, canonical: leaf.canonical }, path, head)
      : steps.length === path.length && equalHashes(computedRoot, head.root)
        ? hash
        : new Fault(
            'NOT_INCLUDED',
            `leaf ${leafIndex} in the tree of ${head.size}: the path leads to another root`,
          );
  const entry = 'canonical' in leaf ? verifyEntry({ leafIndex, canonical: leaf.canonical }, keys) : undefined;
  return {
    leafHash: hash,
    steps,
    nodes,
    computedRoot,
    isIncluded: !(included instanceof Fault),
    inclusion: included instanceof Fault ? included : undefined,
    headKey: verifyHead(head, keys),
    entry,
  };
}

/** Whether nothing of it is wrong. */
export const isSound = ({ isIncluded, headKey, entry }: Judged): boolean =>
  isIncluded && !(headKey instanceof Fault) && !(entry instanceof Fault);
