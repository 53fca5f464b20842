import { ServiceError } from '../errors.ts';
import { type LimitName, limits } from '../limits.ts';

/** Limits concurrent requests of a slow kind: for all callers together and, for exports, for each caller. */
export class Semaphore {
  readonly #limit: TurnLimit;
  readonly #limitReached: (limit: LimitName) => void;
  /** Slots in use per caller; callers without slots are absent. */
  readonly #taken = new Map<string, number>();

  constructor(limit: TurnLimit, limitReached: (limit: LimitName) => void) {
    this.#limit = limit;
    this.#limitReached = limitReached;
  }

  /**
   * Takes a slot.
   *
   * @param caller - the id of a principal; if absent, the slot counts for all unauthenticated callers together
   * @returns a function that frees the slot; may be called repeatedly
   * @throws OVERLOADED while all slots are in use, RATE_LIMITED while the caller has its maximum number of
   * slots
   */
  take(caller = ''): () => void {
    let all = 0;
    for (const taken of this.#taken.values()) all += taken;
    if (all >= limits[this.#limit]) throw this.#refused('OVERLOADED', this.#limit, all);
    const own = this.#taken.get(caller) ?? 0;
    const ofEach = limitOfEach[this.#limit];
    if (ofEach !== undefined && own >= limits[ofEach]) throw this.#refused('RATE_LIMITED', ofEach, own);
    this.#taken.set(caller, own + 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const left = this.#taken.get(caller)! - 1;
      if (left === 0) this.#taken.delete(caller);
      else this.#taken.set(caller, left);
    };
  }

  #refused(code: 'OVERLOADED' | 'RATE_LIMITED', limit: LimitName, taken: number): ServiceError {
    this.#limitReached(limit);
    const whose = code === 'RATE_LIMITED' ? ' by this principal' : '';
    return new ServiceError(code, `${taken} requests of this kind${whose} are already in progress; try again later`);
  }
}

const limitOfEach: { readonly [Limit in TurnLimit]?: LimitName } = { maxExports: 'maxExportsPerPrincipal' };

type TurnLimit = 'maxBulkChanges' | 'maxExports';
