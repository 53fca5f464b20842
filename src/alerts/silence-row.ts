import type { Silence } from '../contract/resources/silence.ts';

/** A stored silence, without its state, which depends on the time of the read. */
export type SilenceRow = Omit<Silence, 'state'>;

/** Returns the resource as of `nowMs`, epoch milliseconds. */
export function silenceAt(row: SilenceRow, nowMs: number): Silence {
  const { matcher, reason, owner, ...rest } = row;
  return { matcher, reason, owner, state: hasEnded(row, nowMs) ? 'expired' : 'active', ...rest };
}

export const hasEnded = ({ expires_at }: Pick<SilenceRow, 'expires_at'>, nowMs: number): boolean =>
  Date.parse(expires_at) <= nowMs;
