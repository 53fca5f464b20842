import { limits } from '../../limits.ts';
import type { LedgerKeyPurpose } from '../ledger.ts';
import type { KeyFile } from './key-file.ts';

/** Times of scheduled rotations, in milliseconds. */
export interface RotationSchedule {
  /** How long a key signs before its successor takes over; 0 or absent disables scheduled rotation. */
  readonly periods: Partial<Record<LedgerKeyPurpose, number>>;
  /** How long a successor is published before it takes over. */
  readonly overlapMs: number;
}

/** Disables scheduled rotation. */
export const noRotation: RotationSchedule = { periods: {}, overlapMs: 0 };

/**
 * Returns the due step for a purpose, given its active key and its pending key, if any; undefined if no step is due.
 */
export function dueStep(
  active: KeyFile,
  pending: KeyFile | undefined,
  nowMs: number,
  { periods, overlapMs }: RotationSchedule,
): 'publish' | 'take_over' | undefined {
  if (pending !== undefined) {
    const due = pending.svc_succession?.due;
    if (due === undefined) return 'take_over';
    // A due time further ahead than any overlap was set while the clock was wrong.
    const waitMs = Date.parse(due) - nowMs;
    return waitMs <= 0 || waitMs > overlapMs + limits.maxClockJumpMs ? 'take_over' : undefined;
  }
  const period = active.svc_purpose === 'witness' ? 0 : (periods[active.svc_purpose] ?? 0);
  const ageMs = nowMs - Date.parse(active.svc_not_before ?? '');
  // A key that begins in the future was created while the clock was wrong, so its age is unknown.
  const isDue = ageMs >= period - overlapMs || ageMs < -limits.maxClockJumpMs;
  return period > 0 && isDue ? 'publish' : undefined;
}
