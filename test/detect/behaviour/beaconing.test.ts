import { describe, expect, it } from 'vitest';
import { random } from '../../../scripts/traffic/random.ts';
import { severities } from '../../../src/contract/vocabulary.ts';
import { BeaconingDetector, beaconing } from '../../../src/detect/behaviour/beaconing.ts';
import type { Flow } from '../../../src/detect/behaviour/detector.ts';
import { expectSameDetections } from './same-told.ts';
import { aFlow, detectionsOf, hasRealFiles, officeFlows, realFiles, realFlows } from './told-flows.ts';

const chance = random(3);
const minute = 60_000;
const start = Date.UTC(2026, 10, 16, 9);

/** Returns the connections of a pair of hosts at intervals of `gap`, each delayed by up to `jitter` intervals. */
function beacon(gap: number, count: number, what: Partial<Flow> = {}, jitter = 0): Flow[] {
  return Array.from({ length: count }, (_, i) => {
    const late = jitter * chance.next();
    return aFlow({ time: start + i * gap + late * gap, seq: i + 1, srcBytes: 300, ...what });
  });
}

/** Returns `count` connections at random times of a day. */
function byChance(count: number): Flow[] {
  return Array.from({ length: count }, (_, i) =>
    aFlow({ time: start + chance.next() * 24 * 60 * minute, seq: i + 1, srcBytes: 300 }),
  ).sort((a, b) => a.time - b.time);
}

const detected = (flows: Iterable<Flow>, every?: number) => detectionsOf(new BeaconingDetector(), flows, every);

describe('the beaconing detector', () => {
  it('reports a regular pair with its subscores', () => {
    const [first, second, ...rest] = detected(beacon(5 * minute, 288, {}, 0.2), 12);
    expect(rest).toEqual([]);
    expect(first).toMatchObject({ severity: 'low', title: 'Beacon from 10.0.0.5 to 203.0.113.7:443' });
    expect(second).toMatchObject({
      severity: 'medium',
      ends: { src_ip: '10.0.0.5', dst_ip: '203.0.113.7', dst_port: 443, transport: 'tcp' },
      evidence: { data_size_score: 1, histogram_score: 1, duration_score: 1, direction: 'outbound' },
    });
    expect(Number(second!.evidence.timestamp_score)).toBeGreaterThan(beaconing.regular.many);
    expect(Number(second!.evidence.score)).toBeGreaterThanOrEqual(0.9);
    expect(second!.events.length).toBeGreaterThan(1);
    expect(second!.events.length).toBeLessThanOrEqual(10);
  });

  it('reports a beacon again after a day while it continues', () => {
    const day = 288;
    const sighted = detected(beacon(5 * minute, 3 * day + 30), 12);
    expect(sighted.map(({ severity }) => severity)).toEqual(['low', 'medium', 'medium', 'medium']);
    expect(sighted[2]!.timestamp - sighted[1]!.timestamp).toBeGreaterThanOrEqual(beaconing.againMs);
  });

  it('reports hourly connections within a day, with severity low', () => {
    expect(detected(beacon(60 * minute, 25)).map(({ severity }) => severity)).toEqual(['low']);
  });

  it('evaluates a pair with too many connections to store by the first connections of each hour', () => {
    const sighted = detected(beacon(5000, 12 * 720));
    expect(sighted.at(-1)).toMatchObject({ severity: 'medium', evidence: { interval_seconds: 5 } });
    expect(Number(sighted.at(-1)!.evidence.connections_scored)).toBeLessThan(
      Number(sighted.at(-1)!.evidence.connections),
    );
  });

  it('reports more than one connection per second all day as a strobe', () => {
    const flows = function* () {
      for (let i = 0; i < beaconing.strobe; i++) yield aFlow({ time: start + i * 900, seq: i, srcBytes: 100 + i });
    };
    const titles = detectionsOf(new BeaconingDetector(), flows(), 5000).map(({ title }) => title);
    expect(titles.every((title) => title.startsWith('Beacon'))).toBe(true);
    const strobe = detectionsOf(
      new BeaconingDetector(),
      beacon(800, beaconing.strobe, { srcBytes: 300 }),
      beaconing.strobe,
    );
    expect(strobe).toMatchObject([{ severity: 'low', title: 'Strobe from 10.0.0.5 to 203.0.113.7:443' }]);
  });

  it.each<[string, Partial<Flow>]>([
    ['unanswered connections', { answered: false }],
    ['later reports of connections', { isFirst: false }],
    ['connections between home hosts', { dst: '10.0.0.9', dstHome: true }],
    ['NTP', { port: 123, transport: 'udp' }],
    ['an aborted handshake', { srcBytes: 80, dstBytes: 44 }],
    ['connections without a port', { port: Number.NaN }],
    [
      'passwords guessed from outside',
      { srcHome: false, src: '198.51.100.1', dst: '10.0.0.9', dstHome: true, port: 22 },
    ],
  ])('does not report %s', (_, what) => {
    expect(detected(beacon(5 * minute, 288, what))).toEqual([]);
  });

  it.each<[string, Flow[]]>([
    ['eleven connections', beacon(60 * minute, 11)],
    ['a pair seen for less than two hours', beacon(minute, 110)],
    ['fifteen connections at random times', byChance(15)],
    ['fifty connections at random times', byChance(50)],
    ['500 connections at random times', byChance(500)],
  ])('does not report %s', (_, flows) => {
    expect(detected(flows)).toEqual([]);
  });

  it('reports beacons from outside and mail polling one severity level lower', () => {
    const inbound = { src: '198.51.100.1', srcHome: false, dst: '10.0.0.9', dstHome: true };
    expect(detected(beacon(5 * minute, 288, inbound)).at(-1)).toMatchObject({ severity: 'low' });
    expect(detected(beacon(5 * minute, 288, { port: 993 })).at(-1)).toMatchObject({ severity: 'low' });
    expect(detected(beacon(5 * minute, 288, { ...inbound, dstHome: false })).at(-1)).toMatchObject({
      severity: 'medium',
      evidence: { direction: 'external' },
    });
  });

  it('raises the severity for destinations that few hosts use, and lowers it for destinations that many hosts use', () => {
    const others = (count: number, dst: string) =>
      Array.from({ length: count }, (_, i) => aFlow({ src: `10.0.1.${i}`, dst, time: start }));
    const alone = detected([...others(60, '198.51.100.9'), ...beacon(5 * minute, 300)]);
    expect(alone.at(-1)).toMatchObject({
      severity: 'high',
      evidence: { hosts_using_destination: 1, hosts_seen: 61, score_modifier: 0.05 },
    });
    const shared = detected([...others(60, '203.0.113.7'), ...beacon(5 * minute, 300)]);
    expect(shared.at(-1)).toMatchObject({ severity: 'low', evidence: { score_modifier: -0.15 } });
  });

  it('has the same findings for any order of events, after a merge of two states and after a restart', () => {
    expectSameDetections(
      () => new BeaconingDetector(),
      [
        ...beacon(20 * minute, 70, {}, 0.1),
        ...beacon(25 * minute, 50, { dst: '203.0.113.8', srcHome: false, src: '198.51.100.7' }),
      ],
    );
  });

  it('stores 200,000 pairs with one connection, and drops pairs above its capacity', () => {
    const detector = new BeaconingDetector();
    const detected = (from: number, to: number) => {
      const many = function* () {
        for (let i = from; i < to; i++)
          yield aFlow({ dst: `198.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, time: start + i, seq: i });
      };
      return detectionsOf(detector, many(), 10_000);
    };
    expect(detected(0, 200_000)).toEqual([]);
    expect(detector.dropped.forgotten).toBe(0);
    expect(detected(200_000, 300_000)).toEqual([]);
    expect(detector.dropped.forgotten).toBeGreaterThanOrEqual(300_000 - 2 ** 18);
  });

  it('finds a slow beacon among floods of pairs with one connection', () => {
    const flows = function* () {
      let seq = 0;
      for (let i = 0; i < 25; i++) {
        yield aFlow({ time: start + i * 60 * minute, seq: seq++, srcBytes: 300 });
        for (let other = 0; other < 20_000; other++)
          yield aFlow({
            src: `10.1.${other % 250}.${i}`,
            dst: `198.${seq >> 16}.${(seq >> 8) & 255}.${seq & 255}`,
            time: start + i * 60 * minute + other * 100,
            seq: seq++,
          });
      }
    };
    const detector = new BeaconingDetector();
    const sighted = detectionsOf(detector, flows(), 10_000);
    expect(sighted.map(({ title }) => title)).toEqual(['Beacon from 10.0.0.5 to 203.0.113.7:443']);
    expect(detector.dropped.forgotten).toBeGreaterThan(200_000);
  });

  it('counts no connections of busy pairs as late', () => {
    const busy = new BeaconingDetector();
    const deep = function* () {
      for (let i = 0; i < 200 * 1.5 * beaconing.keptPerHour; i++)
        yield aFlow({
          dst: `198.18.0.${i % 200}`,
          time: start + Math.floor(i / 200) * 3000,
          srcBytes: 300 + i,
        });
    };
    detectionsOf(busy, deep());
    expect(busy.dropped.late).toBe(0);
  });

  it('reports nothing on a quiet day of an office, and six findings on a day with attacks', () => {
    expect(detected(officeFlows({ days: 1 }))).toEqual([]);
    const found = detected(officeFlows({ days: 1, attacks: true }));
    expect(found.length).toBe(6);
    expect(new Set(found.map(({ severity }) => severity))).toEqual(new Set(['low']));
    expect(found.every(({ ends }) => ends.dst_port === 80)).toBe(true);
  });

  describe.skipIf(!hasRealFiles)('real traffic', () => {
    const above = (severity: string) => severities.indexOf(severity as 'low') > severities.indexOf('low');

    it('reports with a severity above low only the beacon to the recorded Internet host', () => {
      const sighted = detected(realFlows(realFiles.internetHost));
      const pairs = sighted.filter(({ severity }) => above(severity)).map(({ ends }) => ends);
      expect(pairs.length).toBeGreaterThan(0);
      for (const ends of pairs)
        expect(ends).toMatchObject({ src_ip: '73.54.23.243', dst_ip: '64.225.56.201', dst_port: 80 });
      expect(new Set(sighted.map(({ title }) => title)).size).toBeLessThanOrEqual(2);
      expect(sighted[0]!.evidence).toMatchObject({ data_size_score: 1, median_bytes_out: 292 });
    });

    it('reports the beacon from outside as at most low when the recorded Internet host is a home host', () => {
      const sighted = detected(realFlows(realFiles.internetHost, ['64.225.56.201/32']));
      expect(sighted.map(({ ends }) => ends.src_ip)).toContain('73.54.23.243');
      expect(sighted.filter(({ severity }) => above(severity))).toEqual([]);
    });

    it('reports half-hourly mail polling of a small office as informational', () => {
      expect(detected(realFlows(realFiles.lan))).toMatchObject([
        { severity: 'informational', ends: { dst_port: 995 } },
      ]);
    });
  });
});
