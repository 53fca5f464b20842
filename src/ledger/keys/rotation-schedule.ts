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
    return due === undefined || Date.parse(due) <= nowMs ? 'take_over' : undefined;
  }
  const period = active.svc_purpose === 'witness' ? 0 : (periods[active.svc_purpose] ?? 0);
  const ageMs = nowMs - Date.parse(active.svc_not_before ?? '');
  return period > 0 && ageMs >= period - overlapMs ? 'publish' : undefined;
}
