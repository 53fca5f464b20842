import { createHash, timingSafeEqual } from 'node:crypto';
import { tokenIssued, tokenRevoked } from '../../contract/critical-events.ts';
import { tokenAttributes } from '../../contract/shown-attributes.ts';
import { isLive } from '../../contract/token-life.ts';
import { ServiceError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { jsonPage } from '../json-page.ts';
import { pageFrom, pageOf } from '../lists/list.ts';
import { tokenListAt } from '../lists/tokens.ts';
import type { Actor, ListPage, ListQuery, Token } from '../store.ts';
import { isAllByTime, placesById } from './id-pages.ts';
import type { Outbox } from './outbox.ts';
import type { Tables } from './tables.ts';
import { putToken, removeToken, tokenCount, tokensOf } from './token-index.ts';

/** How long an ended session can still be looked at. */
const keptAfterExpiryMs = 24 * 3600 * 1000;
/** Ended tokens removed with each one that is added or ends: more than there come, so that none pile up. */
const sweptAtOnce = 4;

/**
 * Plans a new token with its log entry. A session is a login, so the principal's `last_login_at` moves with it, and the
 * oldest session ends where there are too many.
 *
 * @param believedMs - by which expired tokens are removed: a leap of the clock must not remove any for good
 * @throws CONFLICT for a jti that exists and for one long-lived token too many, NOT_FOUND for an unknown principal.
 */
export function planToken(
  tables: Tables,
  outbox: Outbox,
  token: Token,
  by: Actor,
  nowMs: number,
  believedMs: number,
): () => { readonly ended: readonly string[] } {
  if (tables.tokens.doesExist(token.jti))
    throw new ServiceError('CONFLICT', `a token ${token.jti} exists`, { field: 'jti', reason: 'is taken' });
  const principal = tables.principals.get(token.principal_id);
  if (principal === undefined)
    throw new ServiceError('NOT_FOUND', `no principal ${token.principal_id}`, { field: 'principal_id' });
  const displaced = displacedBy(tables, token, believedMs);
  const ended = displaced.filter((each) => isLive(each, nowMs));
  outbox.requireRoom(1 + ended.length);
  return () => {
    sweep(tables, believedMs);
    for (const each of displaced) removeToken(tables, each);
    for (const { jti } of ended) outbox.add(tokenRevoked(jti, by.id), nowMs, by.call);
    putToken(tables, token);
    if (token.kind === 'session')
      tables.principals.putSync(principal.id, { ...principal, last_login_at: token.issued_at });
    outbox.add(tokenIssued(token.jti, by.id), nowMs, by.call);
    return { ended: ended.map(({ jti }) => jti) };
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
    revoke(tables, outbox, token, by, nowMs);
    return true;
  };
}

/** Sessions of a principal that can be used, oldest first. */
export function liveSessions(tables: Tables, principalId: string, nowMs: number): Token[] {
  return tokensOf(tables, principalId, 'session').filter((token) => isLive(token, nowMs));
}

/** Revokes a token that was not, with its outbox row. The oldest revoked ones go. Within a transaction. */
export function revoke(tables: Tables, outbox: Outbox, token: Token, by: Actor, nowMs: number): void {
  putToken(tables, { ...token, revoked_at: new Date(nowMs).toISOString() }, token);
  outbox.add(tokenRevoked(token.jti, by.id), nowMs, by.call);
  const excess = tokenCount(tables, token.principal_id, 'ended') - limits.maxTokensPerPrincipal;
  if (excess <= 0) return;
  for (const oldest of tokensOf(tables, token.principal_id, 'ended', Math.min(excess, sweptAtOnce)))
    removeToken(tables, oldest);
}

/** Plans to note when tokens were last presented; never earlier than is known, unless a clock that was ahead said it. */
export function planTokenUse(tables: Tables, uses: ReadonlyMap<string, string>, nowMs: number): () => void {
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
 * One page, with the exact total, of tokens as they are at `nowMs`: of what is shown of them. With a filter, every
 * token is read.
 */
export function listTokens(
  { tokens }: Tables,
  query: ListQuery,
  nowMs: number,
  cancelled: () => boolean,
): ListPage {
  const list = tokenListAt(nowMs);
  const rows = tokens.getRange().map(({ key, value }) => ({ id: key, item: value }));
  const { shown, ...rest } = isAllByTime(query, 'issued_at')
    ? pageFrom(list, query, (after, offset) => placesById(tokens, query, after, offset))
    : pageOf(list, rows, query, cancelled);
  const resources = shown.map(({ id }) => ({
    id,
    type: list.type,
    attributes: tokenAttributes(tokens.get(id)!),
  }));
  return { json: jsonPage(resources, query), ...rest };
}

/**
 * What a new token takes the place of: the oldest sessions of its principal, which are also the first to expire (more
 * than one only in a file from before there was a limit); or a long-lived token that has expired.
 *
 * @throws CONFLICT where none has.
 */
function displacedBy(tables: Tables, { principal_id, kind }: Token, nowMs: number): Token[] {
  const excess = tokenCount(tables, principal_id, kind) + 1 - limits.maxTokensPerPrincipal;
  if (excess <= 0) return [];
  if (kind === 'session') return tokensOf(tables, principal_id, kind, Math.min(excess, sweptAtOnce));
  const expired = tokensOf(tables, principal_id, kind).find((token) => !isLive(token, nowMs));
  if (expired !== undefined) return [expired];
  const reason = `has ${limits.maxTokensPerPrincipal} tokens, the most there can be; revoke one`;
  throw new ServiceError('CONFLICT', `principal ${principal_id} ${reason}`, {
    field: 'principal_id',
    reason,
  });
}

function sweep(tables: Tables, nowMs: number): void {
  for (const key of [...tables.tokenTimes.getKeys({ limit: sweptAtOnce })]) {
    if (key[0] + keptAfterExpiryMs > nowMs) return;
    const token = tables.tokens.get(key[1]);
    if (token === undefined) tables.tokenTimes.removeSync(key);
    else removeToken(tables, token);
  }
}

/** Compares in a time that tells nothing of where they differ. */
function sameText(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
