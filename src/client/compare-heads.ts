import { type CheckpointPolicy, readCheckpoint, type SignedCheckpoint } from './checkpoint.ts';
import { type Contradiction, checkEither, checkExtension } from './consistency.ts';
import type { Evidence } from './evidence.ts';
import { AuditFault } from './fault.ts';
import { clockToleranceMs } from './key-set.ts';
import { fetchCheckpoint, type HeadWithKeys } from './latest.ts';
import type { LogSource } from './log-source.ts';
import type { Pin } from './pin.ts';
import type { SignedHead } from './tree-head.ts';

/**
 * Checks that `head` may follow `pinned`, by size, root and time; returns undefined if so. Both heads must be signed by
 * trusted keys. An older head is rejected, but it may come from a cache or a backup. It is a contradiction only if the
 * log's own proof or tiles show that the pinned tree extends a different tree of that size.
 */
export async function compare(
  log: LogSource,
  pinned: SignedHead,
  head: SignedHead,
): Promise<AuditFault | Contradiction | undefined> {
  const elapsed = head.timestampNs - pinned.timestampNs;
  if (head.size < pinned.size) {
    const sizes = `the log had ${pinned.size} entries, but the head has size ${head.size}`;
    if (elapsed < 0n) {
      const found = await checkExtension(log, head, pinned);
      if (found !== undefined && 'binding' in found) return found;
      const unproven = found === undefined ? '' : '; the log does not prove that the pinned tree extends it';
      return new AuditFault('OLD_HEAD', `${sizes}: it is ${-elapsed} ns older than the pinned head${unproven}`);
    }
    return { fault: new AuditFault('ROLLBACK', `${sizes}, signed later than the pinned head`) };
  }
  const found = await checkExtension(log, pinned, head);
  if (found !== undefined) return found;
  if (elapsed > 0n || (elapsed === 0n && head.size === pinned.size)) return undefined;
  if (head.size === pinned.size)
    return new AuditFault('OLD_HEAD', `the head is ${-elapsed} ns older than the pinned head of the same tree`);
  const times = `${head.timestampNs} ns, not after the ${pinned.timestampNs} ns of size ${pinned.size}`;
  return { fault: new AuditFault('TIME_WENT_BACK', `the head of size ${head.size} is dated ${times}`) };
}

/**
 * Fetches the checkpoint and checks that it is consistent with the head. A log may show different trees to different
 * readers in its checkpoints but not in its heads, or vice versa. Returns NotFound if the log serves no checkpoint.
 */
export async function checkpointOf(
  log: LogSource,
  { head, keys }: Pick<HeadWithKeys, 'head' | 'keys'>,
  policy: CheckpointPolicy | undefined,
): Promise<SignedCheckpoint | AuditFault | (Contradiction & { checkpoint: string })> {
  const seen = await fetchCheckpoint(log, keys, policy);
  if (seen instanceof AuditFault) return seen;
  const found = await checkEither(log, seen, head);
  if (found === undefined || found instanceof AuditFault) return found ?? seen;
  const message = `head and checkpoint (size ${seen.size}) differ: ${found.fault.message}`;
  return { ...found, fault: new AuditFault(found.fault.code, message), checkpoint: seen.note };
}

/**
 * Checks the pinned checkpoint, if it is larger than the pinned head: it must be consistent with a newer head and with
 * the current checkpoint. Returns undefined if it is.
 */
export async function compareAhead(
  log: LogSource,
  pin: Pin,
  head: SignedHead,
  seen: SignedCheckpoint | undefined,
): Promise<AuditFault | (Contradiction & Pick<Evidence, 'checkpoint' | 'checkpoints'>) | undefined> {
  const { checkpointAhead: note } = pin;
  if (note === undefined) return undefined;
  const ahead = readCheckpoint(note);
  if (ahead instanceof AuditFault) return ahead;
  const byHead = head.size > pin.head.size ? await checkEither(log, ahead, head) : undefined;
  if (byHead !== undefined) return byHead instanceof AuditFault ? byHead : { ...byHead, checkpoint: note };
  // Trees that are not larger than the head have already been compared with the head.
  if (seen === undefined || Math.min(seen.size, ahead.size) <= head.size) return undefined;
  const found = await checkEither(log, ahead, seen);
  return found === undefined || found instanceof AuditFault ? found : { ...found, checkpoints: [note, seen.note] };
}

/**
 * Returns the largest checkpoint with a tree larger than the head's; the first in `notes` if several have that size;
 * undefined if no checkpoint is larger.
 */
export function largestAhead(head: SignedHead, notes: readonly (string | undefined)[]): string | undefined {
  let largest: string | undefined;
  let { size } = head;
  for (const note of notes) {
    const read = note === undefined ? undefined : readCheckpoint(note);
    if (read === undefined || read instanceof AuditFault || read.size <= size) continue;
    size = read.size;
    largest = note;
  }
  return largest;
}

/** Checks that the head is neither too old nor dated in the future. */
export function outOfTime(head: SignedHead, now: number, maxAgeMs: number): AuditFault | undefined {
  const ageMs = now - Number(head.timestampNs / 1_000_000n);
  if (ageMs < -clockToleranceMs)
    return new AuditFault('HEAD_FROM_FUTURE', `the head is dated ${-ageMs} ms in the future`);
  if (maxAgeMs === 0 || ageMs <= maxAgeMs) return undefined;
  return new AuditFault('STALE_HEAD', `the head is ${ageMs} ms old; at most ${maxAgeMs} ms are allowed`);
}
