import { grown } from '../../sketch/grown.ts';
import { PairIndex } from '../../sketch/pair-index.ts';

/**
 * Evidence for services in the rows of a block: times, connections and protocol for each pair of codes, in
 * arrays indexed by the pair's number.
 */
export class Tally {
  readonly pairs = new PairIndex();
  first = new Float64Array(64);
  last = new Float64Array(64);
  /** Number of connections by pair. */
  connections = new Float64Array(64);
  /** Code of the last recognised application protocol by pair. */
  app = new Uint16Array(64);

  /** Returns the number of a pair and adds the time span from `first` to `last` to the pair. */
  at(a: number, b: number, first: number, last: number): number {
    const known = this.pairs.length;
    const number = this.pairs.of(a, b);
    if (number === known) {
      if (number === this.first.length) this.#grow();
      this.first[number] = first;
      this.last[number] = last;
      this.connections[number] = 0;
      this.app[number] = 0;
    } else {
      if (first < this.first[number]!) this.first[number] = first;
      if (last > this.last[number]!) this.last[number] = last;
    }
    return number;
  }

  #grow(): void {
    this.first = grown(this.first);
    this.last = grown(this.last);
    this.connections = grown(this.connections);
    this.app = grown(this.app);
  }
}
