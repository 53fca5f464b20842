import { describe, expect, it } from 'vitest';
import type { Flow } from '../../../src/detect/behaviour/detector.ts';
import {
  InternetBackgroundDetector,
  internetBackgroundTerms,
} from '../../../src/detect/behaviour/internet-background.ts';
import { expectSameTold, fed, judged } from './same-told.ts';
import { aFlow, hasRealFiles, officeFlows, realFiles, realFlows, sightedOf } from './told-flows.ts';

const hour = 3_600_000;
const midnight = Date.UTC(2026, 10, 16);

/** So many sources that try a port each, over a day. */
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
const told = (flows: Iterable<Flow>) => sightedOf(new InternetBackgroundDetector(), flows, 20);

it('is told of when fifty sources came, and then of each day that is over', () => {
  expect(told(noise(internetBackgroundTerms.sources - 1))).toEqual([]);
  const days = told([...noise(400), ...noise(300, {}, 1), ...noise(200, {}, 2)]);
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

it('is one of a network, however many of its hosts are reached', () => {
  const many = noise(200).map((flow, i) => ({ ...flow, dst: `198.51.100.${i % 50}` }));
  const [one, ...more] = told(many);
  expect(more).toEqual([]);
  expect(one).toMatchObject({ ends: {}, evidence: { network: '198.51.100.0/24' } });
  expect(told(noise(100, { dst: '2001:db8:1:2::9' }))[0]?.evidence.network).toBe('2001:db8:1:2::/64');
});

it('is not what answers, comes from inside, goes elsewhere, or is reported again', () => {
  expect(told(noise(200, { answered: true, state: 'closed' }))).toEqual([]);
  expect(told(noise(200, { srcHome: true }))).toEqual([]);
  expect(told(noise(200, { dstHome: false }))).toEqual([]);
  expect(told(noise(200, { isFirst: false }))).toEqual([]);
});

describe('what is remembered', () => {
  it('is the same in any order, in parts, and after a restart', () => {
    expectSameTold(() => new InternetBackgroundDetector(), noise(200));
  });

  it('is capped: sources are estimated, and the most frequent are still named', () => {
    const detector = fed(new InternetBackgroundDetector(), noise(5000));
    fed(detector, noise(900, { src: '192.0.2.1', port: 3389 }));
    const [found] = judged(detector);
    expect(found?.evidence.sources).toBeGreaterThan(4400);
    expect(found?.evidence.sources).toBeLessThan(5600);
    const [top = ''] = (found?.evidence.top_sources ?? []) as string[];
    expect(top).toMatch(/^192\.0\.2\.1: [89]\d\d$/);
  });

  it('is capped in networks', () => {
    const detector = new InternetBackgroundDetector({ maxNetworks: 3 });
    sightedOf(detector, Array.from({ length: 10 }, (_, i) => noise(5, { dst: `198.51.${i}.1` })).flat());
    expect(detector.left.forgotten).toBe(7);
  });
});

it('is one thing of an office’s day', () => {
  const found = told(officeFlows({ days: 1 }));
  expect(found.map(({ severity }) => severity)).toEqual(['informational']);
});

describe.skipIf(!hasRealFiles)('recorded traffic', () => {
  it('of an internet host: three findings of three days', () => {
    const found = told(realFlows(realFiles.internetHost, ['64.225.56.201/32']));
    expect(found.map(({ ends, severity }) => [ends.dst_ip, severity])).toEqual(
      Array(3).fill(['64.225.56.201', 'informational']),
    );
    expect(found[1]?.evidence.attempts).toBe(18_140);
    // Within three standard errors of what a count of the file gives.
    const error = Math.abs(Number(found[1]?.evidence.sources) / 4311 - 1);
    expect(error).toBeLessThan(3 * Number(found[1]?.evidence.sources_error));
  });

  it('of an office has none', () => {
    expect(told(realFlows(realFiles.lan))).toEqual([]);
  });
});
