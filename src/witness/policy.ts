/**
 * A policy of witnesses (C2SP tlog-policy): which there are, and which of them must have cosigned a checkpoint. Groups
 * form a forest, so that each witness counts in one way.
 */
import type { VerifierKey } from '../tlog/note.ts';

export interface PolicyWitness {
  /** For people; what tells witnesses apart is the object. Octets that are no UTF-8 are shown as U+FFFD. */
  readonly name: string;
  readonly key: VerifierKey;
  /** The submission prefix, without a slash at the end. */
  readonly url: string | undefined;
}

/** What has to be met: one witness, or `threshold` of the members. `none` is a group of nobody. */
export type Rule =
  | { readonly kind: 'witness'; readonly witness: PolicyWitness }
  | { readonly kind: 'group'; readonly threshold: number; readonly members: readonly Rule[] };

export interface Policy {
  readonly logs: readonly { readonly key: VerifierKey; readonly url: string | undefined }[];
  readonly witnesses: readonly PolicyWitness[];
  readonly quorum: Rule;
}

/** Whether these witnesses are enough. */
export function isQuorum(policy: Policy, cosigned: ReadonlySet<PolicyWitness>): boolean {
  return isMet(policy.quorum, cosigned);
}

function isMet(rule: Rule, cosigned: ReadonlySet<PolicyWitness>): boolean {
  if (rule.kind === 'witness') return cosigned.has(rule.witness);
  return rule.members.filter((member) => isMet(member, cosigned)).length >= rule.threshold;
}
