import {
  featureCount,
  featuresOf,
  maxFeatures,
  shapeFeatures,
} from '../../src/detect/behaviour/support/name-features.ts';
import { minLength } from '../../src/detect/behaviour/support/name-model.ts';
import { type Random, random } from '../traffic/random.ts';
import { families } from './families.ts';
import { ordinary } from './ordinary.ts';

export interface Trained {
  /** One weight per feature, and the bias last. */
  readonly weights: Int8Array;
  /** Factor by which the weights are multiplied. */
  readonly scale: number;
}

/** Number of names of each class; further rounds use the same names in another order. */
const examples = 120_000;
const rounds = 4;
const rate = 0.15;
/** Pulls weights with few examples to zero. */
const decay = 2e-6;

/**
 * Trains the model: logistic regression by stochastic gradient descent with a step for each weight (AdaGrad: Duchi,
 * Hazan, Singer 2011), then rounded to 8 bits. The same seed gives the same bytes.
 */
export function train(seed: number): Trained {
  const rng = random(seed);
  const names = sample(rng);
  const weights = new Float64Array(featureCount + 1);
  const squares = new Float64Array(featureCount + 1).fill(1e-3);
  const features = new Uint16Array(maxFeatures);
  for (let round = 0; round < rounds; round++) {
    shuffle(rng, names);
    for (const { name, generated } of names) {
      const count = featuresOf(name, features);
      const letters = count - shapeFeatures;
      const part = 1 / Math.sqrt(letters);
      let sum = weights[featureCount]!;
      for (let i = 0; i < count; i++) sum += weights[features[i]!]! * (i < letters ? part : 1);
      const error = 1 / (1 + exp(-sum)) - (generated ? 1 : 0);
      for (let i = 0; i <= count; i++) {
        const at = i < count ? features[i]! : featureCount;
        const gradient = error * (i < letters ? part : 1) + decay * weights[at]!;
        squares[at]! += gradient * gradient;
        weights[at]! -= (rate * gradient) / Math.sqrt(squares[at]!);
      }
    }
  }
  return rounded(weights);
}

interface Example {
  readonly name: string;
  readonly generated: boolean;
}

function sample(rng: Random): Example[] {
  const makers = families.filter((family) => !family.heldOut);
  const shapes = ordinary.filter((shape) => !shape.heldOut);
  const all = shapes.reduce((sum, { share }) => sum + share, 0);
  const names: Example[] = [];
  for (const { make } of makers) add(make, examples / makers.length, true);
  for (const { make, share } of shapes) add(make, (examples * share) / all, false);
  return names;

  function add(make: (rng: Random) => string, count: number, generated: boolean): void {
    for (let i = 0; i < count; i++) {
      const name = make(rng);
      if (name.length >= minLength) names.push({ name, generated });
    }
  }
}

function shuffle(rng: Random, list: Example[]): void {
  for (let i = list.length - 1; i > 0; i--) {
    const j = rng.int(0, i + 1);
    const other = list[j]!;
    list[j] = list[i]!;
    list[i] = other;
  }
}

/**
 * Computes e^x with plain arithmetic: the last bit of Math.exp may differ between processors, and training would carry
 * the difference into the weights. The range is limited to the required one.
 */
function exp(x: number): number {
  const bounded = Math.max(-40, Math.min(40, x));
  const halvings = Math.round(bounded * Math.LOG2E);
  const rest = bounded - halvings * Math.LN2;
  let sum = 1;
  for (let i = 14; i > 0; i--) sum = 1 + (sum * rest) / i;
  for (let i = 0; i < Math.abs(halvings); i++) sum = halvings > 0 ? sum * 2 : sum / 2;
  return sum;
}

function rounded(weights: Float64Array): Trained {
  let largest = 0;
  for (const weight of weights) largest = Math.max(largest, Math.abs(weight));
  // Three significant digits, so that the file holds the scale exactly.
  const scale = Number((largest / 127).toPrecision(3)) || 1;
  return {
    weights: Int8Array.from(weights, (weight) => Math.max(-127, Math.min(127, Math.round(weight / scale)))),
    scale,
  };
}
