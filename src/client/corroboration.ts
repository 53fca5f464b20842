/**
 * Independent proof of when a root existed: a checkpoint of the log that witnesses cosigned, or that an authority
 * timestamped (RFC 3161). Without such proof, only the auditor who wrote the evidence attests when a statement was
 * seen.
 */
import type { SizedRoot } from '../tlog/binding.ts';
import type { Hash } from '../tlog/tree.ts';
import { readClaim, type TimestampClaim } from './bundle-proofs.ts';
import { type CheckpointPolicy, isCosigned, readCheckpoint, verifyCheckpoint } from './checkpoint.ts';
import { fetchConsistency } from './consistency.ts';
import type { Evidence } from './evidence.ts';
import { type Exact, members } from './exact-json.ts';
import { AuditFault } from './fault.ts';
import type { KeySet } from './key-set.ts';
import { decodeNote } from './latest.ts';
import { fetchPage } from './list-page.ts';
import type { LogSource } from './log-source.ts';
import { readEntry, readLeaf, verifyConsistency } from './verify.ts';

/** A checkpoint whose tree extends the tree of a statement. */
export interface Corroboration {
  /** The complete note. */
  readonly checkpoint: string;
  /** Consistency proof from the tree of the statement to that of the checkpoint; empty for equal sizes. */
  readonly path: readonly Hash[];
  readonly timestamp?: Pick<TimestampClaim, 'authority' | 'token'>;
}

/** A tree with a time at which it existed, according to witnesses or an authority. */
export interface DatedRoot extends SizedRoot {
  readonly path: readonly Hash[];
  /** Time at which the tree existed, in epoch milliseconds. */
  readonly atMs: number;
  /** The witnesses or the authority, as text for users. */
  readonly by: string;
}

/** The trusted witnesses and authorities. */
export interface CorroborationPolicy {
  readonly checkpoint?: CheckpointPolicy | undefined;
  /** Verifies a token and returns the latest time at which it can have been made, in epoch milliseconds. */
  readonly timeOf?: (claim: TimestampClaim) => number | AuditFault;
}

/** Maximum corroborations. A log has fewer for a head: one timestamp per authority. */
export const maxCorroborations = 16;

/**
 * Fetches, from the log, cosigned or timestamped checkpoints whose trees extend the trees of `roots`. Does not verify
 * signatures.
 */
export async function fetchCorroboration(log: LogSource, roots: readonly SizedRoot[]): Promise<Corroboration[]> {
  const found: Corroboration[] = [];
  const bytes = await log.getBytes('/checkpoint');
  const note = bytes instanceof AuditFault ? bytes : decodeNote(bytes);
  if (!(note instanceof AuditFault) && isCosigned(note)) found.push(...(await covering(log, roots, note)));
  for (const { checkpoint, authority, token } of await timestampsAfter(log, roots))
    for (const one of await covering(log, roots, checkpoint)) found.push({ ...one, timestamp: { authority, token } });
  return found.slice(0, maxCorroborations);
}

/**
 * Verifies the corroboration of evidence. Returns each tree with its time, or the reason why it is ignored. Omits proof
 * of a kind for which the policy trusts no witness or authority.
 */
export function datedRoots(
  { checkpoint, checkpoints = [], corroboration = [] }: Evidence,
  keys: KeySet,
  { checkpoint: policy = {}, timeOf }: CorroborationPolicy,
): (DatedRoot | AuditFault)[] {
  const logPolicy = policy.logKey === undefined ? {} : { logKey: policy.logKey };
  const cosigned = (one: Corroboration) => datedByWitnesses(one, keys, policy);
  // The checkpoints in the evidence itself are used only if they are cosigned; missing cosignatures are not
  // reported.
  const own = [...(checkpoint === undefined ? [] : [checkpoint]), ...checkpoints]
    .map((note) => cosigned({ checkpoint: note, path: [] }))
    .filter((dated) => !(dated instanceof AuditFault));
  const others = corroboration.map((one) =>
    one.timestamp === undefined
      ? cosigned(one)
      : datedByAuthority({ ...one, ...one.timestamp }, keys, logPolicy, timeOf),
  );
  return [...own, ...others].filter((dated) => dated !== undefined);
}

/** Returns the dated root; undefined if the policy has no witnesses. */
function datedByWitnesses(
  { checkpoint, path }: Corroboration,
  keys: KeySet,
  policy: CheckpointPolicy,
): DatedRoot | AuditFault | undefined {
  const { witnesses = [], quorum = witnesses.length } = policy;
  if (witnesses.length === 0) return undefined;
  const signed = verifyCheckpoint(checkpoint, keys, { ...policy, quorum: Math.max(1, quorum) });
  if (signed instanceof AuditFault) return signed;
  const { size, root, cosigners } = signed;
  const first = cosigners.toSorted((a, b) => a.timeS - b.timeS).slice(0, Math.max(1, quorum));
  const names = first.map(({ name }) => name).join(', ');
  return { size, root, path, atMs: 1000 * first.at(-1)!.timeS, by: `cosigned by ${names}` };
}

/** Returns the dated root; undefined if no authority is trusted. */
function datedByAuthority(
  claim: TimestampClaim & Pick<Corroboration, 'path'>,
  keys: KeySet,
  policy: CheckpointPolicy,
  timeOf: CorroborationPolicy['timeOf'],
): DatedRoot | AuditFault | undefined {
  if (timeOf === undefined) return undefined;
  const signed = verifyCheckpoint(claim.checkpoint, keys, policy);
  if (signed instanceof AuditFault) return signed;
  const atMs = timeOf(claim);
  if (atMs instanceof AuditFault) return atMs;
  const { size, root } = signed;
  return { size, root, path: claim.path, atMs, by: `timestamped by ${claim.authority}` };
}

/** Returns the earliest proof that this root existed; undefined without such a proof. */
export function earliestProof(root: SizedRoot, dated: readonly DatedRoot[]): DatedRoot | undefined {
  return dated
    .filter((one) => root.size <= one.size && verifyConsistency(root, one, one.path) === undefined)
    .toSorted((a, b) => a.atMs - b.atMs)[0];
}

/** Returns the checkpoint with a consistency proof from each of the roots that its tree extends. */
async function covering(log: LogSource, roots: readonly SizedRoot[], checkpoint: string): Promise<Corroboration[]> {
  const read = readCheckpoint(checkpoint);
  if (read instanceof AuditFault) return [];
  const found: Corroboration[] = [];
  for (const root of roots) {
    if (root.size > read.size) continue;
    const proof = root.size === read.size ? { path: [] } : await fetchConsistency(log, root.size, read.size);
    if (proof instanceof AuditFault || verifyConsistency(root, read, proof.path) !== undefined) continue;
    found.push({ checkpoint, path: proof.path });
  }
  return found;
}

/** Fetches the first timestamps that were logged after each of these trees. Requires a role. */
async function timestampsAfter(log: LogSource, roots: readonly SizedRoot[]): Promise<TimestampClaim[]> {
  const claims: TimestampClaim[] = [];
  for (const { size } of roots) {
    const path = `/api/transparency/entries?kind=checkpoint.timestamped&from=${size}`;
    const list = await fetchPage(log, path, 1, maxCorroborations);
    if (list instanceof AuditFault) continue;
    for (const item of list.items) {
      const leaf = readLeaf(item);
      const read = leaf instanceof AuditFault ? leaf : readEntry(leaf.canonical);
      const claim = read instanceof AuditFault ? undefined : readClaim(members(read.entry.data as Exact));
      if (claim !== undefined) claims.push(claim);
    }
  }
  return claims;
}
