/**
 * Trains the model of generated names and writes it into the sources: `node scripts/train-generated-names.ts`.
 * Downloads nothing: malware names are generated from published descriptions (families.ts), ordinary names from words
 * of the project and the runtime (vocabulary.ts). Takes a few seconds. The same runtime produces the same file.
 */
import { writeFileSync } from 'node:fs';
import { measure } from './generated-names/measure.ts';
import { modelSource } from './generated-names/source.ts';
import { train } from './generated-names/train.ts';

export const seed = 1;
export const measuredWith = 7;

if (process.argv[1] === import.meta.filename) {
  const trained = train(seed);
  const rates = measure(trained, measuredWith);
  const source = modelSource(trained, rates, seed);
  writeFileSync(new URL('../src/detect/behaviour/support/name-weights.json', import.meta.url), source);
  for (const { id, heldOut, rate } of [...rates.found, ...rates.mistaken])
    console.log(`${(100 * rate).toFixed(1).padStart(6)} %  ${heldOut ? 'held out' : 'trained '}  ${id}`);
  console.log(`false positives ${(100 * rates.falsePositives).toFixed(2)} %, ${trained.weights.length} bytes`);
}
