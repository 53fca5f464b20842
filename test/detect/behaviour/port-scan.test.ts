import { describe, expect, it } from 'vitest';
import type { Flow } from '../../../src/detect/behaviour/detector.ts';
import { PortScanDetector, portScanTerms } from '../../../src/detect/behaviour/port-scan.ts';
import { expectSameTold } from './same-told.ts';
import { aFlow, hasRealFiles, officeFlows, realFiles, realFlows, sightedOf } from './told-flows.ts';

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

const told = (flows: Iterable<Flow>) => sightedOf(new PortScanDetector(), flows);

describe('a home host', () => {
  it('is told of from 20 ports in vain on, and is graver from 100 on', () => {
    expect(told(tries(portScanTerms.insidePorts - 1, inside))).toEqual([]);
    const [some] = told(tries(portScanTerms.insidePorts, inside));
    expect(some).toMatchObject({
      severity: 'medium',
      ends: { src_ip: '10.0.0.5', dst_ip: '10.0.0.9' },
      evidence: { ports_in_vain: 20, ports_answered: 0, threshold_ports: 20 },
    });
    expect(some?.events).toHaveLength(10);
    expect(told(tries(99, inside)).at(-1)?.severity).toBe('medium');
    expect(told(tries(100, inside)).at(-1)?.severity).toBe('high');
  });

  it('is told of though it tries a port every half hour', () => {
    expect(told(tries(24, inside, 30 * minute))).toHaveLength(1);
    expect(told(tries(24, inside, 90 * minute))).toEqual([]);
  });

  it('is graver when it uses a port that answered', () => {
    const flows = [...tries(30, inside), use(445, inside)];
    const [found] = told(flows);
    expect(found).toMatchObject({ severity: 'high', evidence: { used_port: 445 } });
    expect(found?.events.at(-1)).toEqual({ table: 'network', seq: 5000 });
  });

  it('is told of once, again when graver, and again after a day', () => {
    const detector = new PortScanDetector();
    const days = [0, 10, 23, 25].flatMap((hours) =>
      tries(30, { ...inside }).map((flow) => ({ ...flow, time: flow.time + hours * 3_600_000 })),
    );
    expect(sightedOf(detector, days, 10)).toHaveLength(2);
    expect(sightedOf(detector, [use(445, { ...inside, time: start + 26 * 3_600_000 })])).toHaveLength(1);
  });

  it('is not told of where most answers, nor for few ports of many tries', () => {
    const answered = tries(40, { ...inside, state: 'closed', answered: true }, 100, 1000);
    expect(told([...tries(30, inside), ...answered])).toEqual([]);
    expect(told(tries(2000, { ...inside, port: 8080 }))).toEqual([]);
  });

  it('is not told of for late answers, traceroute, groups and connections begun unseen', () => {
    expect(told(tries(500, { ...inside, transport: 'udp' }, 100, 33_434))).toEqual([]);
    expect(told(tries(500, { ...inside, dst: '239.255.255.250' }))).toEqual([]);
    expect(told(tries(500, { ...inside, state: 'traffic' }))).toEqual([]);
    expect(told(tries(500, { ...inside, port: Number.NaN, transport: 'icmp' }))).toEqual([]);
  });
});

describe('somebody outside', () => {
  it('is told of from 300 ports on, and from 100 on if he used one', () => {
    expect(told(tries(299, outside))).toEqual([]);
    expect(told(tries(300, outside))).toMatchObject([{ severity: 'low' }]);
    expect(told([...tries(99, outside), use(22, outside)])).toEqual([]);
    expect(told([...tries(100, outside), use(22, outside)])).toMatchObject([{ severity: 'medium' }]);
    expect(told([...tries(100, outside), use(22, { ...outside, srcBytes: 84, dstBytes: 44 })])).toEqual([]);
  });

  it('is not counted where no end is at home', () => {
    expect(told(tries(500, { ...outside, dstHome: false }))).toEqual([]);
  });
});

describe('what is remembered', () => {
  it('is the same in any order, in parts, and after a restart', () => {
    expectSameTold(() => new PortScanDetector(), [...tries(150, inside), ...tries(310, outside)]);
  });

  it('is capped: forged sources don’t drive out a scan inside', () => {
    const detector = new PortScanDetector({ maxOutside: 50, maxInside: 50 });
    const forged = Array.from({ length: 500 }, (_, i) =>
      aFlow({ ...outside, src: `203.0.113.${i}`, answered: false, state: 'attempt', time: start }),
    );
    const flows = [...tries(15, inside), ...forged, ...tries(15, inside, 100, 100)];
    expect(sightedOf(detector, flows, 100)).toHaveLength(1);
    expect(detector.left.forgotten).toBe(450);
  });

  it('is capped in bytes', () => {
    const detector = new PortScanDetector({ maxOutsideBytes: 60_000 });
    const flows = Array.from({ length: 20 }, (_, i) =>
      tries(1000, { ...outside, src: `203.0.113.${i}` }),
    ).flat();
    expect(sightedOf(detector, flows)).toHaveLength(20);
    expect(detector.left.forgotten).toBeGreaterThan(10);
  });
});

it('finds nothing in a quiet day of an office, and each scan in one with attacks', () => {
  expect(told(officeFlows({ days: 1 }))).toEqual([]);
  const attacked = told(officeFlows({ days: 0.4, attacks: true }));
  expect(attacked.filter(({ severity }) => severity === 'high')).toHaveLength(3);
});

describe.skipIf(!hasRealFiles)('recorded traffic', () => {
  it('of an internet host names the four sources of three days that stand out', () => {
    const found = told(realFlows(realFiles.internetHost, ['64.225.56.201/32']));
    const sources = new Set(found.map(({ ends }) => ends.src_ip));
    expect([...sources].sort()).toEqual(['104.152.52.90', '104.156.155.4', '165.154.254.36', '80.66.66.145']);
    expect(found.length).toBeLessThanOrEqual(6);
    const used = found.filter(({ severity }) => severity === 'medium').map(({ ends }) => ends.src_ip);
    expect(used.sort()).toEqual(['104.152.52.90', '165.154.254.36']);
  });

  it('of an office has none', () => {
    expect(told(realFlows(realFiles.lan))).toEqual([]);
  });
});
