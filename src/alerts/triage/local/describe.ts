import type { TriageModel } from '../../../contract/resources/triage-model.ts';
import { features } from './features.ts';
import { type Learned, localModel, Model, modelVersion } from './model.ts';
import { noOutcomes, type Outcomes } from './tally.ts';

/** Stored state of the model. */
export interface TriageState {
  readonly version: number;
  /** Number of alerts from which the model has learned. */
  readonly verdicts: number;
  readonly learned: readonly Learned[];
  readonly outcomes: Outcomes;
  /** Time when the model last learned from a verdict, epoch milliseconds; 0 means never. */
  readonly updatedAt: number;
}

const method =
  'Two logistic regressions over the same features: one decides whether an alert is malicious, the other whether an ' +
  'alert that is not malicious is a false positive. The points of a feature are its value times its weight; their ' +
  'sum is the log-odds. At a probability of at least 85% the verdict is true positive, from 50% suspicious, and ' +
  'below that benign or false positive. Until analysts have given five verdicts on alerts of the rule, the verdict ' +
  'is insufficient data. High and critical alerts are never rated harmless. Verdicts on other rules have no ' +
  'influence. Each analyst verdict moves the weights of the history features by one step of gradient descent, which ' +
  'is smaller for features seen often and regularised towards the initial weights. An alert counts once, with its ' +
  'current verdict. An alert keeps its verdict until the alert changes.';

/** Describes the model. `state` is undefined until the model has learned from a verdict. */
export function describeModel(state: TriageState | undefined, histories: number): TriageModel {
  const learned = state?.version === modelVersion ? state.learned : [];
  const model = new Model(learned);
  const outcomes = state?.outcomes ?? noOutcomes;
  const { exact, same_side, opposite, abstained } = outcomes;
  const decided = exact + same_side + opposite;
  const updatedAt = state?.updatedAt ?? 0;
  return {
    model: localModel,
    verdicts: state?.verdicts ?? 0,
    features: features.map(({ name, what, wrong, mistaken }, i) => ({
      name,
      description: what,
      wrong: { prior: wrong, now: model.weight(i, 'wrong') },
      mistaken: { prior: mistaken, now: model.weight(i, 'mistaken') },
      met: learned[i]?.mass ?? 0,
    })),
    validation: {
      judged: decided + abstained,
      ...outcomes,
      ...(decided === 0 ? {} : { accuracy: (exact + same_side) / decided }),
    },
    histories,
    ...(updatedAt === 0 ? {} : { updated_at: new Date(updatedAt).toISOString() }),
    method,
  };
}
