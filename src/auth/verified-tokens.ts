import { limits } from '../limits.ts';
import type { AccessClaims } from './access-token.ts';

/**
 * Access tokens whose signature was checked, by their text: checking one takes 200 µs, finding it here less than one.
 * Only what was verified gets in, so nobody fills it who has no session. Full, it lets the oldest go, which ends soonest.
 */
export class VerifiedTokens {
  /** Owned here; in the order in which they were verified. */
  readonly #claims = new Map<string, AccessClaims>();
  #epoch = 0;

  /** Tells verifications that began before `clear` from those that may be kept. */
  get epoch(): number {
    return this.#epoch;
  }

  get size(): number {
    return this.#claims.size;
  }

  /** @param endsBeforeMs - tokens that expire then or earlier count no more */
  get(token: string, endsBeforeMs: number): AccessClaims | undefined {
    const claims = this.#claims.get(token);
    if (claims === undefined || claims.expiresAt > endsBeforeMs) return claims;
    this.#claims.delete(token);
    return undefined;
  }

  /** @param epoch - that of when the verification began: with keys that count no more, it is worth nothing */
  add(token: string, claims: AccessClaims, epoch: number): void {
    if (epoch !== this.#epoch) return;
    if (this.#claims.size >= limits.maxVerifiedTokens) {
      const [oldest] = this.#claims.keys();
      if (oldest !== undefined) this.#claims.delete(oldest);
    }
    this.#claims.set(token, claims);
  }

  /** Other keys sign and verify from now on. */
  clear(): void {
    this.#claims.clear();
    this.#epoch++;
  }
}
