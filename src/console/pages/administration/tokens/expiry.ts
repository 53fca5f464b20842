const day = 86_400_000;
export const lives = [
  { value: '1', title: '1 day', ms: day },
  { value: '30', title: '30 days', ms: 30 * day },
  { value: '90', title: '90 days', ms: 90 * day },
  { value: '365', title: '1 year', ms: 365 * day },
  { value: 'never', title: 'Never', ms: undefined },
] as const;
export type Life = (typeof lives)[number]['value'];

/** Returns the expiry time in ISO 8601; undefined if the token never expires. */
export function expiryOf(life: Life, now: number): string | undefined {
  const ms = lives.find(({ value }) => value === life)?.ms;
  return ms === undefined ? undefined : new Date(now + ms).toISOString();
}

export type TokenState = 'active' | 'expired' | 'revoked';

/** Returns the state as the service defines it: revoked takes precedence over expired. */
export function stateOfToken(
  { revoked_at, expires_at }: { revoked_at?: string; expires_at?: string },
  now: number,
): TokenState {
  if (revoked_at !== undefined) return 'revoked';
  return expires_at !== undefined && Date.parse(expires_at) <= now ? 'expired' : 'active';
}
