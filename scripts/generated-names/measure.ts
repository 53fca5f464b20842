import {
  generatedFrom,
  generatedScore,
  minLength,
  type NameModel,
} from '../../src/detect/behaviour/support/name-model.ts';
import { type Random, random } from '../traffic/random.ts';
import { families } from './families.ts';
import { ordinary } from './ordinary.ts';

/** The share (0–1) of a kind's names that the model classifies as generated. */
export interface Rate {
  readonly id: string;
  readonly heldOut: boolean;
  readonly rate: number;
}

export interface Rates {
  /** Rates by family. */
  readonly found: readonly Rate[];
  /** Rates by kind of ordinary names. */
  readonly mistaken: readonly Rate[];
  /** Rate of false positives for all held-out ordinary names, weighted by the shares of their kinds. */
  readonly falsePositives: number;
}

/** Number of names of each kind: the standard error of a rate of 1 % is then 0.2 percentage points. */
const names = 2000;

export function measure(model: NameModel, seed: number): Rates {
  const mistaken = ordinary.map((kind) => rate(kind));
  const share = ordinary.reduce((sum, kind) => sum + (kind.heldOut ? kind.share : 0), 0);
  const held = ordinary.reduce((sum, kind, i) => sum + (kind.heldOut ? kind.share * mistaken[i]!.rate : 0), 0);
  return { found: families.map((family) => rate(family)), mistaken, falsePositives: held / share };

  function rate(kind: { id: string; heldOut: boolean; make: (rng: Random) => string }): Rate {
    const rng = random(seed);
    let generated = 0;
    for (let count = 0; count < names; ) {
      const name = kind.make(rng);
      if (name.length < minLength) continue;
      count++;
      if (generatedScore(name, model) >= generatedFrom) generated++;
    }
    return { id: kind.id, heldOut: kind.heldOut, rate: generated / names };
  }
}
