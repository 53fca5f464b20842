import { KeyedSlots, slotCount } from './keyed-slots.ts';

/** A limit on the bytes held at any time. Taken bytes must be given back exactly once; see `Reservation`. */
export interface ByteLimit {
  /** Takes bytes and returns true, or returns false if the bytes do not fit. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

/** A limit on the bytes that all requests of one kind hold together. */
export class Budget implements ByteLimit {
  readonly limit: number;
  #used = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  get used(): number {
    return this.#used;
  }

  take(bytes: number): boolean {
    if (this.#used + bytes > this.limit) return false;
    this.#used += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#used -= bytes;
  }
}

/** A byte limit that applies to each name separately, in a table of fixed size. Names may share a slot of the table. */
export class BudgetOfEach {
  readonly #limit: number;
  readonly #slots = new KeyedSlots();
  readonly #used = new Float64Array(slotCount);

  constructor(limit: number) {
    this.#limit = limit;
  }

  of(name: string): ByteLimit {
    const slot = this.#slots.of(name);
    return {
      take: (bytes) => {
        if (this.#used[slot]! + bytes > this.#limit) return false;
        this.#used[slot] = this.#used[slot]! + bytes;
        return true;
      },
      give: (bytes) => {
        this.#used[slot] = this.#used[slot]! - bytes;
      },
    };
  }
}

/** The bytes of a budget that one request holds. */
export class Reservation {
  readonly #budget: ByteLimit;
  #held = 0;

  constructor(budget: ByteLimit) {
    this.#budget = budget;
  }

  get held(): number {
    return this.#held;
  }

  /**
   * Grows the reservation to at least `bytes` and returns true, or returns false, without taking bytes, if they do
   * not fit.
   */
  growTo(bytes: number): boolean {
    const more = bytes - this.#held;
    if (more <= 0) return true;
    if (!this.#budget.take(more)) return false;
    this.#held = bytes;
    return true;
  }

  /** Releases the bytes held beyond `bytes`. */
  shrinkTo(bytes: number): void {
    const less = this.#held - bytes;
    if (less <= 0) return;
    this.#budget.give(less);
    this.#held = bytes;
  }

  /** Moves the bytes to a new reservation and leaves this one empty. */
  handOver(): Reservation {
    const reservation = new Reservation(this.#budget);
    reservation.#held = this.#held;
    this.#held = 0;
    return reservation;
  }

  /** Releases all bytes. May be called repeatedly. */
  release(): void {
    this.shrinkTo(0);
  }
}
