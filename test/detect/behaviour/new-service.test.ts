import { describe, expect, it } from 'vitest';
import type { Flow } from '../../../src/detect/behaviour/detector.ts';
import { NewServiceDetector } from '../../../src/detect/behaviour/new-service.ts';
import { expectSameDetections } from './same-told.ts';
import { aFlow, detectionsOf, hasRealFiles, officeFlows, realFiles, realFlows } from './told-flows.ts';

const day = 24 * 3_600_000;
const start = Date.UTC(2026, 10, 2, 8);

let seq = 0;
const answer = (port: number, days: number, what: Partial<Flow> = {}): Flow =>
  aFlow({ seq: ++seq, time: start + days * day, dst: '10.0.1.1', dstHome: true, port, ...what });
const serving = [0, 1, 3, 6].flatMap((days) => [answer(443, days), answer(25, days)]);
const detected = (flows: Iterable<Flow>) => detectionsOf(new NewServiceDetector(), [...serving, ...flows], 5);

describe('a new port of a server', () => {
  it('is reported once if the server has been known for a week', () => {
    expect(detected([answer(8080, 6.9), answer(8080, 9)])).toEqual([]);
    const found = detected([answer(8080, 7), answer(8080, 7.1), answer(8080, 20)]);
    expect(found).toMatchObject([
      {
        severity: 'low',
        title: 'New service: 10.0.1.1 answers on port 8080',
        ends: { dst_ip: '10.0.1.1', dst_port: 8080 },
        evidence: { ports: [8080], asked_by: ['10.0.0.5'], known_days: 7, known_ports: [25, 443] },
      },
    ]);
  });

  it('gets its severity from the port and from its clients', () => {
    const severity = (port: number, srcHome: boolean) => detected([answer(port, 9, { srcHome })])[0]?.severity;
    expect([8080, 49_500, 3389, 4444].map((port) => severity(port, true))).toEqual([
      'low',
      'informational',
      'medium',
      'medium',
    ]);
    expect([8080, 49_500, 3389].map((port) => severity(port, false))).toEqual(['medium', 'low', 'high']);
  });

  it('is reported together with other new ports, and all ephemeral ports are reported once', () => {
    const several = [answer(8080, 9), answer(8081, 9), answer(3389, 9)];
    expect(detectionsOf(new NewServiceDetector(), [...serving, ...several], 100)).toMatchObject([
      { severity: 'medium', evidence: { ports: [8080, 8081, 3389] } },
    ]);
    expect(detected([answer(50_000, 9), answer(50_001, 9), answer(60_000, 10)])).toHaveLength(1);
    expect(detected([answer(50_000, 2), answer(60_000, 10)])).toEqual([]);
  });

  it('is reported together with other new ports of the same day; new ports of the next day are a separate finding', () => {
    const found = detected([answer(8080, 9), answer(8081, 9.2), answer(22, 10)].flatMap((flow) => Array(5).fill(flow)));
    expect(found.map(({ about, evidence }) => [about, evidence.ports])).toEqual([
      ['2026-11-11', [8080]],
      ['2026-11-11', [8080, 8081]],
      ['2026-11-12', [22]],
    ]);
  });

  it('is reported again if the port was silent for two months', () => {
    const always = [10, 40, 70].map((days) => answer(443, days));
    expect(detected([answer(8080, 9), ...always, answer(8080, 68)])).toHaveLength(1);
    expect(detected([answer(8080, 9), ...always, answer(8080, 70)])).toHaveLength(2);
  });

  it('is not reported if the server was just discovered or is outside, or if the port never answered or is UDP', () => {
    expect(detected([answer(22, 9, { dst: '10.0.1.2' }), answer(8080, 9, { dst: '10.0.1.2' })])).toEqual([]);
    expect(detected([answer(22, 9, { answered: false })])).toEqual([]);
    expect(detected([answer(22, 9, { transport: 'udp' })])).toEqual([]);
    expect(detected([answer(22, 9, { dstHome: false })])).toEqual([]);
  });
});

describe('the state of the detector', () => {
  it('gives the same findings for any order of events, after a merge of two states and after a restart', () => {
    expectSameDetections(
      () => new NewServiceDetector(),
      [...serving, answer(22, 9), answer(8080, 10), answer(50_000, 11)],
    );
  });

  it('is bounded in servers, and in ports of a server that answers on every port', () => {
    const many = new NewServiceDetector({ maxHosts: 5 });
    detectionsOf(
      many,
      Array.from({ length: 50 }, (_, i) => answer(80, 1, { dst: `10.0.1.${i}` })),
    );
    expect(many.dropped.forgotten).toBe(45);
    const pot = new NewServiceDetector();
    const ports = Array.from({ length: 300 }, (_, i) => answer(i + 1, 9));
    expect(detectionsOf(pot, [...serving, ...ports], 1000)).toEqual([]);
    expect(pot.dropped.forgotten).toBeGreaterThan(100);
  });
});

it('the detector finds nothing above low in nine quiet days of an office', () => {
  const found = detected(officeFlows({ days: 9, linesPerSecond: 0.1 }));
  expect(found.filter(({ severity }) => severity !== 'informational' && severity !== 'low')).toEqual([]);
});

it.skipIf(!hasRealFiles)('the detector finds nothing in recorded traffic of less than a week', () => {
  const only = (file: string, home?: string[]) => detectionsOf(new NewServiceDetector(), realFlows(file, home));
  expect(only(realFiles.internetHost, ['64.225.56.201/32'])).toEqual([]);
  expect(only(realFiles.lan)).toEqual([]);
});
