import { createHash, createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import { type Role, roles } from '../contract/vocabulary.ts';
import { ServiceError } from '../errors.ts';
import { VerifiedTokens } from './verified-tokens.ts';

/** Default lifetime of an access token. Revoking the session invalidates the token earlier. */
export const accessTokenTtlMs = 15 * 60 * 1000;
/** Clock skew that is tolerated when the times in a token are checked. */
const skewSeconds = 5;
/** Type that distinguishes access tokens from other JWTs signed with the same key (RFC 9068, section 2.1). */
const tokenType = 'at+jwt';

/** Claims of an access token. `jti` identifies the session, and is the same for all tokens of a session. */
export interface AccessClaims {
  readonly sub: string;
  readonly jti: string;
  readonly roles: readonly Role[];
  /** When the token expires, epoch milliseconds. */
  readonly expiresAt: number;
}

type Jwk = Readonly<Record<string, string | number>>;

/** Ed25519 keys with their `kid`, as `Ledger.accessTokenKeys` returns them. */
export interface TokenKeys {
  /** The private JWK for signing. */
  readonly current: Jwk;
  /** Public JWKs accepted for verification: the current key and recently retired keys. */
  readonly verifying: readonly Jwk[];
}

export interface AccessTokens {
  /** @param nowMs - current time, epoch milliseconds */
  issue(claims: Omit<AccessClaims, 'expiresAt'>, nowMs: number): Promise<string>;
  /**
   * Verifies a token. Throws UNAUTHENTICATED unless the token has this issuer and audience and is currently
   * valid.
   */
  verify(token: string, nowMs: number): Promise<AccessClaims>;
  /** Replaces the keys. */
  use(keys: TokenKeys): void;
}

/**
 * Returns functions that issue and verify access tokens as EdDSA JWTs (RFC 8037, RFC 9068). External
 * verifiers can use the key set.
 */
export function accessTokens(
  keys: TokenKeys,
  { issuer, audience, ttlMs = accessTokenTtlMs }: { issuer: string; audience: string; ttlMs?: number },
): AccessTokens {
  let imported = importKeys(keys);
  const verified = new VerifiedTokens();

  const check = async (token: string, nowMs: number): Promise<AccessClaims> => {
    const { publicKeys } = imported;
    const { payload } = await jwtVerify(token, ({ kid }) => publicKeys.get(kid ?? '') ?? refuse(), {
      algorithms: ['EdDSA'],
      typ: tokenType,
      issuer,
      audience,
      clockTolerance: skewSeconds,
      currentDate: new Date(nowMs),
      requiredClaims: ['sub', 'jti', 'iat', 'exp', 'roles'],
    });
    const { sub, jti, iat, exp, roles } = payload;
    if (!isText(sub) || !isText(jti) || iat === undefined || exp === undefined || !isRoles(roles)) throw refused();
    // Rejects a token that was issued while the clock was ahead, because it would be valid for longer than its
    // lifetime.
    if (iat > nowMs / 1000 + skewSeconds) throw refused();
    return { sub, jti, roles, expiresAt: exp * 1000 };
  };

  return {
    use: (others) => {
      // The caller passes the keys every few seconds. Unchanged keys are not imported again.
      if (imported.digest === digestOf(others)) return;
      imported = importKeys(others);
      verified.clear();
    },
    issue: ({ sub, jti, roles }, nowMs) => {
      const { kid, privateKey } = imported;
      const issuedAt = Math.floor(nowMs / 1000);
      return new SignJWT({ roles: [...roles] })
        .setProtectedHeader({ alg: 'EdDSA', typ: tokenType, kid })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(sub)
        .setJti(jti)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + ttlMs / 1000)
        .sign(privateKey);
    },
    verify: async (token, nowMs) => {
      const known = verified.get(token, nowMs - skewSeconds * 1000);
      // A cached token that was issued in the future is not accepted. Such a token exists if the clock was
      // set back.
      if (known !== undefined && known.expiresAt <= nowMs + ttlMs + skewSeconds * 1000) return known;
      if (!isCanonical(token)) throw refused();
      const { epoch } = verified;
      try {
        const claims = await check(token, nowMs);
        verified.add(token, claims, epoch);
        return claims;
      } catch (error) {
        if (error instanceof errors.JWTExpired)
          throw new ServiceError('UNAUTHENTICATED', 'the access token has expired');
        if (error instanceof errors.JOSEError) throw refused();
        throw error;
      }
    },
  };
}

function importKeys(keys: TokenKeys) {
  const { current, verifying } = keys;
  const publicKeys = new Map<string, KeyObject>();
  for (const jwk of verifying)
    publicKeys.set(String(jwk.kid), createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' }));
  const privateKey = createPrivateKey({ key: current as JsonWebKey, format: 'jwk' });
  return { kid: String(current.kid), privateKey, publicKeys, digest: digestOf(keys) };
}

const digestOf = ({ current, verifying }: TokenKeys) =>
  createHash('sha256')
    .update(JSON.stringify([current, verifying]))
    .digest('hex');

function refuse(): never {
  throw refused();
}

const refused = () => new ServiceError('UNAUTHENTICATED', 'the access token is not valid');

/**
 * Returns whether the signature has the canonical encoding. The last of its 86 characters has four unused
 * bits, and decoders ignore padding, so the same token could otherwise be written in 32 ways.
 */
function isCanonical(token: string): boolean {
  const signature = token.slice(token.lastIndexOf('.') + 1);
  return Buffer.from(signature, 'base64url').toString('base64url') === signature;
}

const isText = (value: unknown): value is string => typeof value === 'string';

const isRoles = (value: unknown): value is Role[] =>
  Array.isArray(value) && value.every((role) => (roles as readonly unknown[]).includes(role));
