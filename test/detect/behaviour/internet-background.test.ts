import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Detection, Due, Flow } from '../../../src/detect/behaviour/detector.ts';
import {
  InternetBackgroundDetector,
  internetBackgroundThresholds,
} from '../../../src/detect/behaviour/internet-background.ts';
import { detections, expectSameDetections, fed } from './same-told.ts';
import { aFlow, detectionsOf, hasRealFiles, officeFlows, realFiles, realFlows } from './told-flows.ts';

const hour = 3_600_000;
const midnight = Date.UTC(2026, 10, 16);

/** Returns flows of this many sources that each try one port, over a day. */
const noise = (sources: number, what: Partial<Flow> = {}, day = 0): Flow[] =>
  Array.from({ length: sources }, (_, i) =>
    aFlow({
      seq: day * 100_000 + i + 1,
      time: midnight + day * 24 * hour + Math.floor((i * 23 * hour) / sources),
      src: `203.0.${i >> 8}.${i & 255}`,
      dst: '198.51.100.9',
      srcHome: false,
      dstHome: true,
      port: [23, 23, 22, 445][i % 4]!,
      state: i % 2 === 0 ? 'attempt' : 'refused',
      answered: false,
      ...what,
    }),
  );
const detected = (flows: Iterable<Flow>) => detectionsOf(new InternetBackgroundDetector(), flows, 20);

it('background noise is reported once there are fifty sources, then for each completed day', () => {
  expect(detected(noise(internetBackgroundThresholds.sources - 1))).toEqual([]);
  const days = detected([...noise(400), ...noise(300, {}, 1), ...noise(200, {}, 2)]);
  expect(days.map(({ evidence }) => [evidence.day, evidence.day_is_over])).toEqual([
    ['2026-11-16', false],
    ['2026-11-16', true],
    ['2026-11-17', true],
  ]);
  expect(days[1]).toMatchObject({
    severity: 'informational',
    ends: { dst_ip: '198.51.100.9' },
    evidence: { sources: 400, targets: 1, attempts: 400, refused: 200, sources_error: 0 },
  });
  expect(days[1]?.evidence.top_ports).toEqual(['23/tcp: 200', '22/tcp: 100', '445/tcp: 100']);
});

describe('events that arrive up to an hour late around midnight', () => {
  /** Returns the number of new findings, and the evidence of the latest report. */
  const alertAfter = (flows: readonly Flow[]) => {
    const detector = new InternetBackgroundDetector();
    const reports: [Detection, Due][] = [];
    const evaluate = () => detector.evaluate((detection, due = 'new') => reports.push([detection, due]), true);
    for (const [n, flow] of flows.entries()) {
      detector.flow(flow);
      if (n % 7 === 0) evaluate();
    }
    evaluate();
    return { findings: reports.filter(([, due]) => due === 'new').length, latest: reports.at(-1)?.[0].evidence };
  };
  const around = (before: number, lastHour: number, after: number) => [
    ...noise(before).map((flow) => ({ ...flow, time: midnight + 12 * hour })),
    ...noise(lastHour, { dst: '198.51.100.10' }).map((flow, n) => ({ ...flow, time: midnight + 23 * hour + n })),
    ...noise(after, {}, 1).map((flow, n) => ({ ...flow, time: midnight + 24 * hour + n })),
  ];

  it.each([
    ['the first day has begun before', 60, 90, 20],
    ['the first day begins in its last hour', 20, 90, 20],
    ['both days are noisy', 60, 90, 80],
    ['only the second day is noisy', 10, 20, 80],
  ])('give the same alert in any order: %s', (_, before, lastHour, after) => {
    const flows = around(before, lastHour, after);
    const inOrder = alertAfter(flows);
    expect(inOrder.findings).toBeGreaterThan(0);
    const late = flows.slice(before);
    fc.assert(
      fc.property(fc.shuffledSubarray(late, { minLength: late.length }), (shuffled) => {
        expect(alertAfter([...flows.slice(0, before), ...shuffled])).toEqual(inOrder);
      }),
      { numRuns: 30 },
    );
  });
});

it('background noise is one finding per network, regardless of the number of hosts reached', () => {
  const many = noise(200).map((flow, i) => ({ ...flow, dst: `198.51.100.${i % 50}` }));
  const [one, ...more] = detected(many);
  expect(more).toEqual([]);
  expect(one).toMatchObject({ ends: {}, evidence: { network: '198.51.100.0/24' } });
  expect(detected(noise(100, { dst: '2001:db8:1:2::9' }))[0]?.evidence.network).toBe('2001:db8:1:2::/64');
});

it('background noise excludes answered, internal and outbound connections, and repeated reports', () => {
  expect(detected(noise(200, { answered: true, state: 'closed' }))).toEqual([]);
  expect(detected(noise(200, { srcHome: true }))).toEqual([]);
  expect(detected(noise(200, { dstHome: false }))).toEqual([]);
  expect(detected(noise(200, { isFirst: false }))).toEqual([]);
});

describe('the state of the detector', () => {
  it('gives the same findings for any order of events, after a merge of two states and after a restart', () => {
    expectSameDetections(() => new InternetBackgroundDetector(), noise(200));
  });

  it('is bounded: the number of sources is estimated, and the most frequent source is listed first', () => {
    const detector = fed(new InternetBackgroundDetector(), noise(5000));
    fed(detector, noise(900, { src: '192.0.2.1', port: 3389 }));
    const [found] = detections(detector);
    expect(found?.evidence.sources).toBeGreaterThan(4400);
    expect(found?.evidence.sources).toBeLessThan(5600);
    const [top = ''] = (found?.evidence.top_sources ?? []) as string[];
    expect(top).toMatch(/^192\.0\.2\.1: [89]\d\d$/);
  });

  it('for a network includes nothing from dropped networks, whether or not they were reported', () => {
    const later = noise(60, { dst: '198.51.1.1' }, 1);
    const expected = fed(new InternetBackgroundDetector({ maxNetworks: 1 }), later).state();
    for (const isReported of [false, true]) {
      const detector = fed(new InternetBackgroundDetector({ maxNetworks: 1 }), noise(300, { dst: '2001:db8::1' }));
      if (isReported) expect(detections(detector)).toHaveLength(1);
      expect(fed(detector, later).state()).toStrictEqual(expected);
      expect(detections(detector)).toHaveLength(1);
    }
  });

  it('is bounded in networks', () => {
    const detector = new InternetBackgroundDetector({ maxNetworks: 3 });
    detectionsOf(detector, Array.from({ length: 10 }, (_, i) => noise(5, { dst: `198.51.${i}.1` })).flat());
    expect(detector.dropped.forgotten).toBe(7);
  });
});

it('the detector reports one informational finding for a day of office traffic', () => {
  const found = detected(officeFlows({ days: 1 }));
  expect(found.map(({ severity }) => severity)).toEqual(['informational']);
});

describe.skipIf(!hasRealFiles)('recorded traffic', () => {
  it('gives three findings in three days for an Internet host', () => {
    const found = detected(realFlows(realFiles.internetHost, ['64.225.56.201/32']));
    expect(found.map(({ ends, severity }) => [ends.dst_ip, severity])).toEqual(
      Array(3).fill(['64.225.56.201', 'informational']),
    );
    expect(found[1]?.evidence.attempts).toBe(18_140);
    // Within three standard errors of the count in the file.
    const error = Math.abs(Number(found[1]?.evidence.sources) / 4311 - 1);
    expect(error).toBeLessThan(3 * Number(found[1]?.evidence.sources_error));
  });

  it('gives no findings for an office', () => {
    expect(detected(realFlows(realFiles.lan))).toEqual([]);
  });
});
