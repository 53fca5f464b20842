import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { beaconScore, countBars } from '../../../src/detect/behaviour/support/beacon-score.ts';
import { hasRealFiles, realFiles, realFlows } from './told-flows.ts';

const day = 86_400;
const window = { from: 1_000_000_000, to: 1_000_000_000 + day };
const every = (seconds: number, count = Math.floor(day / seconds) + 1) =>
  Array.from({ length: count }, (_, i) => window.from + i * seconds);
const same = (times: readonly number[], size = 300) => times.map(() => size);

describe('beacon score', () => {
  it('is 1 for connections at equal intervals, of equal size, all day', () => {
    const times = every(300);
    expect(beaconScore(times, same(times), window)).toMatchObject({
      score: 1,
      timestamps: 1,
      sizes: 1,
      histogram: 1,
      duration: 1,
      interval: 300,
      intervalDeviation: 0,
      size: 300,
    });
  });

  it('needs four distinct times', () => {
    expect(beaconScore(every(60, 3), [1, 1, 1], window)).toBeUndefined();
    expect(beaconScore([...every(60, 3), ...every(60, 3)], same(every(60, 6)), window)).toBeUndefined();
    expect(beaconScore(every(60, 4), same(every(60, 4)), window)).toBeDefined();
    expect(beaconScore(every(60, 4), same(every(60, 4)), { from: 5, to: 5 })).toBeUndefined();
  });

  it('ignores fractions of seconds, order and intervals of zero', () => {
    const times = every(300);
    const doubled = [...times, ...times].map((time, i) => time + (i % 10) / 100).reverse();
    expect(beaconScore(doubled, same(doubled), window)?.timestamps).toBe(1);
  });

  it('uses skewness if the quartiles, which are medians of the halves, are at least ten seconds apart', () => {
    // Intervals 10 20 30 | 40 | 70 80 90: quartiles 20, 40, 80; skewness 20/60; MAD 30 of 40.
    const times = [0];
    for (const interval of [10, 20, 30, 40, 70, 80, 90]) times.push(times.at(-1)! + interval);
    const shifted = times.map((time) => window.from + time);
    expect(beaconScore(shifted, same(shifted), window)?.timestamps).toBe(0.458);
    const narrow = [window.from];
    for (const interval of [10, 11, 12, 13, 16, 17, 18]) narrow.push(narrow.at(-1)! + interval);
    // Without skewness: (1 + (13 - 3) / 13) / 2.
    expect(beaconScore(narrow, same(narrow), window)?.timestamps).toBe(0.885);
  });

  it('has the subscore 0.5 for sizes if all sizes are zero', () => {
    const times = every(300);
    expect(beaconScore(times, same(times, 0), window)?.sizes).toBe(0.5);
  });

  it('counts earlier connections in the first part of the window and later connections in the last part', () => {
    const bars = countBars([window.from - 5000, window.from, window.to, window.to + 1, window.from + 3600], window);
    expect(bars[0]).toBe(2);
    expect(bars[1]).toBe(1);
    expect(bars[23]).toBe(2);
    expect(bars.reduce((sum, count) => sum + count, 0)).toBe(5);
  });

  it('has the histogram subscore 1 for an even distribution over the day, or two levels in at least eleven hours', () => {
    const bars = (counts: readonly number[]) => {
      const times = every(300);
      return beaconScore(times, same(times), window, counts)?.histogram;
    };
    const filled = (count: number, used: number) => Array.from({ length: 24 }, (_, i) => (i < used ? count : 0));
    expect(bars(filled(12, 24))).toBe(1);
    expect(bars(filled(12, 10))).toBe(0);
    expect(bars(filled(12, 11))).toBe(1);
    const alternating = Array.from({ length: 24 }, (_, i) => (i % 2 === 0 ? 100 : 10));
    expect(bars(alternating)).toBe(1);
    const rising = Array.from({ length: 24 }, (_, i) => 10 * (i + 1));
    expect(bars(rising)).toBeCloseTo(0.446, 3);
  });

  it('scores the duration with at least six used parts, by covered share or longest run across midnight', () => {
    const duration = (hours: readonly number[]) => {
      const times = hours.flatMap((hour) => [0, 600, 1200].map((s) => window.from + hour * 3600 + s));
      return beaconScore(times, same(times), window)?.duration;
    };
    expect(duration([0, 1, 2, 3, 4])).toBe(0);
    expect(duration([0, 1, 2, 3, 4, 5])).toBe(0.5);
    expect(duration([0, 1, 2, 21, 22, 23])).toBe(0.973);
    expect(duration([6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17])).toBe(1);
  });

  it('stays between 0 and 1 for any input', () => {
    const any = fc.array(fc.tuple(fc.integer({ min: -day, max: 2 * day }), fc.nat(2 ** 40)), {
      maxLength: 80,
    });
    fc.assert(
      fc.property(any, (some) => {
        const score = beaconScore(
          some.map(([at]) => window.from + at),
          some.map(([, size]) => size),
          window,
        );
        if (score === undefined) return;
        for (const part of [score.score, score.timestamps, score.sizes, score.histogram, score.duration]) {
          expect(part).toBeGreaterThanOrEqual(0);
          expect(part).toBeLessThanOrEqual(1);
        }
      }),
    );
  });

  it.skipIf(!hasRealFiles)("agrees with RITA about the beacon in RITA's test data", () => {
    // RITA: 0.963 for 331 connections, from the hour in which the window begins.
    const real = { from: 1_713_657_591, to: 1_713_743_991 };
    const seen = [...realFlows(realFiles.internetHost)].filter(
      ({ src, port, time }) =>
        src === '73.54.23.243' && port === 80 && time / 1000 >= Math.floor(real.from / 3600) * 3600,
    );
    expect(seen).toHaveLength(331);
    const score = beaconScore(
      seen.map(({ time }) => time / 1000),
      seen.map(({ srcBytes }) => srcBytes),
      real,
    );
    expect(score).toMatchObject({ score: 0.963, timestamps: 0.852, sizes: 1, histogram: 1, duration: 1 });
  });
});
