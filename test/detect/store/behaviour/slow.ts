import { EveryFifth } from './every-fifth.ts';

/** A detector that takes 20 µs for each event, and finds nothing. */
export class Slow extends EveryFifth {
  override flow(): void {
    const until = performance.now() + 0.02;
    while (performance.now() < until);
  }
}
