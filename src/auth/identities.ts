import type { Store, StoreReader } from '../store/store.ts';

/** Reads of identities. They see the newest flushed state, so that a revocation takes effect immediately. */
export type IdentityReader = Pick<StoreReader, 'principal' | 'principalByName' | 'token' | 'holder'>;

/** Changes of identities; each one resolves when it is on disk. */
export type IdentityWriter = Pick<
  Store,
  'createPrincipal' | 'changePrincipal' | 'addToken' | 'rotateSession' | 'revokeToken' | 'noteTokenUse'
>;

/** Sources of time and new identifiers (UUIDv7). */
export interface Sources {
  /** Epoch milliseconds. */
  now(): number;
  /** @param atMs - the time in the identifier; defaults to now */
  newId(atMs?: number): string;
}
