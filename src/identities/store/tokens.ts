import { createHash, timingSafeEqual } from 'node:crypto';
import { criticalEvent } from '../../contract/critical-events.ts';
import { tokenAttributes } from '../../contract/shown-attributes.ts';
import { isLive } from '../../contract/token-life.ts';
import { isAllByTime, positionsById } from '../../database/id-pages.ts';
import { jsonPage } from '../../database/json-page.ts';
import { pageFrom, pageOf } from '../../database/lists/list.ts';
import { ServiceError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { Outbox } from '../../store/outbox.ts';
import type { Actor, ListPage, ListQuery, Token } from '../../store/store.ts';
import { tokenListAt } from '../lists.ts';
import type { IdentityTables } from './tables.ts';
import { putToken, removeToken, tokenCount, tokensOf } from './token-index.ts';

/** How long an expired session stays visible. */
const keptAfterExpiryMs = 24 * 3600 * 1000;
/**
 * Maximum number of expired or revoked tokens that are removed whenever a token is added or revoked. It is greater
 * than one, so that the table does not grow.
 */
const sweptAtOnce = 4;

/**
 * Plans a new token with its log entry. A session is a login, so it updates the principal's `last_login_at`,
 * and ends the oldest session if there are too many.
 *
 * @param believedMs - current time for removing expired tokens, without jumps of the clock
 * @throws CONFLICT for a jti that already exists and for a long-lived token above the limit; NOT_FOUND for an
 * unknown principal
 */
export function planToken(
  tables: IdentityTables,
  outbox: Outbox,
  token: Token,
  by: Actor,
  nowMs: number,
  believedMs: number,
): () => { readonly ended: readonly string[] } {
  if (tables.tokens.doesExist(token.jti))
    throw new ServiceError('CONFLICT', `jti: a token ${token.jti} exists`, {
      field: 'jti',
      reason: 'is taken',
    });
  const principal = tables.principals.get(token.principal_id);
  if (principal === undefined)
    throw new ServiceError('NOT_FOUND', `there is no principal ${token.principal_id}`, {
      field: 'principal_id',
    });
  const displaced = displacedBy(tables, token, believedMs);
  const ended = displaced.filter((each) => isLive(each, nowMs));
  outbox.requireRoom(1 + ended.length);
  return () => {
    sweep(tables, believedMs);
    for (const each of displaced) removeToken(tables, each);
    for (const { jti } of ended) outbox.add(criticalEvent('token.revoked', jti, {}, by.id), nowMs, by.call);
    putToken(tables, token);
    if (token.kind === 'session')
      tables.principals.putSync(principal.id, { ...principal, last_login_at: token.issued_at });
    outbox.add(criticalEvent('token.issued', token.jti, {}, by.id), nowMs, by.call);
    return { ended: ended.map(({ jti }) => jti) };
  };
}

/**
 * Plans the exchange of a session's refresh secret. A secret that is not current has been used before, so the
 * session ends for all holders. The caller must have verified that the secret belongs to the session.
 */
export function planRotation(
  tables: IdentityTables,
  outbox: Outbox,
  rotation: { readonly jti: string; readonly expectedHash: string; readonly newHash: string },
  by: Actor,
  nowMs: number,
): () => boolean {
  const token = tables.tokens.get(rotation.jti);
  if (token?.kind !== 'session' || !isLive(token, nowMs)) return () => false;
  if (sameText(token.secret_hash, rotation.expectedHash))
    return () => {
      putToken(tables, { ...token, secret_hash: rotation.newHash }, token);
      return true;
    };
  const revoke = planRevocation(tables, outbox, rotation.jti, by, nowMs);
  return () => {
    revoke();
    return false;
  };
}

/** Plans a revocation with its log entry. The plan returns false if there is no token to revoke. */
export function planRevocation(
  tables: IdentityTables,
  outbox: Outbox,
  jti: string,
  by: Actor,
  nowMs: number,
): () => boolean {
  const token = tables.tokens.get(jti);
  if (token === undefined || token.revoked_at !== undefined) return () => false;
  outbox.requireRoom();
  return () => {
    revoke(tables, outbox, token, by, nowMs);
    return true;
  };
}

/** Returns the usable sessions of a principal, oldest first. */
export function liveSessions(tables: IdentityTables, principalId: string, nowMs: number): Token[] {
  return tokensOf(tables, principalId, 'session').filter((token) => isLive(token, nowMs));
}

/** Revokes a token, with its outbox row. Removes the oldest revoked tokens. Must be called in a transaction. */
export function revoke(tables: IdentityTables, outbox: Outbox, token: Token, by: Actor, nowMs: number): void {
  putToken(tables, { ...token, revoked_at: new Date(nowMs).toISOString() }, token);
  outbox.add(criticalEvent('token.revoked', token.jti, {}, by.id), nowMs, by.call);
  const excess = tokenCount(tables, token.principal_id, 'ended') - limits.maxTokensPerPrincipal;
  if (excess <= 0) return;
  for (const oldest of tokensOf(tables, token.principal_id, 'ended', Math.min(excess, sweptAtOnce)))
    removeToken(tables, oldest);
}

/**
 * Plans to record when tokens were last presented. A recorded time never decreases, unless
 * it is from a clock that was ahead.
 */
export function planTokenUse(tables: IdentityTables, uses: ReadonlyMap<string, string>, nowMs: number): () => void {
  const latest = new Date(nowMs + limits.maxClockJumpMs).toISOString();
  return () => {
    for (const [jti, usedAt] of uses) {
      const token = tables.tokens.get(jti);
      if (token === undefined) continue;
      const { last_used_at: before = '' } = token;
      if (before >= usedAt && before <= latest) continue;
      putToken(tables, { ...token, last_used_at: usedAt }, token);
    }
  };
}

/**
 * Returns one page of tokens as of `nowMs`, without hashes, with the exact total. With a filter, every token
 * is read.
 */
export function listTokens(
  { tokens }: IdentityTables,
  query: ListQuery,
  nowMs: number,
  cancelled: () => boolean,
): ListPage {
  const list = tokenListAt(nowMs);
  const rows = tokens.getRange().map(({ key, value }) => ({ id: key, item: value }));
  const { shown, ...rest } = isAllByTime(query, 'issued_at')
    ? pageFrom(list, query, (after, offset) => positionsById(tokens, query, after, offset))
    : pageOf(list, rows, query, cancelled);
  const resources = shown.map(({ id }) => ({
    id,
    type: list.type,
    attributes: tokenAttributes(tokens.get(id)!),
  }));
  return { json: jsonPage(resources, query), ...rest };
}

/**
 * Returns the tokens that a new token replaces: the oldest sessions of its principal, which also expire
 * first, or an expired long-lived token. There is more than one session to replace only in a file from before
 * the limit existed.
 *
 * @throws CONFLICT for a long-lived token above the limit if no long-lived token has expired
 */
function displacedBy(tables: IdentityTables, { principal_id, kind }: Token, nowMs: number): Token[] {
  const excess = tokenCount(tables, principal_id, kind) + 1 - limits.maxTokensPerPrincipal;
  if (excess <= 0) return [];
  if (kind === 'session') return tokensOf(tables, principal_id, kind, Math.min(excess, sweptAtOnce));
  const expired = tokensOf(tables, principal_id, kind).find((token) => !isLive(token, nowMs));
  if (expired !== undefined) return [expired];
  const reason = `has ${limits.maxTokensPerPrincipal} tokens, which is the limit; revoke one`;
  throw new ServiceError('CONFLICT', `principal ${principal_id} ${reason}`, {
    field: 'principal_id',
    reason,
  });
}

function sweep(tables: IdentityTables, nowMs: number): void {
  for (const key of [...tables.tokenTimes.getKeys({ limit: sweptAtOnce })]) {
    if (key[0] + keptAfterExpiryMs > nowMs) return;
    const token = tables.tokens.get(key[1]);
    if (token === undefined) tables.tokenTimes.removeSync(key);
    else removeToken(tables, token);
  }
}

/** Returns whether texts are equal, in constant time. */
function sameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
