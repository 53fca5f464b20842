import { PairIndex } from './pair-index.ts';

/**
 * What the rows of a block say of services: first and last time and more of each pair of codes, in arrays by the number
 * of the pair.
 */
export class Tally {
  readonly pairs = new PairIndex();
  first = new Float64Array(64);
  last = new Float64Array(64);
  /** Connections, and the code of the application protocol that was recognised last. */
  connections = new Float64Array(64);
  app = new Uint16Array(64);

  /** The number of a pair that a row from `first` to `last` shows. */
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
    const longer = (array: Float64Array<ArrayBuffer>) => {
      const copy = new Float64Array(2 * array.length);
      copy.set(array);
      return copy;
    };
    this.first = longer(this.first);
    this.last = longer(this.last);
    this.connections = longer(this.connections);
    const app = new Uint16Array(2 * this.app.length);
    app.set(this.app);
    this.app = app;
  }
}
