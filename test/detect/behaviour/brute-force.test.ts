import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BruteForceDetector, bruteForceThresholds } from '../../../src/detect/behaviour/brute-force.ts';
import type { Flow } from '../../../src/detect/behaviour/detector.ts';
import { detections, expectSameDetections, fed } from './same-told.ts';
import { aFlow, detectionsOf, hasRealFiles, officeFlows, realFiles, realFlows, reports } from './told-flows.ts';

const hour = 3_600_000;
const start = Date.UTC(2026, 10, 16, 8);
const outside = { src: '203.0.113.7', dst: '10.0.0.9', srcHome: false, dstHome: true, port: 22 };
const inside = { ...outside, src: '10.0.0.5', srcHome: true };

const logins = (count: number, what: Partial<Flow> = {}, gapMs = 20_000): Flow[] =>
  Array.from({ length: count }, (_, i) =>
    aFlow({
      ...outside,
      seq: i + 1,
      time: start + i * gapMs,
      duration: 3000 + (i % 5) * 100,
      srcBytes: 2000 + (i % 7) * 8,
      dstBytes: 2400 + (i % 3) * 10,
      ...what,
    }),
  );
const session = (what: Partial<Flow> = {}): Flow =>
  aFlow({
    ...outside,
    seq: 9000,
    time: start + hour,
    duration: 1_200_000,
    srcBytes: 60_000,
    dstBytes: 90_000,
    ...what,
  });
const detected = (flows: Iterable<Flow>) => detectionsOf(new BruteForceDetector(), flows, 50);

describe('brute force from outside', () => {
  it('is reported from the 30th short login of similar size within an hour', () => {
    expect(detected(logins(bruteForceThresholds.attempts - 1))).toEqual([]);
    const [found, ...more] = detected(logins(bruteForceThresholds.attempts));
    expect(more).toEqual([]);
    expect(found).toMatchObject({
      severity: 'medium',
      ends: { src_ip: '203.0.113.7', dst_ip: '10.0.0.9', dst_port: 22, transport: 'tcp' },
      evidence: {
        service: 'SSH',
        attempts: 30,
        sources: 1,
        similar_share: 1,
        top_sources: ['203.0.113.7: 30'],
      },
    });
    expect(detected(logins(60, {}, 5 * 60_000))).toEqual([]);
  });

  it('is one finding per service if there are many sources', () => {
    const many = logins(200).map((flow, i) => ({ ...flow, src: `203.0.113.${i % 40}` }));
    const found = detected(many);
    expect(found).toHaveLength(1);
    expect(found[0]?.title).toMatch(/^Password guessing: \d+ Internet addresses at SSH of 10\.0\.0\.9$/);
    expect(found[0]?.ends.src_ip).toBeUndefined();
    expect(detected(logins(59).map((flow, i) => ({ ...flow, src: `203.0.113.${i % 40}` })))).toEqual([]);
    expect(detected(logins(60).map((flow, i) => ({ ...flow, src: `203.0.113.${i % 4}` })))).toEqual([]);
  });

  it('is reported again when other sources join, otherwise after a day, with the figures of that day', () => {
    const days = [0, 2, 12, 26].flatMap((hours) =>
      logins(50, { src: `203.0.113.${hours}` }).map((flow) => ({ ...flow, time: flow.time + hours * hour })),
    );
    expect(detected(days).map(({ evidence }) => evidence.sources)).toEqual([1, 2, 2]);
  });

  it('is not reported for a source whose attempts are older than the window', () => {
    const at = (from: number, source: number, count: number) =>
      logins(count, { src: `203.0.113.${source}` }).map((flow) => ({ ...flow, time: flow.time + from * hour }));
    const flows = [...at(0, 0, 31), ...at(30, 0, 10), ...at(30, 1, 29), ...at(30, 2, 29), ...at(60, 0, 10)];
    flows.sort((a, b) => a.time - b.time);
    for (const every of [1, 1000])
      expect(detectionsOf(new BruteForceDetector(), flows, every)).toMatchObject([
        { evidence: { attempts: every === 1 ? 30 : 31 } },
      ]);
  });

  it('is reported with the same maxima, however often the detector is evaluated', () => {
    const burst = fc.record({ from: fc.nat(60), source: fc.nat(3), count: fc.integer({ min: 10, max: 60 }) });
    fc.assert(
      fc.property(
        fc.array(burst, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 2, max: 800 }),
        (bursts, every) => {
          const flows = bursts
            .flatMap(({ from, source, count }) =>
              logins(count, { src: `203.0.113.${source}` }).map((flow) => ({ ...flow, time: flow.time + from * hour })),
            )
            .sort((a, b) => a.time - b.time);
          const most = (often: number) => {
            const detector = new BruteForceDetector();
            const all = reports(detector, flows, (flow) => detector.flow(flow), often);
            return Math.max(0, ...all.map(({ detection }) => detection.evidence.attempts as number));
          };
          expect(most(every)).toBe(most(1));
        },
      ),
    );
  });

  it('is more severe if a session that is not a failed login follows', () => {
    const [one, two] = detected([...logins(40), session()]);
    expect([one, two].map((found) => found?.severity).sort()).toEqual(['high', 'medium']);
    const high = [one, two].find((found) => found?.severity === 'high');
    expect(high).toMatchObject({
      ends: { src_ip: '203.0.113.7', dst_ip: '10.0.0.9' },
      evidence: { session_bytes: 150_000, session_seconds: 1200, attempts: 40 },
    });
    expect(high?.events.at(-1)).toEqual({ table: 'network', seq: 9000 });
    const severities = (flows: Flow[]) => detected(flows).map(({ severity }) => severity);
    expect(severities([...logins(40), session({ duration: 60_000, srcBytes: 6000, dstBytes: 9000 })])).toEqual([
      'medium',
    ]);
    expect(severities([...logins(40), session({ time: start - hour })])).toEqual(['medium']);
    expect(severities([...logins(19), session()])).toEqual([]);
    expect(severities([...logins(40), session({ src: '203.0.113.8' })])).toEqual(['medium']);
  });

  it('excludes connections of varied sizes, unanswered connections, handshakes and other services', () => {
    const sizes = logins(100).map((flow, i) => ({ ...flow, srcBytes: 400 * 1.04 ** i, dstBytes: 0 }));
    expect(detected(sizes)).toEqual([]);
    expect(detected(logins(100, { answered: false, state: 'refused' }))).toEqual([]);
    expect(detected(logins(100, { srcBytes: 84, dstBytes: 44 }))).toEqual([]);
    expect(detected(logins(100, { port: 80 }))).toEqual([]);
    expect(detected(logins(100, { isFirst: false }))).toEqual([]);
    expect(detected(logins(100, { duration: 600_000 }))).toEqual([]);
  });
});

describe('brute force from a home host', () => {
  it('is a separate finding: medium in the learning period, and high afterwards', () => {
    expect(detected(logins(40, inside))).toMatchObject([{ severity: 'medium', ends: { src_ip: '10.0.0.5' } }]);
    const later = [...logins(1), ...logins(40, inside).map((flow) => ({ ...flow, time: flow.time + 30 * hour }))];
    expect(detected(later)).toMatchObject([{ severity: 'high' }]);
  });

  it('is reported at services for machine logins only if frequent, uniform and new', () => {
    const known = logins(1);
    const later = (flows: Flow[]) => [...known, ...flows.map((flow) => ({ ...flow, time: flow.time + 30 * hour }))];
    const database = { ...inside, port: 5432 };
    expect(detected(logins(400, database, 5000))).toEqual([]);
    expect(detected(later(logins(150, database, 5000)))).toEqual([]);
    expect(detected(later(logins(400, database, 5000)))).toMatchObject([{ severity: 'high' }]);
    const work = logins(400, database, 5000).map((flow, i) => ({ ...flow, dstBytes: 500 + (i % 40) * 300 }));
    expect(detected(later(work))).toEqual([]);
    const polls = Array.from({ length: 48 }, (_, h) =>
      logins(300, database, 10_000).map((flow) => ({ ...flow, time: flow.time + h * hour })),
    ).flat();
    expect(detected(polls)).toEqual([]);
  });
});

describe('the state of the detector', () => {
  it('gives the same findings for any order of events, after a merge of two states and after a restart', () => {
    const distributed = logins(120).map((flow, i) => ({ ...flow, src: `203.0.113.${i % 9}` }));
    const guesser = logins(50, inside).map((flow) => ({ ...flow, seq: flow.seq + 500 }));
    expectSameDetections(() => new BruteForceDetector(), [...distributed, ...guesser]);
  });

  it('is bounded', () => {
    const detector = new BruteForceDetector({ maxOutside: 20, maxTargets: 5 });
    const many = logins(300).map((flow, i) => ({ ...flow, src: `203.0.113.${i}`, dst: `10.0.0.${i}` }));
    expect(detections(fed(detector, many))).toEqual([]);
    expect(detector.dropped.forgotten).toBe(280 + 295);
  });
});

it('the detector finds nothing on a quiet day of an office, and the attacker on a day with attacks', () => {
  expect(detected(officeFlows({ days: 1 }))).toEqual([]);
  const found = detected(officeFlows({ days: 0.2, attacks: true }));
  expect(found).toMatchObject([{ severity: 'medium', ends: { dst_port: 22 } }]);
});

describe.skipIf(!hasRealFiles)('recorded traffic', () => {
  it('has SSH brute force at an Internet host, reported once a day, without a successful login', () => {
    const found = detected(realFlows(realFiles.internetHost, ['64.225.56.201/32']));
    expect(found.map(({ severity, ends }) => [severity, ends.dst_port])).toEqual(Array(3).fill(['medium', 22]));
    const top = found.flatMap(({ evidence }) => evidence.top_sources as string[]);
    expect(top.some((source) => source.startsWith('170.64.237.193: 46'))).toBe(true);
    expect(Number(found[1]?.evidence.attempts)).toBeGreaterThan(5000);
  });

  it('has no brute force in an office', () => {
    expect(detected(realFlows(realFiles.lan))).toEqual([]);
  });
});
