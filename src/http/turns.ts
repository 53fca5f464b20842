import { ServiceError } from '../errors.ts';
import { type LimitName, limits } from '../limits.ts';

/** Work of which only so much may be under way at once, of all callers: longer than a request usually takes. */
export class Turns {
  readonly #limit: TurnLimit;
  readonly #limitReached: (limit: LimitName) => void;
  #taken = 0;

  constructor(limit: TurnLimit, limitReached: (limit: LimitName) => void) {
    this.#limit = limit;
    this.#limitReached = limitReached;
  }

  /**
   * Takes a turn.
   *
   * @returns gives it back; harmless when repeated
   * @throws OVERLOADED while all are taken
   */
  take(): () => void {
    if (this.#taken >= limits[this.#limit]) {
      this.#limitReached(this.#limit);
      throw new ServiceError('OVERLOADED', `${this.#taken} of these are under way already; try again later`);
    }
    this.#taken++;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#taken--;
    };
  }
}

type TurnLimit = 'maxBulkChanges' | 'maxExports';
