import fc from 'fast-check';
import { expect, test } from 'vitest';
import { criticalities } from '../../src/contract/resources/asset.ts';
import { assetRisk, countedAlerts, riskLevelOf } from '../../src/inventory/asset-risk.ts';

const scores = fc
  .array(fc.integer({ min: 0, max: 100 }), { maxLength: 100 })
  .map((all) => all.sort((a, b) => b - a));

test('one alert alone is as risky as it says', () => {
  for (const score of [0, 5, 21, 47, 73, 99]) expect(assetRisk([score], 'medium')).toBe(score);
  expect(assetRisk([100], 'medium')).toBe(100);
  expect(assetRisk([], 'critical')).toBe(0);
});

test('criticality multiplies the odds', () => {
  expect(criticalities.map((criticality) => assetRisk([50], criticality))).toEqual([33, 50, 60, 67]);
  expect(assetRisk([100, 100], 'critical')).toBe(100);
});

test('a crowd of small alerts stays below one that is grave', () => {
  expect(assetRisk(Array(1000).fill(5), 'medium')).toBeLessThan(15);
  expect(riskLevelOf(assetRisk(Array(1000).fill(21), 'medium'))).not.toBe('critical');
});

test('more alerts, graver ones and more critical assets are never less risky, and all is from 0 to 100', () => {
  fc.assert(
    fc.property(
      scores,
      fc.constantFrom(...criticalities),
      fc.integer({ min: 0, max: 100 }),
      (all, criticality, more) => {
        const risk = assetRisk(all, criticality);
        expect(Number.isInteger(risk) && risk >= 0 && risk <= 100).toBe(true);
        const withMore = [...all, more].sort((a, b) => b - a);
        expect(assetRisk(withMore, criticality)).toBeGreaterThanOrEqual(risk);
        const rank = criticalities.indexOf(criticality);
        if (rank > 0) expect(assetRisk(all, criticalities[rank - 1]!)).toBeLessThanOrEqual(risk);
        expect(
          assetRisk([...all.slice(0, countedAlerts), ...all.slice(countedAlerts).map(() => 0)], criticality),
        ).toBe(risk);
      },
    ),
  );
});

test.each([
  [0, 'low'],
  [39, 'low'],
  [40, 'moderate'],
  [69, 'moderate'],
  [70, 'high'],
  [89, 'high'],
  [90, 'critical'],
  [100, 'critical'],
] as const)('%i is %s', (score, level) => {
  expect(riskLevelOf(score)).toBe(level);
});
