import type { Delta } from '../../projections/delta.ts';
import type { Projection } from '../../projections/inventory-engine.ts';
import type { Intel } from './intel/intel.ts';
import type { DetectTables } from './tables.ts';

/** Holds states of the projector's detectors, and hits of intelligence lists, until they are written. */
export class Detections implements Projection {
  readonly #states: DetectTables['behaviourState'];
  readonly #intel: Intel;
  #taken: Delta['states'] = [];

  constructor({ behaviourState }: Pick<DetectTables, 'behaviourState'>, intel: Intel) {
    this.#states = behaviourState;
    this.#intel = intel;
  }

  get dirty(): number {
    return this.#taken.length + this.#intel.dirty;
  }

  take({ states, hits }: Pick<Delta, 'states' | 'hits'>): void {
    this.#taken = [...this.#taken, ...states];
    this.#intel.addHits(hits);
  }

  write(): void {
    for (const [detector, state] of this.#taken)
      this.#states.putSync(detector, Buffer.from(state.buffer, state.byteOffset, state.length));
    this.#taken = [];
    this.#intel.write();
  }

  /** Drops the states. The hits are dropped with `Intel.forget`. */
  forget(): void {
    this.#taken = [];
  }
}
