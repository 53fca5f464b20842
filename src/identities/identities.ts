import type { Store, StoreReader } from '../store/store.ts';

/** Reads identities in the newest flushed state, so that a revocation takes effect immediately. */
export type IdentityReader = Pick<StoreReader, 'principal' | 'principalByName' | 'token' | 'holder'>;

/** Changes identities. Each change resolves when it is on disk. */
export type IdentityWriter = Pick<
  Store,
  'createPrincipal' | 'changePrincipal' | 'addToken' | 'rotateSession' | 'revokeToken' | 'noteTokenUse'
>;

/** Sources of time and new identifiers (UUIDv7). */
export interface Sources {
  /** Returns the time in epoch milliseconds. */
  now(): number;
  /**
   * Returns a new identifier.
   *
   * @param atMs - the time in the identifier, epoch milliseconds; default: now
   */
  newId(atMs?: number): string;
}
