import type { TriageModel } from '../contract/resources/triage-model.ts';
import { features } from './features.ts';
import { type Learned, localModel, Model, modelVersion } from './model.ts';
import { noOutcomes, type Outcomes } from './validation.ts';

/** What is kept of the model. */
export interface TriageState {
  readonly version: number;
  /** Alerts that it has learned from. */
  readonly verdicts: number;
  readonly learned: readonly Learned[];
  readonly outcomes: Outcomes;
  /** Epoch milliseconds; 0 for never. */
  readonly updatedAt: number;
}

const method =
  'Two logistic regressions over the same features: whether something is wrong, and where nothing is, whether the rule ' +
  'was mistaken. The points of a feature are its value times its weight; their sum is the log-odds. From a probability ' +
  'of 85% on it is a true positive, from 50% on suspicious, below that benign or a false positive. Until analysts have ' +
  'judged five alerts of its rule, there is insufficient data; and an alert of high or critical severity is never called ' +
  'harmless. Verdicts on other rules say nothing. Each alert with a verdict moves the weights of the histories by ' +
  'one step of gradient descent, smaller the more often a feature was met, and drawn towards the prior weights. An alert ' +
  'counts once, with the verdict that it has now. A verdict stays on an alert until the alert changes.';

/** The model, explained. `state` is undefined before it has learned anything. */
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
