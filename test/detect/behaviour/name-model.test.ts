import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { measure } from '../../../scripts/generated-names/measure.ts';
import { modelSource } from '../../../scripts/generated-names/source.ts';
import { train } from '../../../scripts/generated-names/train.ts';
import { measuredWith, seed } from '../../../scripts/train-generated-names.ts';
import { featureCount } from '../../../src/detect/behaviour/support/name-features.ts';
import {
  generatedFrom,
  generatedScore,
  modelVersion,
  nameModel,
} from '../../../src/detect/behaviour/support/name-model.ts';
import { registeredDomain } from '../../../src/net/registered-domain.ts';
import { dnsFiles, hasDnsFiles, realLookups } from './told-lookups.ts';

const file = new URL('../../../src/detect/behaviour/support/name-weights.json', import.meta.url);
/** The training words of many languages come from the runtime, and differ between versions of CLDR. */
const hasSameWords = modelVersion.endsWith(`cldr-${process.versions.cldr}`);

describe('the model of generated names', () => {
  it.skipIf(!hasSameWords)('is the output of its script for its seed', () => {
    const trained = train(seed);
    const source = modelSource(trained, measure(trained, measuredWith), seed);
    expect(source).toBe(readFileSync(file, 'utf8'));
  });

  it('has one weight per feature and a bias, in a file below 64 KiB', () => {
    expect(nameModel.weights).toHaveLength(featureCount + 1);
    expect(readFileSync(file).length).toBeLessThan(65_536);
  });

  it.each([7, 8])('keeps its detection and false-positive rates on unseen names (seed %i)', (measured) => {
    const { found, mistaken, falsePositives } = measure(nameModel, measured);
    expect(falsePositives).toBeLessThan(0.012);
    for (const { id, rate } of mistaken) expect([id, rate < 0.05]).toEqual([id, true]);
    const rates = Object.fromEntries(found.filter(({ heldOut }) => heldOut).map(({ id, rate }) => [id, rate]));
    const atLeast = {
      ...{ qakbot: 0.95, tinba: 0.95, emotet: 0.96, ranbyus: 0.95, nymaim: 0.87, virut: 0.8 },
      ...{ dyre: 0.99, gspy: 0.98, corebot: 0.97, chinad: 0.98, padcrypt: 0.9 },
      // The model recognises few pronounceable names and words. The detector's threshold for their share allows for
      // this.
      ...{ vawtrak: 0.42, symmi: 0.46, pushdo: 0.45, suppobox: 0, matsnu: 0 },
    };
    expect(Object.keys(rates).sort()).toEqual(Object.keys(atLeast).sort());
    for (const [id, least] of Object.entries(atLeast)) expect([id, rates[id]! >= least]).toEqual([id, true]);
    expect(rates.suppobox).toBeLessThan(0.05);
  });

  it('gives scores between 0 and 1 for any label', () => {
    for (const label of [
      '',
      'a',
      '-',
      '------',
      '0123456789',
      'ünïcödé-name',
      '\u0000\u0000\u0000\u0000\u0000\u0000',
      'x'.repeat(63),
    ]) {
      const score = generatedScore(label);
      expect(score).toBeGreaterThanOrEqual(0);
      expect(score).toBeLessThanOrEqual(1);
    }
    expect(generatedScore('xn--bcher-kva')).toBe(0);
    expect(generatedScore('qzxkj')).toBe(0);
  });

  it.skipIf(!hasDnsFiles)('misjudges less than 4 % of the domains that an office and a server queried', () => {
    const labels = new Set<string>();
    for (const path of [dnsFiles.lan, dnsFiles.internetHost])
      for (const { query } of realLookups(path)) {
        const label = registeredDomain(query)?.split('.')[0];
        if (label !== undefined && /[a-z]/.test(label) && label.length >= 6 && !query.endsWith('.arpa'))
          labels.add(label);
      }
    const mistaken = [...labels].filter((label) => generatedScore(label) >= generatedFrom);
    expect(labels.size).toBeGreaterThan(300);
    expect(mistaken.length / labels.size).toBeLessThan(0.04);
  });
});
