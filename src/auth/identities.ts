import type { Store, StoreReader } from '../store/store.ts';

/** What is known now. Reads are of the newest flushed state, so that a revocation counts at once. */
export type IdentityReader = Pick<StoreReader, 'principal' | 'principalByName' | 'token' | 'holder'>;

/** Changes of identities; each resolves once it is on disk. */
export type IdentityWriter = Pick<
  Store,
  'createPrincipal' | 'changePrincipal' | 'addToken' | 'rotateSession' | 'revokeToken' | 'noteTokenUse'
>;

/** Where time and new identifiers (UUIDv7) come from. */
export interface Sources {
  /** Epoch milliseconds. */
  now(): number;
  /** @param atMs - the time that it tells of; by default now */
  newId(atMs?: number): string;
}
