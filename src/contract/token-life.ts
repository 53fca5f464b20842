import { limits } from '../limits.ts';
import type { tokenKinds } from './vocabulary.ts';

interface Life {
  readonly kind: (typeof tokenKinds)[number];
  /** ISO 8601, all of them. */
  readonly issued_at: string;
  readonly expires_at?: string;
  readonly revoked_at?: string;
}

/** Whether a token can be used. */
export const isLive = (token: Life, nowMs: number): boolean =>
  token.revoked_at === undefined && !isExpired(token, nowMs);

/**
 * A session that begins in the future began while the clock was ahead. It would last for as long as the clock was wrong,
 * and cannot be used instead. The end of a long-lived token was chosen by a person, and stands.
 */
export function isExpired({ kind, issued_at, expires_at }: Life, nowMs: number): boolean {
  if (expires_at === undefined) return false;
  if (Date.parse(expires_at) <= nowMs) return true;
  return kind === 'session' && Date.parse(issued_at) > nowMs + limits.maxClockJumpMs;
}
