import type { Binding } from '../tlog/binding.ts';
import type { CheckpointPolicy, SignedCheckpoint } from './checkpoint.ts';
import { asLogKey } from './checkpoint.ts';
import { type Contradiction, checkExtension } from './consistency.ts';
import { type Evidence, writeEvidence } from './evidence.ts';
import { Fault } from './fault.ts';
import type { KeySet, LogKey } from './key-set.ts';
import { checkSuccession } from './key-succession.ts';
import { fetchCheckpoint, fetchHead, type HeadWithKeys } from './latest.ts';
import { EmptyLog, type LogSource, NotFound } from './log-source.ts';
import { changedKey, type Pin } from './pin.ts';
import type { SignedHead } from './tree-head.ts';

export { fetchHead } from './latest.ts';
export type { Pin } from './pin.ts';
export { type EntryQuery, type ProvenEntry, proveEntry } from './proven-entry.ts';

export interface AuditOptions {
  /** The auditor's own clock, epoch milliseconds. */
  readonly now: number;
  /**
   * A head older than this is a fault, and no cosignature older than this counts. An idle log has both made anew every
   * hour. Default: no limit.
   */
  readonly maxAgeMs?: number;
  /** Whose signatures the checkpoint must have. Where one is given, a log without checkpoints is refused. */
  readonly checkpoint?: CheckpointPolicy;
  /** A head by a key that the pinned key does not vouch for is a fault. Default: the result tells it. */
  readonly strictKeys?: boolean;
}

/** What an audit found to be right. */
interface Sound {
  readonly pin: Pin;
  /** The key that signed the head. */
  readonly key: LogKey;
  readonly keys: KeySet;
  /** Consistent with the head; undefined where the log serves none. */
  readonly checkpoint: SignedCheckpoint | undefined;
  /**
   * Where another key signs than signed the pinned head: whether the log proves that it took over (`vouched`), or why
   * nothing does; then people have to compare fingerprints.
   */
  readonly newKey?: 'vouched' | Fault;
}

export type AuditResult =
  /** No entry yet, and none expected. */
  | { readonly status: 'empty' }
  /** The first head of a log; `pin` is to be kept. */
  | (Sound & { readonly status: 'pinned' })
  /** The same tree as pinned (perhaps signed anew), or one that provably extends it from size `from`. */
  | (Sound & { readonly status: 'unchanged' | 'extended'; readonly from: number })
  /** The pin stays as it is. `evidence` (JSON, see evidence.ts) where the log contradicts itself. */
  | { readonly status: 'fault'; readonly fault: Fault; readonly evidence?: string };

/** Clocks of honest machines differ by less. */
const clockToleranceMs = 5 * 60_000;

/**
 * Fetches the head, the keys and the checkpoint; checks their signatures, and that head, checkpoint and pin are of one
 * tree. Never throws for what a log answers. What a cache on the way may have kept accuses nobody: the log is asked
 * again past it, and that answer counts.
 *
 * Keys may come and take over, retire and be revoked: the head is checked by the keys that are published with it, and
 * the pinned head was checked when it was pinned.
 */
export async function audit(
  log: LogSource,
  pin: Pin | undefined,
  options: AuditOptions,
): Promise<AuditResult> {
  if (pin !== undefined && pin.log !== log.url) {
    const moved = 'if the log has moved there, write its new address into the pin';
    const fault = new Fault('OTHER_LOG', `the pin is of ${pin.log}, not of ${log.url}; ${moved}`);
    return { status: 'fault', fault };
  }
  const signed = await fetchHead(log);
  if (signed instanceof EmptyLog) {
    if (pin === undefined) return { status: 'empty' };
    const again = log.pastCaches?.();
    return again === undefined ? emptied(pin, options) : audit(again, pin, options);
  }
  if (signed instanceof Fault) return { status: 'fault', fault: signed };

  const found = pin === undefined ? undefined : await compareWithPin(log, pin, signed);
  if (pin !== undefined && found !== undefined) {
    const again = mayBeKept(found, pin.head, signed.head) ? log.pastCaches?.() : undefined;
    return again === undefined ? accuse(found, log, pin, signed, options) : audit(again, pin, options);
  }
  const seen = await checkpointOf(log, signed, policyOf(options));
  if (seen instanceof Fault || (seen !== undefined && 'fault' in seen))
    return accuse(seen, log, pin, signed, options);
  const late = outOfTime(signed.head, options);
  if (late !== undefined) return { status: 'fault', fault: late };

  const { head, keys, key } = signed;
  const at = new Date(options.now).toISOString();
  const next: Pin = { ...pin, log: log.url, head, keys, pinnedAt: pin?.pinnedAt ?? at, updatedAt: at };
  const newKey = pin === undefined ? undefined : await successionFrom(log, pin, signed);
  if (options.strictKeys === true && newKey instanceof Fault) return { status: 'fault', fault: newKey };
  const sound = { pin: next, key, keys, checkpoint: seen, ...(newKey && { newKey }) };
  if (pin === undefined) return { status: 'pinned', ...sound };
  const status = head.size === pin.head.size ? 'unchanged' : 'extended';
  return { status, from: pin.head.size, ...sound };
}

async function successionFrom(
  log: LogSource,
  pin: Pin,
  signed: HeadWithKeys,
): Promise<'vouched' | Fault | undefined> {
  const before = pin.keys.get(pin.head.signerKeyId);
  if (before === undefined) throw new Error('a pin without the key of its head');
  if (before.kid === signed.key.kid) return undefined;
  return (await checkSuccession(log, before, signed)) ?? 'vouched';
}

/**
 * Whether `head` may follow `pinned`, by size, root and time; undefined if so. Of the same tree an older head is
 * refused but accuses nobody: any cache may have kept it.
 */
export async function compare(
  log: LogSource,
  pinned: SignedHead,
  head: SignedHead,
): Promise<Fault | Contradiction | undefined> {
  if (head.size < pinned.size) {
    return {
      fault: new Fault('ROLLBACK', `the log had ${pinned.size} entries and has ${head.size} now`),
    };
  }
  const found = await checkExtension(log, pinned, head);
  if (found !== undefined) return found;
  const elapsed = head.timestampNs - pinned.timestampNs;
  if (elapsed > 0n || (elapsed === 0n && head.size === pinned.size)) return undefined;
  if (head.size === pinned.size)
    return new Fault('OLD_HEAD', `the head is ${-elapsed} ns older than the pinned one of the same tree`);
  const times = `${head.timestampNs} ns, not after the ${pinned.timestampNs} ns of size ${pinned.size}`;
  return { fault: new Fault('TIME_WENT_BACK', `the head of size ${head.size} is dated ${times}`) };
}

/** What a log signed counts for more than which keys it shows, and that for more than an answer that didn't come. */
async function compareWithPin(
  log: LogSource,
  pin: Pin,
  { head, keys }: HeadWithKeys,
): Promise<Fault | Contradiction | undefined> {
  const found = await compare(log, pin.head, head);
  if (found !== undefined && 'fault' in found) return found;
  const fault = changedKey(pin, keys);
  if (fault?.kind === 'misbehaviour') return { fault };
  return found ?? fault;
}

/**
 * Whether an old answer that a cache kept would look the same: keys, or a smaller head, that were true once. What was
 * signed after the pinned head is no old answer, and roots that contradict each other never were true together.
 */
export function mayBeKept(found: Fault | Contradiction, pinned: SignedHead, head: SignedHead): boolean {
  const { code } = 'fault' in found ? found.fault : found;
  if (code === 'ROLLBACK') return head.timestampNs < pinned.timestampNs;
  return code === 'KEY_WITHDRAWN' || code === 'KEY_CHANGED' || code === 'WRONG_ORIGIN';
}

/**
 * The checkpoint, which must be of the head's tree or of one that extends it or that it extends: a log that shows
 * different trees to different readers shows them in different places. Undefined where the log serves none.
 */
export async function checkpointOf(
  log: LogSource,
  { head, keys }: Pick<HeadWithKeys, 'head' | 'keys'>,
  policy: CheckpointPolicy | undefined,
): Promise<SignedCheckpoint | Fault | (Contradiction & { checkpoint: string }) | undefined> {
  const seen = await fetchCheckpoint(log, keys, policy);
  if (seen instanceof NotFound && policy === undefined) return undefined;
  if (seen instanceof Fault) return seen;
  const [earlier, later] = seen.size < head.size ? [seen, head] : [head, seen];
  const found = await checkExtension(log, earlier, later);
  if (found === undefined || found instanceof Fault) return found ?? seen;
  const message = `head and checkpoint (size ${seen.size}) differ: ${found.fault.message}`;
  return { ...found, fault: new Fault(found.fault.code, message), checkpoint: seen.note };
}

function policyOf({ checkpoint, maxAgeMs, now }: AuditOptions): CheckpointPolicy | undefined {
  if (checkpoint === undefined || maxAgeMs === undefined) return checkpoint;
  return { ...checkpoint, cosignedSinceS: Math.max(0, Math.floor((now - maxAgeMs) / 1000)) };
}

function outOfTime(head: SignedHead, { now, maxAgeMs }: AuditOptions): Fault | undefined {
  const ageMs = now - Number(head.timestampNs / 1_000_000n);
  if (ageMs < -clockToleranceMs)
    return new Fault('HEAD_FROM_FUTURE', `the head is dated ${-ageMs} ms from now`);
  if (maxAgeMs === undefined || ageMs <= maxAgeMs) return undefined;
  return new Fault('STALE_HEAD', `the head is ${ageMs} ms old, ${maxAgeMs} ms are allowed`);
}

function emptied(pin: Pin, options: AuditOptions): AuditResult {
  const message = `the log had ${pin.head.size} entries and says that it has none now`;
  return accuse({ fault: new Fault('ROLLBACK', message) }, { url: pin.log }, pin, undefined, options);
}

interface Accusation {
  readonly fault: Fault;
  readonly binding?: Binding;
  readonly answer?: string;
  readonly checkpoint?: string;
}

/** A fault alone is only told; a contradiction leaves evidence. */
function accuse(
  found: Fault | Accusation,
  log: Pick<LogSource, 'url'>,
  pin: Pin | undefined,
  signed: HeadWithKeys | undefined,
  options: AuditOptions,
): AuditResult {
  if (found instanceof Fault) return { status: 'fault', fault: found };
  const { fault, ...shown } = found;
  const evidence: Evidence = {
    code: fault.code,
    message: fault.message,
    log: log.url,
    foundAt: new Date(options.now).toISOString(),
    ...shown,
    ...(pin && { pinnedAt: pin.updatedAt, pinnedHead: pin.head, pinnedKeys: pin.keys }),
    ...(signed && { head: signed.head }),
    keys: withOwnKey(signed?.keys ?? pin?.keys ?? new Map(), options.checkpoint),
  };
  return { status: 'fault', fault, evidence: writeEvidence(evidence) };
}

/** The auditor's own key of the log, which need not be in the key set. */
function withOwnKey(keys: KeySet, policy: CheckpointPolicy | undefined): KeySet {
  if (policy?.logKey === undefined) return keys;
  const own = asLogKey(policy.logKey);
  return [...keys.values()].some(({ x, purpose }) => x === own.x && purpose === 'checkpoint')
    ? keys
    : new Map([...keys, [own.kid, own]]);
}
