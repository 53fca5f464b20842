import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { criticalities } from '../../src/contract/vocabulary.ts';
import { riskScore } from '../../src/inventory/alert-scoring.ts';
import {
  assetRisk,
  combine,
  countedAlerts,
  evidenceAt,
  evidenceOf,
  fallsAt,
  halfLifeMs,
  probabilityOf,
  rankOf,
  riskLevelOf,
  scoreOf,
  type Weight,
} from '../../src/inventory/model/asset-risk.ts';

const now = Date.UTC(2026, 10, 20);
const day = 24 * 3_600_000;

/** Returns an alert that was last seen `days` ago. */
const alert = (score: number, days = 0): Weight => ({ score, rank: rankOf(score, now - days * day) });
const gravestFirst = (alerts: readonly Weight[]) => [...alerts].sort((a, b) => b.rank - a.rank);
const risk = (alerts: readonly Weight[], criticality: (typeof criticalities)[number] = 'medium', at = now) =>
  assetRisk(gravestFirst(alerts), criticality, at);

const score = fc.integer({ min: 1, max: 100 });
/** Days since an alert was last seen; negative for times ahead of the clock. */
const days = fc.double({ min: -400, max: 20_000, noNaN: true });
const someAlert = fc.tuple(score, days).map(([points, age]) => alert(points, age));
const someAlerts = fc.array(someAlert, { maxLength: 80 });
const criticality = fc.constantFrom(...criticalities);

/** Expected values, computed by hand from the formula in the comments of the source. */
test.each([
  { alerts: [], criticality: 'critical', is: 0, level: 'low' },
  { alerts: [[5, 0]], criticality: 'medium', is: 5, level: 'low' },
  { alerts: [[21, 0]], criticality: 'low', is: 12, level: 'low' },
  { alerts: [[21, 0]], criticality: 'medium', is: 21, level: 'low' },
  { alerts: [[21, 0]], criticality: 'critical', is: 39, level: 'low' },
  { alerts: [[47, 0]], criticality: 'medium', is: 47, level: 'moderate' },
  { alerts: [[73, 0]], criticality: 'high', is: 80, level: 'high' },
  { alerts: [[99, 0]], criticality: 'low', is: 98, level: 'critical' },
  { alerts: [[99, 0]], criticality: 'critical', is: 100, level: 'critical' },
  { alerts: [[50, 0]], criticality: 'critical', is: 71, level: 'high' },
  { alerts: [[100, 0]], criticality: 'medium', is: 100, level: 'critical' },
  { alerts: [[99, 7]], criticality: 'medium', is: 90, level: 'critical' },
  { alerts: [[99, 14]], criticality: 'medium', is: 68, level: 'moderate' },
  { alerts: [[99, 21]], criticality: 'medium', is: 44, level: 'moderate' },
  { alerts: [[99, 28]], criticality: 'medium', is: 25, level: 'low' },
  { alerts: [[73, 7]], criticality: 'medium', is: 48, level: 'moderate' },
  { alerts: [[21, 7]], criticality: 'medium', is: 11, level: 'low' },
  { alerts: [[47, -1]], criticality: 'medium', is: 47, level: 'moderate' },
  // −ln 0.53 · (1 + 2^−1.5) = 0.859
  {
    alerts: [
      [47, 0],
      [47, 0],
    ],
    criticality: 'medium',
    is: 58,
    level: 'moderate',
  },
  // −ln 0.01 / 4 = 1.151 comes before −ln 0.53 = 0.635, which weighs 2^−1.5
  {
    alerts: [
      [47, 0],
      [99, 14],
    ],
    criticality: 'medium',
    is: 75,
    level: 'high',
  },
] as const)(
  'alerts $alerts (score, days) of a $criticality asset result in the risk $is',
  ({ alerts, criticality, is, level }) => {
    const all = alerts.map(([points, age]) => alert(points, age));
    expect(risk(all, criticality)).toBe(is);
    expect(riskLevelOf(is)).toBe(level);
  },
);

describe('the risk of an asset', () => {
  test('is a whole number from 0 to 100 for any alerts and times', () => {
    fc.assert(
      fc.property(someAlerts, criticality, days, (alerts, of, later) => {
        const value = risk(alerts, of, now + later * day);
        expect(Number.isInteger(value) && value >= 0 && value <= 100).toBe(true);
      }),
    );
  });

  test('is defined for scores out of range', () => {
    for (const wrong of [Number.NaN, -1, 0, Number.NEGATIVE_INFINITY]) expect(evidenceOf(wrong)).toBe(0);
    for (const wrong of [100, 101, Number.POSITIVE_INFINITY])
      expect(evidenceOf(wrong)).toBeCloseTo(-Math.log(0.001), 12);
    expect(risk(Array<Weight>(1000).fill(alert(100)), 'critical')).toBe(100);
  });

  test('never falls if an alert is added, more severe or later, or the criticality is higher', () => {
    fc.assert(
      fc.property(someAlerts, someAlert, score, days, criticality, (alerts, one, points, age, of) => {
        const before = risk([...alerts, one], of);
        expect(before).toBeGreaterThanOrEqual(risk(alerts, of));
        const seen = (one.rank - Math.log2(evidenceOf(one.score))) * halfLifeMs;
        const graver = Math.max(points, one.score);
        expect(risk([...alerts, { score: graver, rank: rankOf(graver, seen) }], of)).toBeGreaterThanOrEqual(before);
        const later = Math.max(seen, now - age * day);
        const newer = { score: one.score, rank: rankOf(one.score, later) };
        expect(risk([...alerts, newer], of)).toBeGreaterThanOrEqual(before);
        const more = criticalities[criticalities.indexOf(of) + 1] ?? of;
        expect(risk([...alerts, one], more)).toBeGreaterThanOrEqual(before);
      }),
    );
  });

  test('never rises as time passes', () => {
    fc.assert(
      fc.property(someAlerts, criticality, fc.double({ min: 0, max: 400, noNaN: true }), (alerts, of, later) => {
        expect(risk(alerts, of, now + later * day)).toBeLessThanOrEqual(risk(alerts, of));
      }),
    );
  });

  test('depends only on the most severe alerts, whose order does not change as time passes', () => {
    const past = fc.tuple(score, fc.double({ min: 0, max: 400, noNaN: true }));
    const all = fc.array(past, { maxLength: 80 });
    fc.assert(
      fc.property(all, criticality, fc.double({ min: 0, max: 400, noNaN: true }), (ages, of, later) => {
        const alerts = gravestFirst(ages.map(([points, age]) => alert(points, age)));
        const at = now + later * day;
        expect(assetRisk(alerts.slice(0, countedAlerts), of, at)).toBe(assetRisk(alerts, of, at));
        const left = alerts.map((each) => evidenceAt(each, at));
        expect(left).toEqual([...left].sort((a, b) => b - a));
      }),
    );
  });

  test('rises by at most one level because of one low alert, and stays low without other alerts', () => {
    for (const of of criticalities) expect(riskLevelOf(risk([alert(21)], of))).toBe('low');
    const levels = ['low', 'moderate', 'high', 'critical'];
    fc.assert(
      fc.property(someAlerts, criticality, (alerts, of) => {
        const [before, after] = [risk(alerts, of), risk([...alerts, alert(21)], of)];
        expect(after - before).toBeLessThanOrEqual(39);
        expect(levels.indexOf(riskLevelOf(after)) - levels.indexOf(riskLevelOf(before))).toBeLessThan(2);
      }),
    );
  });

  test('is at least high with one critical alert on a critical asset, for any confidence of the rule', () => {
    for (const confidence of [0, 0.01, 0.5, 1])
      expect(risk([alert(riskScore('critical', confidence))], 'critical')).toBeGreaterThanOrEqual(70);
  });

  test('is at most moderate with a thousand low alerts', () => {
    expect(risk(Array<Weight>(1000).fill(alert(5)))).toBeLessThan(15);
    expect(riskLevelOf(risk(Array<Weight>(1000).fill(alert(21))))).toBe('moderate');
  });

  test('falls at the predicted time, and not before', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(score, fc.double({ min: 0, max: 60, noNaN: true })), {
          minLength: 1,
          maxLength: 40,
        }),
        criticality,
        (all, of) => {
          const alerts = gravestFirst(all.map(([points, age]) => alert(points, age)));
          const at = (time: number) => assetRisk(alerts, of, time);
          const { evidence } = combine(alerts.map((each) => evidenceAt(each, now)));
          const next = fallsAt(evidence, of, now);
          if (next === undefined) expect(at(now)).toBe(0);
          else {
            expect(at(next)).toBe(at(now) - 1);
            if (next - 2000 > now) expect(at(next - 2000)).toBe(at(now));
          }
        },
      ),
    );
  });
});

test('a score that is converted to evidence, to a probability and back is unchanged', () => {
  for (let points = 0; points < 100; points++)
    expect(scoreOf(probabilityOf(evidenceOf(points), 'medium'))).toBe(points);
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
] as const)('a score of %i is %s', (score, level) => {
  expect(riskLevelOf(score)).toBe(level);
});
