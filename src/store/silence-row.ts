import type { Silence } from '../contract/resources/silence.ts';

/** A silence as stored: whether it has ended depends on when it is asked. */
export type SilenceRow = Omit<Silence, 'state'>;

/** The resource as it is at `nowMs`, epoch milliseconds. */
export function silenceAt(row: SilenceRow, nowMs: number): Silence {
  const { matcher, reason, owner, ...rest } = row;
  return { matcher, reason, owner, state: hasEnded(row, nowMs) ? 'expired' : 'active', ...rest };
}

export const hasEnded = ({ expires_at }: Pick<SilenceRow, 'expires_at'>, nowMs: number): boolean =>
  Date.parse(expires_at) <= nowMs;
