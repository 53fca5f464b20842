import type { Rate, Rates } from './measure.ts';
import type { Trained } from './train.ts';

/** Returns the content of the file with a model. Rates are between 0 and 1. */
export function modelSource({ weights, scale }: Trained, rates: Rates, seed: number): string {
  const model = {
    version: `seed-${seed}-cldr-${process.versions.cldr}`,
    false_positives: rounded(rates.falsePositives),
    mistaken: heldOut(rates.mistaken),
    found: heldOut(rates.found),
    scale,
    weights: Buffer.from(weights.buffer, weights.byteOffset, weights.byteLength).toString('base64'),
  };
  return `${JSON.stringify(model, null, 2)}\n`;
}

const heldOut = (rates: readonly Rate[]) =>
  Object.fromEntries(rates.filter((one) => one.heldOut).map(({ id, rate }) => [id, rounded(rate)]));

const rounded = (rate: number) => Math.round(1000 * rate) / 1000;
