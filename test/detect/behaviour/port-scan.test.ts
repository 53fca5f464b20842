import { describe, expect, it } from 'vitest';
import type { Flow } from '../../../src/detect/behaviour/detector.ts';
import { PortScanDetector, portScanThresholds } from '../../../src/detect/behaviour/port-scan.ts';
import { expectSameDetections } from './same-told.ts';
import { aFlow, detectionsOf, hasRealFiles, officeFlows, realFiles, realFlows, reports } from './told-flows.ts';

const minute = 60_000;
const start = Date.UTC(2026, 10, 16, 8);
const inside = { src: '10.0.0.5', dst: '10.0.0.9', srcHome: true, dstHome: true };
const outside = { src: '203.0.113.7', dst: '10.0.0.9', srcHome: false, dstHome: true };

const tries = (ports: number, what: Partial<Flow>, gapMs = 100, from = 1): Flow[] =>
  Array.from({ length: ports }, (_, i) =>
    aFlow({
      seq: i + 1,
      time: start + i * gapMs,
      port: from + i,
      state: i % 3 === 0 ? 'attempt' : 'refused',
      answered: false,
      ...what,
    }),
  );
const use = (port: number, what: Partial<Flow>): Flow =>
  aFlow({ seq: 5000, time: start + 2 * 3_600_000, port, srcBytes: 5000, dstBytes: 9000, ...what });

const detected = (flows: Iterable<Flow>) => detectionsOf(new PortScanDetector(), flows);

const day = 24 * 3_600_000;

/** Returns a function that passes flows to a detector and returns the number of failed ports of each report. */
function reporter() {
  const detector = new PortScanDetector();
  return (flows: readonly Flow[]) =>
    reports(detector, flows, (flow) => detector.flow(flow)).map(({ detection, due }) => [
      detection.evidence.ports_in_vain,
      due,
    ]);
}

describe('a home host', () => {
  it('is reported from 20 failed ports, more severely from 100', () => {
    expect(detected(tries(portScanThresholds.insidePorts - 1, inside))).toEqual([]);
    const [some] = detected(tries(portScanThresholds.insidePorts, inside));
    expect(some).toMatchObject({
      severity: 'medium',
      ends: { src_ip: '10.0.0.5', dst_ip: '10.0.0.9' },
      evidence: { ports_in_vain: 20, ports_answered: 0, threshold_ports: 20 },
    });
    expect(some?.events).toHaveLength(10);
    expect(detected(tries(99, inside)).at(-1)?.severity).toBe('medium');
    expect(detected(tries(100, inside)).at(-1)?.severity).toBe('high');
  });

  it('is reported even if it tries a port every half hour', () => {
    expect(detected(tries(24, inside, 30 * minute))).toHaveLength(1);
    expect(detected(tries(24, inside, 90 * minute))).toEqual([]);
  });

  it('is reported with its largest figures before its window moves, unless these figures were reported', () => {
    const reported = reporter();
    const one = (time: number) => aFlow({ ...inside, time, port: 1, state: 'refused', answered: false });
    expect(reported(tries(30, inside))).toEqual([[30, 'new']]);
    expect(reported([...tries(5, inside, 100, 31), one(start + day)])).toEqual([[35, 'grown']]);
    expect(reported([one(start + 2 * day)])).toEqual([]);
  });

  it('is updated only if its figures exceed those of the last report at the same severity', () => {
    const reported = reporter();
    const nextDay = (flows: readonly Flow[]) => flows.map((flow) => ({ ...flow, time: flow.time + day }));
    expect(reported(tries(90, inside, minute))).toEqual([[90, 'new']]);
    expect(reported(nextDay(tries(30, inside)))).toEqual([[30, 'ongoing']]);
    const used = use(22, { ...inside, time: start + day + minute });
    expect(reported([used])).toEqual([
      [30, 'graver'],
      [30, 'grown'],
    ]);
    expect(reported(nextDay(tries(10, inside, 100, 31)))).toEqual([[40, 'grown']]);
  });

  it('is more severe if it uses a port that answered', () => {
    const flows = [...tries(30, inside), use(445, inside)];
    const [found] = detected(flows);
    expect(found).toMatchObject({ severity: 'high', evidence: { used_port: 445 } });
    expect(found?.events.at(-1)).toEqual({ table: 'network', seq: 5000 });
  });

  it('is reported once, again at a higher severity, and again after a day', () => {
    const detector = new PortScanDetector();
    const days = [0, 10, 23, 25].flatMap((hours) =>
      tries(30, { ...inside }).map((flow) => ({ ...flow, time: flow.time + hours * 3_600_000 })),
    );
    expect(detectionsOf(detector, days, 10)).toHaveLength(2);
    expect(detectionsOf(detector, [use(445, { ...inside, time: start + 26 * 3_600_000 })])).toHaveLength(1);
  });

  it('is not reported if most ports answer, nor for many tries of few ports', () => {
    const answered = tries(40, { ...inside, state: 'closed', answered: true }, 100, 1000);
    expect(detected([...tries(30, inside), ...answered])).toEqual([]);
    expect(detected(tries(2000, { ...inside, port: 8080 }))).toEqual([]);
  });

  it('is not reported for late answers, traceroute, multicast, ICMP and connections whose start is missing', () => {
    expect(detected(tries(500, { ...inside, transport: 'udp' }, 100, 33_434))).toEqual([]);
    // Answers of a name server that arrive after the sensor has forgotten the queries.
    expect(detected(tries(500, { ...inside, transport: 'udp' }, 100, 50_000))).toEqual([]);
    expect(detected(tries(500, { ...inside, dst: '239.255.255.250' }))).toEqual([]);
    expect(detected(tries(500, { ...inside, state: 'traffic' }))).toEqual([]);
    expect(detected(tries(500, { ...inside, port: Number.NaN, transport: 'icmp' }))).toEqual([]);
  });
});

describe('an outside host', () => {
  it('is reported from 300 ports, and from 100 ports if it used a port that answered', () => {
    expect(detected(tries(299, outside))).toEqual([]);
    expect(detected(tries(300, outside))).toMatchObject([{ severity: 'low' }]);
    expect(detected([...tries(99, outside), use(22, outside)])).toEqual([]);
    expect(detected([...tries(100, outside), use(22, outside)])).toMatchObject([{ severity: 'medium' }]);
    expect(detected([...tries(100, outside), use(22, { ...outside, srcBytes: 84, dstBytes: 44 })])).toEqual([]);
  });

  it('is not reported for connections between two outside hosts', () => {
    expect(detected(tries(500, { ...outside, dstHome: false }))).toEqual([]);
  });
});

describe('the state of the detector', () => {
  it('gives the same findings for any order of events, after a merge of two states and after a restart', () => {
    expectSameDetections(() => new PortScanDetector(), [...tries(150, inside), ...tries(310, outside)]);
  });

  it('is bounded: forged sources do not evict an internal scan', () => {
    const detector = new PortScanDetector({ maxOutside: 50, maxInside: 50 });
    const forged = Array.from({ length: 500 }, (_, i) =>
      aFlow({ ...outside, src: `203.0.113.${i}`, answered: false, state: 'attempt', time: start }),
    );
    const flows = [...tries(15, inside), ...forged, ...tries(15, inside, 100, 100)];
    expect(detectionsOf(detector, flows, 100)).toHaveLength(1);
    expect(detector.dropped.forgotten).toBe(450);
  });

  it('is bounded in bytes', () => {
    const detector = new PortScanDetector({ maxOutsideBytes: 60_000 });
    const flows = Array.from({ length: 20 }, (_, i) => tries(1000, { ...outside, src: `203.0.113.${i}` })).flat();
    expect(detectionsOf(detector, flows)).toHaveLength(20);
    expect(detector.dropped.forgotten).toBeGreaterThan(10);
  });
});

it('the detector finds nothing on a quiet day of an office, and each scan on a day with attacks', () => {
  expect(detected(officeFlows({ days: 1 }))).toEqual([]);
  const attacked = detected(officeFlows({ days: 0.4, attacks: true }));
  expect(attacked.filter(({ severity }) => severity === 'high')).toHaveLength(3);
});

describe.skipIf(!hasRealFiles)('recorded traffic', () => {
  it('gives the four prominent sources of three days for an Internet host', () => {
    const found = detected(realFlows(realFiles.internetHost, ['64.225.56.201/32']));
    const sources = new Set(found.map(({ ends }) => ends.src_ip));
    expect([...sources].sort()).toEqual(['104.152.52.90', '104.156.155.4', '165.154.254.36', '80.66.66.145']);
    expect(found.length).toBeLessThanOrEqual(6);
    const used = found.filter(({ severity }) => severity === 'medium').map(({ ends }) => ends.src_ip);
    expect(used.sort()).toEqual(['104.152.52.90', '165.154.254.36']);
  });

  it('gives no findings for an office', () => {
    expect(detected(realFlows(realFiles.lan))).toEqual([]);
  });
});
