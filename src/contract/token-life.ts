import { limits } from '../limits.ts';
import type { tokenKinds } from './vocabulary.ts';

interface Life {
  readonly kind: (typeof tokenKinds)[number];
  /** Time of issue, in ISO 8601 like all times. */
  readonly issued_at: string;
  readonly expires_at?: string;
  readonly revoked_at?: string;
}

/** Reports whether a token is neither revoked nor expired. */
export const isLive = (token: Life, nowMs: number): boolean =>
  token.revoked_at === undefined && !isExpired(token, nowMs);

/**
 * Reports whether a token has expired. A session that starts more than `limits.maxClockJumpMs` in the future was
 * created while the clock was ahead. It would last too long, so it counts as expired. The expiry of a long-lived token
 * was chosen by a user and is kept.
 */
export function isExpired({ kind, issued_at, expires_at }: Life, nowMs: number): boolean {
  if (expires_at === undefined) return false;
  if (Date.parse(expires_at) <= nowMs) return true;
  return kind === 'session' && Date.parse(issued_at) > nowMs + limits.maxClockJumpMs;
}
