import { features } from './features.ts';
import { lessons, type Taught } from './tally.ts';

/** Grows when features change their meaning, so that old weights mean nothing to the new ones. */
export const modelVersion = 2;
export const localModel = `candor-local/${modelVersion}`;

/** The step after the first verdict, and what it shrinks to with many, so that the model goes on following its analysts. */
const firstStep = 0.3;
const leastStep = 0.01;
/** How much of what was learned of a weight is drawn back to its prior with each verdict that looks at it. */
const pull = 0.02;
/** However much was learned: a weight is in effect no further from its prior. */
const maxLearned = 3;

/** What was learned of one feature. */
export interface Learned {
  /** What is added to the prior weights. */
  readonly wrong: number;
  readonly mistaken: number;
  /** Sum of the squares of its values in what was learned from: the more, the smaller the steps. */
  readonly mass: number;
}

/** What one alert taught: enough to take it back. Features by their places. */
export interface Lesson {
  readonly model: number;
  readonly verdict: Taught;
  readonly places: readonly number[];
  readonly values: readonly number[];
  /** By how much the weights went. */
  readonly wrong: readonly number[];
  readonly mistaken: readonly number[];
}

export interface Judged {
  /** Log-odds that something is wrong, and what each feature added to them. */
  readonly score: number;
  readonly points: Float64Array;
  readonly pWrong: number;
  /** Where nothing is wrong: that the rule was mistaken, rather than that what it saw is harmless. */
  readonly pMistaken: number;
}

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

/**
 * Two logistic regressions over the same features, one after the other: is something wrong; and if nothing is, was the
 * rule mistaken. (A nested dichotomy: each question has plain reasons of its own.)
 *
 * Learning is online, and only of what verdicts on the same rule say, not of what rules have in common: each alert with a verdict moves the weights by one step of gradient descent, smaller for features
 * that were met often (as AdaGrad does), drawn towards the prior weights (L2). An alert has taught once, with the verdict
 * that it has now: the step that it made is kept with it, and taken back before it teaches anew. So whoever changes a
 * verdict a thousand times changed it once, and whoever takes it back leaves the weights as they were.
 */
export class Model {
  readonly #wrong = new Float64Array(features.length);
  readonly #mistaken = new Float64Array(features.length);
  readonly #mass = new Float64Array(features.length);

  constructor(learned: readonly Learned[] = []) {
    for (const [i, { wrong, mistaken, mass }] of learned.slice(0, features.length).entries()) {
      this.#wrong[i] = wrong;
      this.#mistaken[i] = mistaken;
      this.#mass[i] = mass;
    }
  }

  /** @param values - of all features, −1 to 1 */
  judge(values: Float64Array): Judged {
    const points = new Float64Array(values.length);
    let score = 0;
    let mistaken = 0;
    for (let i = 0; i < values.length; i++) {
      const value = values[i]!;
      if (value === 0) continue;
      points[i] = value * this.weight(i, 'wrong');
      score += points[i]!;
      mistaken += value * this.weight(i, 'mistaken');
    }
    return { score, points, pWrong: sigmoid(score), pMistaken: sigmoid(mistaken) };
  }

  /** The weight in effect. */
  weight(place: number, of: 'wrong' | 'mistaken'): number {
    const learned = (of === 'wrong' ? this.#wrong : this.#mistaken)[place]!;
    return features[place]![of] + Math.min(maxLearned, Math.max(-maxLearned, learned));
  }

  /** Takes a step towards the verdict, and tells which. */
  learn(values: Float64Array, verdict: Taught): Lesson {
    const { wrong, ...rest } = lessons[verdict];
    const { pWrong, pMistaken } = this.judge(values);
    const missed = wrong - pWrong;
    const missedMistaken = 'mistaken' in rest ? rest.mistaken - pMistaken : undefined;
    const places = Array.from(values.keys()).filter((i) => values[i] !== 0 && features[i]!.learns);
    const step = (i: number, by: number, learned: number) =>
      Math.max(leastStep, firstStep / Math.sqrt(1 + this.#mass[i]!)) * (by * values[i]! - pull * learned);
    const lesson: Lesson = {
      model: modelVersion,
      verdict,
      places,
      values: places.map((i) => values[i]!),
      wrong: places.map((i) => step(i, missed, this.#wrong[i]!)),
      mistaken:
        missedMistaken === undefined ? [] : places.map((i) => step(i, missedMistaken, this.#mistaken[i]!)),
    };
    this.#apply(lesson, 1);
    return lesson;
  }

  /** Takes the step back. What another version of the model learned is nothing to this one. */
  unlearn(lesson: Lesson): void {
    if (lesson.model === modelVersion) this.#apply(lesson, -1);
  }

  learned(): Learned[] {
    return features.map((_, i) => ({
      wrong: this.#wrong[i]!,
      mistaken: this.#mistaken[i]!,
      mass: this.#mass[i]!,
    }));
  }

  #apply({ places, values, wrong, mistaken }: Lesson, sign: 1 | -1): void {
    for (const [n, i] of places.entries()) {
      this.#wrong[i]! += sign * wrong[n]!;
      this.#mistaken[i]! += sign * (mistaken[n] ?? 0);
      this.#mass[i] = Math.max(0, this.#mass[i]! + sign * values[n]! ** 2);
    }
  }
}

/** Whether a verdict's `model` names the local one, of any version. */
export const isLocal = (model: string): boolean => model.startsWith('candor-local/');
