import { describe, expect, it } from 'vitest';
import type { Flow } from '../../../src/detect/behaviour/detector.ts';
import { LongConnectionsDetector, longConnections } from '../../../src/detect/behaviour/long-connections.ts';
import { expectSameTold } from './same-told.ts';
import { aFlow, hasRealFiles, officeFlows, realFiles, realFlows, sightedOf } from './told-flows.ts';

const hour = 3_600_000;
const told = (flows: Iterable<Flow>, every = 1) => sightedOf(new LongConnectionsDetector(), flows, every);

/** What a sensor reports of an open connection, each hour. */
function open(hours: number, what: Partial<Flow> = {}): Flow[] {
  return Array.from({ length: hours }, (_, i) =>
    aFlow({ port: 4444, connection: 'C1', duration: (i + 1) * hour, isFirst: i === 0, seq: i + 1, ...what }),
  );
}

describe('long connections', () => {
  it('tells one connection once for each grade, whatever is reported of it', () => {
    const sighted = told(open(72));
    expect(sighted.map(({ severity, evidence }) => [severity, evidence.duration_hours])).toEqual([
      ['informational', 1],
      ['low', 4],
      ['medium', 8],
      ['high', 12],
    ]);
    expect(sighted[3]).toMatchObject({
      title: 'Connection from 10.0.0.5 to 203.0.113.7:4444 stays open',
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
  ])('of %d hours is %j when it is reported at its end', (hours, severities) => {
    expect(told([aFlow({ port: 4444, duration: hours * hour })]).map(({ severity }) => severity)).toEqual(
      severities,
    );
  });

  it('is less grave where people sit, and where services are made for it', () => {
    const severities = (what: Partial<Flow>) => told(open(30, what)).map(({ severity }) => severity);
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
  ])('says nothing of one %s', (_, what) => {
    expect(told(open(30, what))).toEqual([]);
  });

  it('tells connections apart by their id, and by their beginning where they have none', () => {
    const two = [...open(5), ...open(5, { connection: 'C2' })];
    expect(told(two, 100)).toHaveLength(2);
    const { time } = aFlow({});
    const none = { connection: undefined };
    expect(told([...open(5, none), ...open(5, { ...none, time: time + 1 })], 100)).toHaveLength(2);
    expect(told(open(5, none), 100)).toHaveLength(1);
  });

  it('does not believe any duration when it says when it was', () => {
    const [sighted] = told([aFlow({ port: 4444, duration: 1e15 })]);
    expect(sighted!.timestamp).toBeLessThan(aFlow({}).time + 32 * 24 * hour);
  });

  it('concludes the same in any order, in parts and after a restart', () => {
    expectSameTold(
      () => new LongConnectionsDetector(),
      [...open(9), ...open(20, { connection: 'C2', port: 22, dst: '203.0.113.9' })],
    );
  });

  it('forgets those reported longest ago, and says so', () => {
    const detector = new LongConnectionsDetector();
    const many = function* () {
      for (let i = 0; i < longConnections.maxConnections + 100; i++)
        yield aFlow({ port: 443, connection: `C${i}`.padEnd(300, 'x'), duration: hour });
    };
    expect(sightedOf(detector, many())).toEqual([]);
    expect(detector.left.forgotten).toBe(100);
  });

  it('says nothing of a quiet day in the office', () => {
    expect(told(officeFlows({ days: 1, linesPerSecond: 1 }), 256)).toEqual([]);
  });

  it.skipIf(!hasRealFiles)('makes one growing alert of the session that is reported 72 times', () => {
    const sighted = told(realFlows(realFiles.internetHost));
    expect(sighted.map(({ severity }) => severity)).toEqual(['low', 'medium', 'high']);
    for (const { ends } of sighted)
      expect(ends).toMatchObject({ src_ip: '73.54.23.243', dst_ip: '64.225.56.201', dst_port: 22 });
    expect(told(realFlows(realFiles.lan))).toEqual([]);
  });
});
