import { ServiceError } from '../errors.ts';
import { type LimitName, limits } from '../limits.ts';

/** Work of which only so much may be under way at once, of all callers: longer than a request usually takes. */
export class Turns {
  readonly #limit: TurnLimit;
  readonly #limitReached: (limit: LimitName) => void;
  /** Turns taken, by who has them; nobody who has none. */
  readonly #taken = new Map<string, number>();

  constructor(limit: TurnLimit, limitReached: (limit: LimitName) => void) {
    this.#limit = limit;
    this.#limitReached = limitReached;
  }

  /**
   * Takes a turn.
   *
   * @param caller - the id of a principal; without one, it is shared by all who have none
   * @returns gives it back; harmless when repeated
   * @throws OVERLOADED while all are taken, RATE_LIMITED while the caller has as many as one may
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
    const whose = code === 'RATE_LIMITED' ? ' of this principal' : '';
    return new ServiceError(code, `${taken} of these${whose} are under way already; try again later`);
  }
}

const limitOfEach: { readonly [Limit in TurnLimit]?: LimitName } = { maxExports: 'maxExportsPerPrincipal' };

type TurnLimit = 'maxBulkChanges' | 'maxExports';
