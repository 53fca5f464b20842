/**
 * What was found out about the addresses of one block of events, by their places: a tenth of a look-up by text. It is
 * for values that don't change until it is forgotten, or that are checked when they are taken.
 */
export class OfBlock<T> {
  #block: number | undefined;
  #values: (T | undefined)[] = [];

  /** Undefined where nothing is known, and for what is of no block. */
  get(block: number | undefined, place: number | undefined): T | undefined {
    return block === undefined || block !== this.#block ? undefined : this.#values[place!];
  }

  set(block: number | undefined, place: number | undefined, value: T): void {
    if (block === undefined) return;
    if (block !== this.#block) {
      this.#block = block;
      this.#values = [];
    }
    this.#values[place!] = value;
  }

  forget(): void {
    this.#block = undefined;
    this.#values = [];
  }
}
