import { limits } from '../../limits.ts';
import type { LedgerKeyPurpose } from '../ledger.ts';
import type { KeyFile } from './key-file.ts';

/** Milliseconds. */
export interface RotationSchedule {
  /** How long a key signs before its successor takes over; 0 or absent for as long as nobody asks. */
  readonly periods: Partial<Record<LedgerKeyPurpose, number>>;
  /** How long a successor is published before it takes over. */
  readonly overlapMs: number;
}

/** Keys change when somebody asks for it. */
export const noRotation: RotationSchedule = { periods: {}, overlapMs: 0 };

/** What is due for a purpose with this active key, and this pending one if any. */
export function dueStep(
  active: KeyFile,
  pending: KeyFile | undefined,
  nowMs: number,
  { periods, overlapMs }: RotationSchedule,
): 'publish' | 'take_over' | undefined {
  if (pending !== undefined) {
    const due = pending.svc_succession?.due;
    if (due === undefined) return 'take_over';
    // Further ahead than any overlap: it was published while the clock was ahead.
    const waitMs = Date.parse(due) - nowMs;
    return waitMs <= 0 || waitMs > overlapMs + limits.maxClockJumpMs ? 'take_over' : undefined;
  }
  const period = active.svc_purpose === 'witness' ? 0 : (periods[active.svc_purpose] ?? 0);
  const ageMs = nowMs - Date.parse(active.svc_not_before ?? '');
  // A key that begins in the future was made while the clock was ahead: its age is unknown.
  const isDue = ageMs >= period - overlapMs || ageMs < -limits.maxClockJumpMs;
  return period > 0 && isDue ? 'publish' : undefined;
}
