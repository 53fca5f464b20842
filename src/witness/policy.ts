/**
 * A witness policy (C2SP tlog-policy): the known witnesses, and which of them must cosign a checkpoint.
 * Groups form a forest, so each witness is in at most one group.
 */
import type { VerifierKey } from '../tlog/note.ts';

export interface PolicyWitness {
  /**
   * Name for display; witnesses are compared by object identity. Octets that are not valid UTF-8 are shown as U+FFFD.
   */
  readonly name: string;
  readonly key: VerifierKey;
  /** The submission prefix, without a trailing slash. */
  readonly url: string | undefined;
}

/** A requirement: one witness, or `threshold` of the members. `none` is an empty group. */
export type Rule =
  | { readonly kind: 'witness'; readonly witness: PolicyWitness }
  | { readonly kind: 'group'; readonly threshold: number; readonly members: readonly Rule[] };

export interface Policy {
  readonly logs: readonly { readonly key: VerifierKey; readonly url: string | undefined }[];
  readonly witnesses: readonly PolicyWitness[];
  readonly quorum: Rule;
}

/** Returns whether these witnesses meet the policy. */
export function isQuorum(policy: Policy, cosigned: ReadonlySet<PolicyWitness>): boolean {
  return isMet(policy.quorum, cosigned);
}

function isMet(rule: Rule, cosigned: ReadonlySet<PolicyWitness>): boolean {
  if (rule.kind === 'witness') return cosigned.has(rule.witness);
  return rule.members.filter((member) => isMet(member, cosigned)).length >= rule.threshold;
}
