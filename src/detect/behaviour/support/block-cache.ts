/**
 * Caches values for the addresses of one block of events by position: a look-up costs a tenth of a look-up by
 * text. Values must not change until `forget` is called, or must be checked by the caller.
 */
export class BlockCache<T> {
  #block: number | undefined;
  #values: (T | undefined)[] = [];

  /** Returns the cached value; undefined without a cached value, and outside of a block. */
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
