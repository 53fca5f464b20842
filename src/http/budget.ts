/**
 * Bytes that may be held at once, shared by all requests of one kind. What is taken must be given back by whoever
 * took it, once; `Share` does that for one request.
 */
export class Budget {
  readonly limit: number;
  #used = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  get used(): number {
    return this.#used;
  }

  /** False, with nothing taken, when it would not fit. */
  take(bytes: number): boolean {
    if (this.#used + bytes > this.limit) return false;
    this.#used += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#used -= bytes;
  }
}

/** What one request holds of a budget. */
export class Share {
  readonly #budget: Budget;
  #held = 0;

  constructor(budget: Budget) {
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

  /** Moves what is held to a new share; this one holds nothing any more. */
  handOver(): Share {
    const share = new Share(this.#budget);
    share.#held = this.#held;
    this.#held = 0;
    return share;
  }

  /** Gives everything back. Harmless when repeated. */
  release(): void {
    this.#budget.give(this.#held);
    this.#held = 0;
  }
}
