import { describe, expect, it } from 'vitest';
import type { Flow } from '../../../src/detect/behaviour/detector.ts';
import { NetworkScanDetector, networkScanThresholds } from '../../../src/detect/behaviour/network-scan.ts';
import { expectSameDetections } from './same-told.ts';
import { aFlow, detectionsOf, hasRealFiles, officeFlows, realFiles, realFlows } from './told-flows.ts';

const start = Date.UTC(2026, 10, 16, 8);
const inside = { src: '10.0.0.5', srcHome: true, dstHome: true, port: 445 };
const outbound = { ...inside, dstHome: false };
const inbound = { ...inside, src: '203.0.113.7', srcHome: false };

const sweep = (targets: number, what: Partial<Flow>, gapMs = 100): Flow[] =>
  Array.from({ length: targets }, (_, i) =>
    aFlow({
      seq: i + 1,
      time: start + i * gapMs,
      dst: `10.1.${i >> 8}.${(i & 255) === 255 ? 256 : i & 255}`,
      state: 'attempt',
      answered: false,
      ...what,
    }),
  );

const detected = (flows: Iterable<Flow>) => detectionsOf(new NetworkScanDetector(), flows);
const most = (flows: Iterable<Flow>) => detected(flows).at(-1)?.severity;

describe('a home host', () => {
  it('is reported from 20 home targets, more severely from 64', () => {
    expect(detected(sweep(networkScanThresholds.insideTargets - 1, inside))).toEqual([]);
    const [some] = detected(sweep(20, inside));
    expect(some).toMatchObject({
      severity: 'medium',
      ends: { src_ip: '10.0.0.5', dst_port: 445, transport: 'tcp' },
      evidence: { direction: 'inside', targets_in_vain: 20, ports: [445] },
    });
    expect(most(sweep(63, inside))).toBe('medium');
    expect(most(sweep(64, inside))).toBe('high');
  });

  it('is reported for a slow sweep, and for a ping sweep', () => {
    expect(detected(sweep(30, inside, 30 * 60_000))).toHaveLength(1);
    const [ping] = detected(sweep(100, { ...inside, port: Number.NaN, transport: 'icmp', state: 'traffic' }));
    expect(ping).toMatchObject({ severity: 'medium', evidence: { targets_in_vain: 100 } });
    expect(ping?.title).toContain('tried ping at 100 addresses');
  });

  it('is reported for a scan of the Internet, from fewer targets at login ports', () => {
    expect(detected(sweep(29, outbound))).toEqual([]);
    expect(most(sweep(30, outbound))).toBe('high');
    expect(detected(sweep(199, { ...outbound, port: 8333 }))).toEqual([]);
    expect(most(sweep(200, { ...outbound, port: 8333 }))).toBe('medium');
    expect(detected(sweep(300, { ...outbound, transport: 'udp', port: 6881 }))).toEqual([]);
  });

  it('is not reported if most targets answer, if each target gets a different port, or for a single target', () => {
    const answered = sweep(60, { ...inside, answered: true, state: 'closed' }).map((flow) => ({
      ...flow,
      dst: flow.dst.replace('10.1.', '10.2.'),
    }));
    expect(detected([...sweep(10, inside), ...answered, ...sweep(30, inside)])).toEqual([]);
    expect(detected(sweep(150, inside).map((flow, i) => ({ ...flow, port: 1000 + i })))).toEqual([]);
    expect(detected(sweep(500, { ...inside, dst: '10.0.0.9' }))).toEqual([]);
  });
});

describe('an outside host', () => {
  it('is reported after it tried most of a network, more severely if a login port answered', () => {
    expect(detected(sweep(200, inbound))).toEqual([]);
    // The targets of a source are counted only after `outsideNetwork` addresses of the network were tried.
    const whole = sweep(networkScanThresholds.outsideTargets + networkScanThresholds.outsideNetwork, inbound);
    expect(most(whole)).toBe('low');
    const answer = aFlow({ ...inbound, dst: '10.9.9.9', time: start, seq: 900 });
    expect(most([...whole, answer])).toBe('medium');
    expect(most([...whole, { ...answer, port: 443 }])).toBe('low');
  });

  it('is not stored if it reached only one host', () => {
    const detector = new NetworkScanDetector({ maxOutside: 10 });
    const many = Array.from({ length: 100 }, (_, i) =>
      aFlow({ ...inbound, src: `203.0.113.${i}`, dst: '10.0.0.9', answered: false, state: 'refused' }),
    );
    expect(detectionsOf(detector, many)).toEqual([]);
    expect(detector.dropped.forgotten).toBe(0);
  });
});

describe('the state of the detector', () => {
  it('gives the same findings for any order of events, after a merge of two states and after a restart', () => {
    expectSameDetections(() => new NetworkScanDetector(), [...sweep(80, inside), ...sweep(400, outbound)]);
  });

  it('is bounded', () => {
    const detector = new NetworkScanDetector({ maxInside: 20, maxInsideBytes: 3000, maxPortsOfSource: 1000 });
    const many = sweep(300, inside).map((flow, i) => ({ ...flow, port: i }));
    expect(detectionsOf(detector, many, 50)).toEqual([]);
    expect(detector.dropped.forgotten).toBeGreaterThan(270);
  });
});

describe('a source that tries very many ports', () => {
  it('uses a bounded number of keys, and its sweep over further ports is found', () => {
    const ports = (dst: (i: number) => string) =>
      sweep(5000, inside).map((flow, i) => ({ ...flow, port: 1 + i, dst: dst(i) }));
    const detector = new NetworkScanDetector({ maxInside: 300 });
    expect(
      detectionsOf(
        detector,
        ports(() => '10.0.0.9'),
      ),
    ).toEqual([]);
    expect(detector.dropped.forgotten).toBe(0);
    expect(most(ports((i) => `10.0.0.${i % 100}`))).toBe('medium');
  });
});

it('the detector finds nothing on a quiet day of an office', () => {
  expect(detected(officeFlows({ days: 1 }))).toEqual([]);
});

it.skipIf(!hasRealFiles)('the detector finds nothing in recorded traffic of an Internet host and of an office', () => {
  expect(detected(realFlows(realFiles.internetHost, ['64.225.56.201/32']))).toEqual([]);
  expect(detected(realFlows(realFiles.lan))).toEqual([]);
});
