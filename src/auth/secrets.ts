import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * Tokens that name their record and carry a secret: `candor_<jti>_<secret>` is a long-lived bearer token,
 * `refresh_<jti>_<secret>` renews a session. The prefix lets scanners of leaked secrets recognise them.
 */
const prefixes = { long_lived: 'candor_', session: 'refresh_' } as const;

export type SecretKind = keyof typeof prefixes;

export interface PresentedSecret {
  readonly jti: string;
  readonly secret: string;
}

const form = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})_([A-Za-z0-9_-]{43})$/;

/** 256 random bits, base64url: 43 characters. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** The part that all secrets of a session share: 18 bytes, 144 bits. */
const familyLength = 24;

/** The next secret of a session: 112 new bits after the part that all its secrets share. */
export function renewSecret(secret: string): string {
  return secret.slice(0, familyLength) + randomBytes(14).toString('base64url');
}

/** What shows that a secret that isn't current was issued in its session, and not made up. */
export function familyOf(secret: string): string {
  return secret.slice(0, familyLength);
}

export function writeSecret(kind: SecretKind, { jti, secret }: PresentedSecret): string {
  return `${prefixes[kind]}${jti}_${secret}`;
}

/** Undefined for anything that `writeSecret` would not have written. */
export function parseSecret(kind: SecretKind, text: string): PresentedSecret | undefined {
  if (!isSecret(kind, text)) return undefined;
  const match = form.exec(text.slice(prefixes[kind].length));
  return match === null ? undefined : { jti: match[1]!, secret: match[2]! };
}

export function isSecret(kind: SecretKind, text: string): boolean {
  return text.startsWith(prefixes[kind]);
}

/** What is stored of a secret: SHA-256, hex. It has 256 bits of its own and needs no slow hash. */
export function secretHash(secret: string): string {
  return hash('sha256', secret);
}

/** Compares in constant time. */
export function matchesSecret(secret: string, storedHash: string): boolean {
  const presented = Buffer.from(secretHash(secret), 'latin1');
  const stored = Buffer.from(storedHash, 'latin1');
  return presented.length === stored.length && timingSafeEqual(presented, stored);
}
