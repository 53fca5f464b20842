import { createHash, timingSafeEqual } from 'node:crypto';
import { tokenIssued, tokenRevoked } from '../../contract/critical-events.ts';
import { ServiceError } from '../../errors.ts';
import type { Actor, Token } from '../store.ts';
import type { Outbox } from './outbox.ts';
import type { Tables } from './tables.ts';

/** How long an ended session can still be looked at. */
const keptAfterExpiryMs = 24 * 3600 * 1000;
/** Ended sessions removed with each new token: more than are added, so that none pile up. */
const sweptAtOnce = 4;

/**
 * Plans a new token with its log entry. A session is a login, so the principal's `last_login_at` moves with it.
 *
 * @throws CONFLICT for a jti that exists, NOT_FOUND for an unknown principal.
 */
export function planToken(
  tables: Tables,
  outbox: Outbox,
  token: Token,
  by: Actor,
  nowMs: number,
): () => void {
  if (tables.tokens.doesExist(token.jti))
    throw new ServiceError('CONFLICT', `a token ${token.jti} exists`, { field: 'jti', reason: 'is taken' });
  const principal = tables.principals.get(token.principal_id);
  if (principal === undefined)
    throw new ServiceError('NOT_FOUND', `no principal ${token.principal_id}`, { field: 'principal_id' });
  outbox.requireRoom();
  return () => {
    sweep(tables, nowMs);
    tables.tokens.putSync(token.jti, token);
    if (token.kind === 'session') {
      if (token.expires_at !== undefined)
        tables.tokenTimes.putSync([Date.parse(token.expires_at), token.jti], true);
      tables.principals.putSync(principal.id, { ...principal, last_login_at: token.issued_at });
    }
    outbox.add(tokenIssued(token.jti, by.id), nowMs);
  };
}

/**
 * Plans the exchange of a session's refresh secret. One that isn't current has been used before: the session ends,
 * whoever holds its other secrets. (The caller has seen that it is one of the session's.)
 */
export function planRotation(
  tables: Tables,
  outbox: Outbox,
  rotation: { readonly jti: string; readonly expectedHash: string; readonly newHash: string },
  by: Actor,
  nowMs: number,
): () => boolean {
  const token = live(tables, rotation.jti, nowMs);
  if (token?.kind !== 'session') return () => false;
  if (sameText(token.secret_hash, rotation.expectedHash))
    return () => {
      tables.tokens.putSync(token.jti, { ...token, secret_hash: rotation.newHash });
      return true;
    };
  const revoke = planRevocation(tables, outbox, rotation.jti, by, nowMs);
  return () => {
    revoke();
    return false;
  };
}

/** Plans a revocation with its log entry; the result is false when there is nothing to revoke. */
export function planRevocation(
  tables: Tables,
  outbox: Outbox,
  jti: string,
  by: Actor,
  nowMs: number,
): () => boolean {
  const token = tables.tokens.get(jti);
  if (token === undefined || token.revoked_at !== undefined) return () => false;
  outbox.requireRoom();
  return () => {
    tables.tokens.putSync(jti, { ...token, revoked_at: new Date(nowMs).toISOString() });
    outbox.add(tokenRevoked(token.jti, by.id), nowMs);
    return true;
  };
}

function live(tables: Tables, jti: string, nowMs: number): Token | undefined {
  const token = tables.tokens.get(jti);
  if (token === undefined || token.revoked_at !== undefined) return undefined;
  if (token.expires_at !== undefined && Date.parse(token.expires_at) <= nowMs) return undefined;
  return token;
}

function sweep(tables: Tables, nowMs: number): void {
  const ended = [...tables.tokenTimes.getKeys({ limit: sweptAtOnce })].filter(
    ([expires]) => expires + keptAfterExpiryMs <= nowMs,
  );
  for (const key of ended) {
    tables.tokenTimes.removeSync(key);
    tables.tokens.removeSync(key[1]);
  }
}

/** Compares in a time that tells nothing of where they differ. */
function sameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
