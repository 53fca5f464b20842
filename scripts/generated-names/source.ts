import { generatedFrom, minLength } from '../../src/detect/behaviour/name-model.ts';
import type { Rate, Rates } from './measure.ts';
import type { Trained } from './train.ts';

const width = 100;

/** The source file that holds a model. */
export function modelSource({ weights, scale }: Trained, rates: Rates, seed: number): string {
  const packed = Buffer.from(weights.buffer, weights.byteOffset, weights.byteLength).toString('base64');
  const lines = packed.match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
  return `/**
 * Weights of the model of generated names, written by scripts/train-generated-names.ts: seed ${seed}, vocabulary of CLDR
 * ${process.versions.cldr}.
 *
 * Error rates at a score of ${generatedFrom}, of labels of ${minLength} letters or more. Ordinary names mistaken for
 * generated: ${percent(rates.falsePositives)}. Their words, surnames and languages were not in the training; syllables, short
 * forms, openings and endings were. By kind:
 *
${table(rates.mistaken)}
 *
 * Names found, of families that were not in the training. Many of them differ from those that were only in length and
 * letters; those of word lists are not to be told from names that people choose:
 *
${table(rates.found)}
 */
export const version = 'seed-${seed}-cldr-${process.versions.cldr}';

/** What a step of a weight is worth. */
export const scale = ${scale};

/** Base64 of signed bytes: one for each feature, the last for the bias. */
export const weights = [
${lines.map((line) => `  '${line}',`).join('\n')}
].join('');
`;
}

function table(rates: readonly Rate[]): string {
  return rates
    .filter(({ heldOut }) => heldOut)
    .map(({ id, rate }) => ` *     ${id.padEnd(24)}${percent(rate).padStart(7)}`)
    .join('\n');
}

const percent = (rate: number) => `${(100 * rate).toFixed(1)} %`;
