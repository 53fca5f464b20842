import { features } from './features.ts';
import { lessons, type Taught } from './tally.ts';

/** Increased when the meaning of features changes, so that old weights are discarded. */
export const modelVersion = 2;
export const localModel = `candor-local/${modelVersion}`;

/** Step size after the first verdict. */
const firstStep = 0.3;
/** Minimum step size after many verdicts, so that the model keeps adapting. */
const leastStep = 0.01;
/** L2 regularisation: share of a learned weight that is removed with each verdict that uses it. */
const pull = 0.02;
/** Maximum distance of an effective weight from its initial value. */
const maxLearned = 3;

/** Learned weights of one feature. */
export interface Learned {
  /** Amount added to the initial weight `wrong`. */
  readonly wrong: number;
  /** Amount added to the initial weight `mistaken`. */
  readonly mistaken: number;
  /** Sum of the squared values in the training data. Steps become smaller as this sum grows. */
  readonly mass: number;
}

/** The training step of one alert, with enough data to undo it. Features are identified by position. */
export interface Lesson {
  readonly model: number;
  readonly verdict: Taught;
  readonly places: readonly number[];
  readonly values: readonly number[];
  /** Changes of the weights `wrong`. */
  readonly wrong: readonly number[];
  /** Changes of the weights `mistaken`. */
  readonly mistaken: readonly number[];
}

export interface ModelScore {
  /** Log-odds that the alert is malicious. */
  readonly score: number;
  /** Contribution of each feature to the score. */
  readonly points: Float64Array;
  readonly pWrong: number;
  /** Probability, if the alert is not malicious, that it is a false positive rather than benign. */
  readonly pMistaken: number;
}

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

/**
 * Two logistic regressions over the same features: one decides whether an alert is malicious, the other whether an
 * alert that is not malicious is a false positive. (A nested dichotomy: each of the two decisions has reasons that are
 * easy to understand.)
 *
 * Learning is online and limited to the history of the same rule. Each alert with a verdict moves the weights by one
 * step of gradient descent. The step is smaller for features seen often (as in AdaGrad) and regularised towards the
 * initial weights (L2). An alert counts once, with its current verdict: the step is stored, and undone before the next
 * step. Therefore, changing a verdict a thousand times has the same effect as changing it once, and withdrawing the
 * verdict restores the weights.
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

  /** @param values - values of all features, from −1 to 1 */
  score(values: Float64Array): ModelScore {
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

  /** Returns the effective weight of a feature. */
  weight(place: number, of: 'wrong' | 'mistaken'): number {
    const learned = (of === 'wrong' ? this.#wrong : this.#mistaken)[place]!;
    return features[place]![of] + Math.min(maxLearned, Math.max(-maxLearned, learned));
  }

  /** Makes a training step towards the verdict, and returns the step. */
  learn(values: Float64Array, verdict: Taught): Lesson {
    const { wrong, ...rest } = lessons[verdict];
    const { pWrong, pMistaken } = this.score(values);
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
      mistaken: missedMistaken === undefined ? [] : places.map((i) => step(i, missedMistaken, this.#mistaken[i]!)),
    };
    this.#apply(lesson, 1);
    return lesson;
  }

  /** Undoes a training step. Steps of other model versions are ignored. */
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

/** Returns whether the `model` of a verdict is the local model, in any version. */
export const isLocal = (model: string): boolean => model.startsWith('candor-local/');
