import { describe, expect, it } from 'vitest';
import type { Flow } from '../../../src/detect/behaviour/detector.ts';
import { LateralMovementDetector } from '../../../src/detect/behaviour/lateral-movement.ts';
import { detections, expectSameDetections, fed } from './same-told.ts';
import { aFlow, detectionsOf, hasRealFiles, officeFlows, realFiles, realFlows, reports } from './told-flows.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const start = Date.UTC(2026, 10, 2, 8);

let seq = 0;
/** Returns an answered connection between home hosts, `days` after the start. */
const reach = (src: string, dst: string, days: number, what: Partial<Flow> = {}): Flow =>
  aFlow({
    seq: ++seq,
    time: start + days * day,
    src: `10.0.0.${src}`,
    dst: `10.0.1.${dst}`,
    dstHome: true,
    port: 22,
    ...what,
  });
/** Flows of hosts that were active from the beginning. */
const known = ['5', '6', '7', '8', '9'].map((src) => aFlow({ src: `10.0.0.${src}`, time: start }));
const walk = (targets: number, days: number, gapMs = 5 * minute, src = '5'): Flow[] =>
  Array.from({ length: targets }, (_, i) => reach(src, String(i + 1), days + (i * gapMs) / day));

const detected = (flows: Iterable<Flow>) => detectionsOf(new LateralMovementDetector(), [...known, ...flows], 10);

describe('a new connection', () => {
  it('is reported after a week of learning: low for one new target, medium for two, high for four in quick succession', () => {
    expect(detected(walk(6, 6.9, 1000))).toEqual([]);
    const [one] = detected(walk(1, 7));
    expect(one).toMatchObject({
      severity: 'low',
      ends: { src_ip: '10.0.0.5', dst_ip: '10.0.1.1', dst_port: 22 },
      evidence: { new_targets: 1, new_connections: ['10.0.1.1:22'], services: ['SSH'], known_targets: 0 },
    });
    expect(detected(walk(2, 8))).toMatchObject([{ severity: 'medium' }]);
    expect(detected(walk(4, 8)).at(-1)).toMatchObject({
      severity: 'high',
      title: 'Lateral movement: 10.0.0.5 reaches 4 hosts by SSH for the first time',
      ends: { src_ip: '10.0.0.5', dst_port: 22 },
    });
    expect(detected(walk(4, 8, 61 * minute)).map(({ severity }) => severity)).toEqual(['low']);
  });

  it('is reported with its largest figures if the detector is evaluated a day later', () => {
    const later = reach('5', '99', 10.1);
    const all = detectionsOf(new LateralMovementDetector(), [...known, ...walk(5, 9), later], 1000);
    expect(all).toMatchObject([{ severity: 'high', evidence: { new_targets: 5, known_targets: 0 } }]);
    const detector = new LateralMovementDetector();
    const grown = [...known, ...walk(4, 9)];
    expect(detectionsOf(detector, grown, 1000)).toMatchObject([{ severity: 'high' }]);
    const [refresh] = reports(detector, [reach('5', '77', 9.5), later], (flow) => detector.flow(flow), 1000);
    expect(refresh).toMatchObject({ due: 'grown', detection: { evidence: { new_targets: 5 } } });
    const users = ['6', '7', '8'].map((src) => reach(src, '1', 2, { port: 445 }));
    const usual = reach('5', '1', 11.5, { port: 445 });
    expect(reports(detector, [...users, usual], (flow) => detector.flow(flow), 1000)).toEqual([]);
    expect(detector.dropped.stale).toBe(0);
  });

  it('is reported once for each window with a finding, even if the newest window has none', () => {
    const users = ['6', '7', '8'].map((src) => reach(src, '1', 2, { port: 445 }));
    const few = ['50', '51'].map((dst, i) => reach('5', dst, 12 + (i * 5 * minute) / day));
    const usual = reach('5', '1', 13.5, { port: 445 });
    const detector = new LateralMovementDetector();
    const flows = [...known, ...users, ...walk(4, 10), ...few, usual];
    const found = reports(detector, flows, (flow) => detector.flow(flow), 1000);
    expect(found.map(({ due, detection }) => [due, detection.severity])).toEqual([
      ['new', 'high'],
      ['new', 'medium'],
    ]);
  });

  it('is informational for a file share, because file shares are mapped occasionally', () => {
    expect(detected([reach('5', '1', 8, { port: 445 })])).toMatchObject([{ severity: 'informational' }]);
  });

  it('is not reported for a known pair, except after a month', () => {
    const first = reach('5', '1', 1);
    expect(detected([first, reach('5', '1', 9)])).toEqual([]);
    expect(detected([first, reach('5', '1', 20), reach('5', '1', 49)])).toEqual([]);
    expect(detected([first, reach('5', '1', 32)])).toHaveLength(1);
    expect(detected([first, reach('5', '1', 9, { port: 3389 })])).toHaveLength(1);
  });

  it('is not reported at a service that three other hosts use', () => {
    const users = ['6', '7', '8'].map((src) => reach(src, '1', 2, { port: 445 }));
    expect(detected([...users, reach('5', '1', 9, { port: 445 })])).toEqual([]);
    expect(detected([...users.slice(1), reach('5', '1', 9, { port: 445 })])).toHaveLength(1);
  });

  it('is not reported for an administrator who reaches at most as many new hosts as known hosts', () => {
    const habit = walk(5, 1);
    const errands = walk(10, 9).slice(5);
    expect(detected([...habit, ...errands])).toEqual([]);
    expect(detected([...habit, ...walk(12, 9).slice(5)]).at(-1)).toMatchObject({ severity: 'medium' });
    expect(detected([...walk(4, 1), ...errands]).at(-1)).toMatchObject({ severity: 'high' });
  });

  it('is reported for a new host only if there are many connections', () => {
    expect(detected(walk(3, 9, 5 * minute, '77'))).toEqual([]);
    expect(detected(walk(4, 9, 5 * minute, '77'))).toMatchObject([{ severity: 'high' }]);
  });

  it('is not reported if unanswered, of another kind, or not between home hosts', () => {
    const others = [{ answered: false }, { transport: 'udp' }, { port: 443 }, { srcHome: false }, { dstHome: false }];
    for (const what of others) expect(detected(walk(6, 9).map((flow) => ({ ...flow, ...what })))).toEqual([]);
  });
});

describe('the state of the detector', () => {
  it('gives the same findings for any order of events, after a merge of two states and after a restart', () => {
    expectSameDetections(() => new LateralMovementDetector(), [...known, ...walk(3, 1, minute, '6'), ...walk(8, 9)]);
  });

  it('is bounded', () => {
    const terms = { maxSources: 10, maxPairs: 30, maxPairsOfSource: 5, maxHosts: 10, maxServices: 10 };
    const detector = new LateralMovementDetector(terms);
    const many = Array.from({ length: 500 }, (_, i) => reach(String(i % 50), String(i), 9));
    detections(fed(detector, many));
    expect(detector.dropped.forgotten).toBeGreaterThan(400);
    const state = detector.state() as { sources: Map<string, { pairs: Map<string, unknown> }> };
    expect(state.sources.size).toBeLessThanOrEqual(10);
    expect([...state.sources.values()].reduce((sum, { pairs }) => sum + pairs.size, 0)).toBeLessThanOrEqual(30);
  });
});

it('the detector reports nothing above informational in nine quiet days of an office', () => {
  const found = detected(officeFlows({ days: 9, linesPerSecond: 0.1 }));
  expect(found.filter(({ severity }) => severity !== 'informational')).toEqual([]);
});

it.skipIf(!hasRealFiles)('the detector finds nothing in recorded traffic of less than a week', () => {
  expect(detected(realFlows(realFiles.internetHost, ['64.225.56.201/32']))).toEqual([]);
  expect(detected(realFlows(realFiles.lan))).toEqual([]);
});
