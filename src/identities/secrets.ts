import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * Prefixes of tokens. A token has a prefix, the id of its record and a secret: `candor_<jti>_<secret>` is a
 * long-lived bearer token, `refresh_<jti>_<secret>` a refresh token. The prefixes allow secret scanners to
 * recognise leaked tokens.
 */
const prefixes = { long_lived: 'candor_', session: 'refresh_' } as const;

export type SecretKind = keyof typeof prefixes;

export interface PresentedSecret {
  readonly jti: string;
  readonly secret: string;
}

const form = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})_([A-Za-z0-9_-]{43})$/;

/** Returns 256 random bits as 43 characters of base64url. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Length of the part that all secrets of a session share: 24 characters for 144 bits. */
const familyLength = 24;

/** Returns the next secret of a session: 112 new bits after the shared part. */
export function renewSecret(secret: string): string {
  return secret.slice(0, familyLength) + randomBytes(14).toString('base64url');
}

/**
 * Returns the part of a secret that all secrets of a session share. It proves that an outdated secret was
 * issued in the session and is not made up.
 */
export function familyOf(secret: string): string {
  return secret.slice(0, familyLength);
}

export function writeSecret(kind: SecretKind, { jti, secret }: PresentedSecret): string {
  return `${prefixes[kind]}${jti}_${secret}`;
}

/** Parses a token. Returns undefined for text that `writeSecret` would not produce. */
export function parseSecret(kind: SecretKind, text: string): PresentedSecret | undefined {
  if (!isSecret(kind, text)) return undefined;
  const match = form.exec(text.slice(prefixes[kind].length));
  return match === null ? undefined : { jti: match[1]!, secret: match[2]! };
}

export function isSecret(kind: SecretKind, text: string): boolean {
  return text.startsWith(prefixes[kind]);
}

/**
 * Returns the hash of a secret for storage: SHA-256 in hexadecimal. A secret has 256 random bits, so no slow
 * hash is needed.
 */
export function secretHash(secret: string): string {
  return hash('sha256', secret);
}

/** Returns whether a secret matches a stored hash, in constant time. */
export function matchesSecret(secret: string, storedHash: string): boolean {
  const presented = Buffer.from(secretHash(secret), 'latin1');
  const stored = Buffer.from(storedHash, 'latin1');
  return presented.length === stored.length && timingSafeEqual(presented, stored);
}
