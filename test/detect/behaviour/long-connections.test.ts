import { describe, expect, it } from 'vitest';
import type { Flow } from '../../../src/detect/behaviour/detector.ts';
import { LongConnectionsDetector, longConnections } from '../../../src/detect/behaviour/long-connections.ts';
import { expectSameDetections } from './same-told.ts';
import { aFlow, detectionsOf, hasRealFiles, officeFlows, realFiles, realFlows } from './told-flows.ts';

const hour = 3_600_000;
const detected = (flows: Iterable<Flow>, every = 1) => detectionsOf(new LongConnectionsDetector(), flows, every);

/** Returns the hourly reports of an open connection. */
function open(hours: number, what: Partial<Flow> = {}): Flow[] {
  return Array.from({ length: hours }, (_, i) =>
    aFlow({ port: 4444, connection: 'C1', duration: (i + 1) * hour, isFirst: i === 0, seq: i + 1, ...what }),
  );
}

describe('the long-connection detector', () => {
  it('reports a connection once per severity, even if a sensor reports it often', () => {
    const sighted = detected(open(72));
    expect(sighted.map(({ severity, evidence }) => [severity, evidence.duration_hours])).toEqual([
      ['informational', 1],
      ['low', 4],
      ['medium', 8],
      ['high', 12],
    ]);
    expect(sighted[3]).toMatchObject({
      title: 'Long connection from 10.0.0.5 to 203.0.113.7:4444',
      ends: { src_ip: '10.0.0.5', dst_ip: '203.0.113.7', dst_port: 4444 },
      evidence: {
        reports: 12,
        bytes_out: 6000,
        bytes_in: 24_000,
        direction: 'outbound',
        port_kind: 'unknown',
      },
      events: [
        { table: 'network', seq: 1 },
        { table: 'network', seq: 12 },
      ],
    });
  });

  it.each<[number, string[]]>([
    [0.99, []],
    [1, ['informational']],
    [3.99, ['informational']],
    [4, ['low']],
    [8, ['medium']],
    [12, ['high']],
    [700, ['high']],
  ])('reports a connection of %d hours as %j if the sensor reports only the end', (hours, severities) => {
    expect(detected([aFlow({ port: 4444, duration: hours * hour })]).map(({ severity }) => severity)).toEqual(
      severities,
    );
  });

  it('gives a lower severity for interactive services and for services with long connections', () => {
    const severities = (what: Partial<Flow>) => detected(open(30, what)).map(({ severity }) => severity);
    expect(severities({ port: 22, app: 'ssh' })).toEqual(['informational', 'low', 'medium', 'high']);
    expect(severities({ port: 443, app: 'ssl' })).toEqual(['informational', 'low']);
    expect(severities({ port: 443, app: 'ssh' })).toEqual(['informational', 'low', 'medium', 'high']);
  });

  it.each<[string, Partial<Flow>]>([
    ['between home hosts', { dst: '10.0.0.9', dstHome: true }],
    ['of unknown duration', { duration: Number.NaN }],
    ['without an answer', { answered: false }],
    ['of DNS', { port: 53 }],
    ['of ICMP', { port: Number.NaN }],
  ])('does not report a connection %s', (_, what) => {
    expect(detected(open(30, what))).toEqual([]);
  });

  it('identifies connections by their id, or by their start if they have no id', () => {
    const two = [...open(5), ...open(5, { connection: 'C2' })];
    expect(detected(two, 100)).toHaveLength(2);
    const { time } = aFlow({});
    const none = { connection: undefined };
    expect(detected([...open(5, none), ...open(5, { ...none, time: time + 1 })], 100)).toHaveLength(2);
    expect(detected(open(5, none), 100)).toHaveLength(1);
  });

  it('limits an implausible duration when it computes the timestamp', () => {
    const [sighted] = detected([aFlow({ port: 4444, duration: 1e15 })]);
    expect(sighted!.timestamp).toBeLessThan(aFlow({}).time + 32 * 24 * hour);
  });

  it('has the same findings for any order of events, after a merge of two states and after a restart', () => {
    expectSameDetections(
      () => new LongConnectionsDetector(),
      [...open(9), ...open(20, { connection: 'C2', port: 22, dst: '203.0.113.9' })],
    );
  });

  it('drops connections above the maximum, and counts them', () => {
    const detector = new LongConnectionsDetector();
    const many = function* () {
      for (let i = 0; i < longConnections.maxConnections + 100; i++)
        yield aFlow({ port: 443, connection: `C${i}`.padEnd(300, 'x'), duration: hour });
    };
    expect(detectionsOf(detector, many())).toEqual([]);
    expect(detector.dropped.forgotten).toBe(100);
  });

  it('reports nothing on a quiet day of an office', () => {
    expect(detected(officeFlows({ days: 1, linesPerSecond: 1 }), 256)).toEqual([]);
  });

  it.skipIf(!hasRealFiles)('reports a recorded session with 72 sensor reports once per severity', () => {
    const sighted = detected(realFlows(realFiles.internetHost));
    expect(sighted.map(({ severity }) => severity)).toEqual(['low', 'medium', 'high']);
    for (const { ends } of sighted)
      expect(ends).toMatchObject({ src_ip: '73.54.23.243', dst_ip: '64.225.56.201', dst_port: 22 });
    expect(detected(realFlows(realFiles.lan))).toEqual([]);
  });
});
