import type { Role } from '../contract/resources/principal.ts';

/** Who can sign in or be named by a token, as the store keeps it. */
export interface KnownPrincipal {
  readonly id: string;
  readonly name: string;
  readonly kind: 'user' | 'sensor' | 'auditor_client';
  readonly roles: readonly Role[];
  readonly status: 'active' | 'suspended';
  /** PHC string of argon2id; absent for principals without a password. */
  readonly password_hash?: string;
  readonly created_at: string;
}

/** A session (login to logout) or a long-lived token, as the store keeps it. */
export interface KnownToken {
  readonly jti: string;
  readonly principal_id: string;
  readonly kind: 'session' | 'long_lived';
  readonly name?: string;
  readonly roles: readonly Role[];
  /** SHA-256 (hex) of the secret. */
  readonly secret_hash: string;
  /** SHA-256 (hex) of what all refresh secrets of a session share; sessions only. */
  readonly family_hash?: string;
  readonly issued_at: string;
  readonly expires_at?: string;
  readonly revoked_at?: string;
}

/** Who causes a change. */
export interface Actor {
  readonly id: string;
  readonly name: string;
}

/** What is known now. Reads are of the newest flushed state, so that a revocation counts at once. */
export interface IdentityReader {
  principal(id: string): KnownPrincipal | undefined;
  principalByName(name: string): KnownPrincipal | undefined;
  token(jti: string): KnownToken | undefined;
}

/** Changes of identities; each resolves once it is on disk. */
export interface IdentityWriter {
  createPrincipal(principal: KnownPrincipal, by: Actor): Promise<void>;
  addToken(token: KnownToken, by: Actor): Promise<void>;
  rotateSession(jti: string, expectedHash: string, newHash: string, by: Actor): Promise<boolean>;
  revokeToken(jti: string, by: Actor): Promise<boolean>;
}

/** Where time and new identifiers (UUIDv7) come from. */
export interface Sources {
  /** Epoch milliseconds. */
  now(): number;
  newId(): string;
}
