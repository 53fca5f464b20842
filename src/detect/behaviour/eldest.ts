/**
 * The keys of a map in the order in which they came, for those who delete what they are given. A Map passes its deleted
 * entries whenever it is gone through from its start, 50 µs at 16,000 keys; a walk that is kept stands behind them.
 */
export class Eldest<K> {
  readonly #map: ReadonlyMap<K, unknown>;
  #walk: IterableIterator<K>;

  constructor(map: ReadonlyMap<K, unknown>) {
    this.#map = map;
    this.#walk = map.keys();
  }

  /** The one that came first of those not given yet; undefined where the map is empty. */
  next(): K | undefined {
    const step = this.#walk.next();
    if (step.done !== true) return step.value;
    this.#walk = this.#map.keys();
    const again = this.#walk.next();
    return again.done === true ? undefined : again.value;
  }
}
