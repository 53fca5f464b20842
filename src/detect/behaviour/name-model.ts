import { featureCount, featuresOf, maxFeatures, shapeFeatures } from './name-features.ts';
import trained from './name-weights.json' with { type: 'json' };

/** Shorter labels tell nothing: half of them are abbreviations. */
export const minLength = 6;

/** From this score on a label counts as generated. */
export const generatedFrom = 0.8;

/** A model: a weight for each feature and the bias behind them, each a whole number of steps of `scale`. */
export interface NameModel {
  readonly weights: Int8Array;
  readonly scale: number;
}

/**
 * The one that `scripts/train-generated-names.ts` made. Its file has the weights as base64 of signed bytes, one for each
 * feature and the last for the bias, and its rates at a score of 0.8: ordinary names mistaken for generated, whose words,
 * surnames and languages were not in the training (syllables, short forms, openings and endings were), and names found
 * of families that were not in the training. Names of word lists look like names that people choose.
 */
export const nameModel: NameModel = { weights: unpack(trained.weights), scale: trained.scale };

/** Which model it is. */
export const modelVersion = trained.version;

const features = new Uint16Array(maxFeatures);

/**
 * How much a label looks as if a program had made it up, 0–1: logistic regression over its trigrams, bigrams and shape.
 * For labels in lower case without dots; those under `minLength`, and those of internationalised names (`xn--`), whose
 * letters are a code, give 0. Error rates, on families and words that the model was not trained on, are in
 * name-weights.json; of 587 domains that a real office and a real server asked for, 1.7 % count as generated.
 */
export function generatedScore(label: string, { weights, scale }: NameModel = nameModel): number {
  if (label.length < minLength || label.startsWith('xn--')) return 0;
  const count = featuresOf(label, features);
  const letters = count - shapeFeatures;
  let ofLetters = 0;
  for (let i = 0; i < letters; i++) ofLetters += weights[features[i]!]!;
  let sum = weights[featureCount]! + ofLetters / Math.sqrt(letters);
  for (let i = letters; i < count; i++) sum += weights[features[i]!]!;
  return 1 / (1 + Math.exp(-scale * sum));
}

/** Base64 without node's Buffer: this runs wherever the rest does. */
function unpack(text: string): Int8Array {
  return Int8Array.from(atob(text), (byte) => byte.charCodeAt(0));
}
