import { KeyedSlots, slotCount } from '../keyed-slots.ts';

/** Bytes that may be held at once. What is taken must be given back by whoever took it, once; see `Share`. */
export interface Held {
  /** False, with nothing taken, when it would not fit. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

/** Bytes that may be held at once, shared by all requests of one kind. */
export class Budget implements Held {
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

/** Bytes that each of many may hold at once, in a table of fixed size. */
export class BudgetOfEach {
  readonly #limit: number;
  readonly #slots = new KeyedSlots();
  readonly #used = new Float64Array(slotCount);

  constructor(limit: number) {
    this.#limit = limit;
  }

  of(name: string): Held {
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

/** What one request holds of a budget. */
export class Share {
  readonly #budget: Held;
  #held = 0;

  constructor(budget: Held) {
    this.#budget = budget;
  }

  get held(): number {
    return this.#held;
  }

  /** Makes the share at least `bytes`; false, with nothing taken, when that would not fit. */
  growTo(bytes: number): boolean {
    const more = bytes - this.#held;
    if (more <= 0) return true;
    if (!this.#budget.take(more)) return false;
    this.#held = bytes;
    return true;
  }

  /** Gives back what is held beyond `bytes`. */
  shrinkTo(bytes: number): void {
    const less = this.#held - bytes;
    if (less <= 0) return;
    this.#budget.give(less);
    this.#held = bytes;
  }

  /** Moves what is held to a new share; this one holds nothing any more. */
  handOver(): Share {
    const share = new Share(this.#budget);
    share.#held = this.#held;
    this.#held = 0;
    return share;
  }

  /** Gives everything back. Harmless when repeated. */
  release(): void {
    this.shrinkTo(0);
  }
}
