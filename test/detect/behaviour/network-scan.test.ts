import { describe, expect, it } from 'vitest';
import type { Flow } from '../../../src/detect/behaviour/detector.ts';
import { NetworkScanDetector, networkScanTerms } from '../../../src/detect/behaviour/network-scan.ts';
import { expectSameTold } from './same-told.ts';
import { aFlow, hasRealFiles, officeFlows, realFiles, realFlows, sightedOf } from './told-flows.ts';

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

const told = (flows: Iterable<Flow>) => sightedOf(new NetworkScanDetector(), flows);
const most = (flows: Iterable<Flow>) => told(flows).at(-1)?.severity;

describe('a home host', () => {
  it('is told of from 20 home targets on, and is graver from 64 on', () => {
    expect(told(sweep(networkScanTerms.insideTargets - 1, inside))).toEqual([]);
    const [some] = told(sweep(20, inside));
    expect(some).toMatchObject({
      severity: 'medium',
      ends: { src_ip: '10.0.0.5', dst_port: 445, transport: 'tcp' },
      evidence: { direction: 'inside', targets_in_vain: 20, ports: [445] },
    });
    expect(most(sweep(63, inside))).toBe('medium');
    expect(most(sweep(64, inside))).toBe('high');
  });

  it('is told of for a slow sweep, and for one by ping', () => {
    expect(told(sweep(30, inside, 30 * 60_000))).toHaveLength(1);
    const [ping] = told(sweep(100, { ...inside, port: Number.NaN, transport: 'icmp', state: 'traffic' }));
    expect(ping).toMatchObject({ severity: 'medium', evidence: { targets_in_vain: 100 } });
    expect(ping?.title).toContain('tried ping at 100 addresses');
  });

  it('is told of when it searches the internet, sooner at ports where one logs in', () => {
    expect(told(sweep(29, outbound))).toEqual([]);
    expect(most(sweep(30, outbound))).toBe('high');
    expect(told(sweep(199, { ...outbound, port: 8333 }))).toEqual([]);
    expect(most(sweep(200, { ...outbound, port: 8333 }))).toBe('medium');
    expect(told(sweep(300, { ...outbound, transport: 'udp', port: 6881 }))).toEqual([]);
  });

  it('is not told of where most answer, for a port each, or for one target', () => {
    const answered = sweep(60, { ...inside, answered: true, state: 'closed' }).map((flow) => ({
      ...flow,
      dst: flow.dst.replace('10.1.', '10.2.'),
    }));
    expect(told([...sweep(10, inside), ...answered, ...sweep(30, inside)])).toEqual([]);
    expect(told(sweep(150, inside).map((flow, i) => ({ ...flow, port: 1000 + i })))).toEqual([]);
    expect(told(sweep(500, { ...inside, dst: '10.0.0.9' }))).toEqual([]);
  });
});

describe('somebody outside', () => {
  it('is told of when he went through most of a network, graver where a login answered', () => {
    expect(told(sweep(200, inbound))).toEqual([]);
    // Until it is a network, it isn't counted by whom.
    const whole = sweep(networkScanTerms.outsideTargets + networkScanTerms.outsideNetwork, inbound);
    expect(most(whole)).toBe('low');
    const answer = aFlow({ ...inbound, dst: '10.9.9.9', time: start, seq: 900 });
    expect(most([...whole, answer])).toBe('medium');
    expect(most([...whole, { ...answer, port: 443 }])).toBe('low');
  });

  it('costs nothing where only one host is reached', () => {
    const detector = new NetworkScanDetector({ maxOutside: 10 });
    const many = Array.from({ length: 100 }, (_, i) =>
      aFlow({ ...inbound, src: `203.0.113.${i}`, dst: '10.0.0.9', answered: false, state: 'refused' }),
    );
    expect(sightedOf(detector, many)).toEqual([]);
    expect(detector.left.forgotten).toBe(0);
  });
});

describe('what is remembered', () => {
  it('is the same in any order, in parts, and after a restart', () => {
    expectSameTold(() => new NetworkScanDetector(), [...sweep(80, inside), ...sweep(400, outbound)]);
  });

  it('is capped', () => {
    const detector = new NetworkScanDetector({ maxInside: 20, maxInsideBytes: 3000, maxPortsOfSource: 1000 });
    const many = sweep(300, inside).map((flow, i) => ({ ...flow, port: i }));
    expect(sightedOf(detector, many, 50)).toEqual([]);
    expect(detector.left.forgotten).toBeGreaterThan(270);
  });
});

describe('a source that tries very many ports', () => {
  it('takes a bounded number of keys, and its sweep over further ports is found', () => {
    const ports = (dst: (i: number) => string) =>
      sweep(5000, inside).map((flow, i) => ({ ...flow, port: 1 + i, dst: dst(i) }));
    const detector = new NetworkScanDetector({ maxInside: 300 });
    expect(
      sightedOf(
        detector,
        ports(() => '10.0.0.9'),
      ),
    ).toEqual([]);
    expect(detector.left.forgotten).toBe(0);
    expect(most(ports((i) => `10.0.0.${i % 100}`))).toBe('medium');
  });
});

it('finds nothing in a quiet day of an office', () => {
  expect(told(officeFlows({ days: 1 }))).toEqual([]);
});

it.skipIf(!hasRealFiles)('finds nothing in recorded traffic of an internet host and of an office', () => {
  expect(told(realFlows(realFiles.internetHost, ['64.225.56.201/32']))).toEqual([]);
  expect(told(realFlows(realFiles.lan))).toEqual([]);
});
