import { describe, expect, it } from 'vitest';
import { random } from '../../../scripts/traffic/random.ts';
import { severities } from '../../../src/contract/vocabulary.ts';
import { BeaconingDetector, beaconing } from '../../../src/detect/behaviour/beaconing.ts';
import type { Flow } from '../../../src/detect/behaviour/detector.ts';
import { expectSameTold } from './same-told.ts';
import { aFlow, hasRealFiles, officeFlows, realFiles, realFlows, sightedOf } from './told-flows.ts';

const chance = random(3);
const minute = 60_000;
const start = Date.UTC(2026, 10, 16, 9);

/** A pair's connections, one every so often, each a little late. */
function beacon(gap: number, count: number, what: Partial<Flow> = {}, jitter = 0): Flow[] {
  return Array.from({ length: count }, (_, i) => {
    const late = jitter * chance.next();
    return aFlow({ time: start + i * gap + late * gap, seq: i + 1, srcBytes: 300, ...what });
  });
}

/** Connections that come by chance, so many in a day. */
function byChance(count: number): Flow[] {
  return Array.from({ length: count }, (_, i) =>
    aFlow({ time: start + chance.next() * 24 * 60 * minute, seq: i + 1, srcBytes: 300 }),
  ).sort((a, b) => a.time - b.time);
}

const told = (flows: Iterable<Flow>, every?: number) => sightedOf(new BeaconingDetector(), flows, every);

describe('beaconing', () => {
  it('tells a regular pair with its subscores', () => {
    const [first, second, ...rest] = told(beacon(5 * minute, 288, {}, 0.2), 12);
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

  it('tells it again a day later while it goes on', () => {
    const day = 288;
    const sighted = told(beacon(5 * minute, 3 * day + 30), 12);
    expect(sighted.map(({ severity }) => severity)).toEqual(['low', 'medium', 'medium', 'medium']);
    expect(sighted[2]!.timestamp - sighted[1]!.timestamp).toBeGreaterThanOrEqual(beaconing.againMs);
  });

  it('finds one connection in an hour within a day, as low', () => {
    expect(told(beacon(60 * minute, 25)).map(({ severity }) => severity)).toEqual(['low']);
  });

  it('judges what is busier than it remembers by the beginning of each hour', () => {
    const sighted = told(beacon(5000, 12 * 720));
    expect(sighted.at(-1)).toMatchObject({ severity: 'medium', evidence: { interval_seconds: 5 } });
    expect(Number(sighted.at(-1)!.evidence.connections_scored)).toBeLessThan(
      Number(sighted.at(-1)!.evidence.connections),
    );
  });

  it('tells what is quicker than once a second all day as a strobe', () => {
    const flows = function* () {
      for (let i = 0; i < beaconing.strobe; i++)
        yield aFlow({ time: start + i * 900, seq: i, srcBytes: 100 + i });
    };
    const titles = sightedOf(new BeaconingDetector(), flows(), 5000).map(({ title }) => title);
    expect(titles.every((title) => title.startsWith('Beacon'))).toBe(true);
    const strobe = sightedOf(
      new BeaconingDetector(),
      beacon(800, beaconing.strobe, { srcBytes: 300 }),
      beaconing.strobe,
    );
    expect(strobe).toMatchObject([{ severity: 'low', title: 'Strobe from 10.0.0.5 to 203.0.113.7:443' }]);
  }, 120_000);

  it.each<[string, Partial<Flow>]>([
    ['no answer', { answered: false }],
    ['other reports of connections', { isFirst: false }],
    ['between home hosts', { dst: '10.0.0.9', dstHome: true }],
    ['NTP', { port: 123, transport: 'udp' }],
    ['a handshake that was broken off', { srcBytes: 80, dstBytes: 44 }],
    ['no port', { port: Number.NaN }],
    [
      'passwords guessed from outside',
      { srcHome: false, src: '198.51.100.1', dst: '10.0.0.9', dstHome: true, port: 22 },
    ],
  ])('says nothing of %s', (_, what) => {
    expect(told(beacon(5 * minute, 288, what))).toEqual([]);
  });

  it.each<[string, Flow[]]>([
    ['eleven connections', beacon(60 * minute, 11)],
    ['less than two hours', beacon(minute, 110)],
    ['a dozen by chance', byChance(15)],
    ['fifty by chance', byChance(50)],
    ['hundreds by chance', byChance(500)],
  ])('says nothing of %s', (_, flows) => {
    expect(told(flows)).toEqual([]);
  });

  it('tells what comes from outside one grade lower, and what asks for mail', () => {
    const inbound = { src: '198.51.100.1', srcHome: false, dst: '10.0.0.9', dstHome: true };
    expect(told(beacon(5 * minute, 288, inbound)).at(-1)).toMatchObject({ severity: 'low' });
    expect(told(beacon(5 * minute, 288, { port: 993 })).at(-1)).toMatchObject({ severity: 'low' });
    expect(told(beacon(5 * minute, 288, { ...inbound, dstHome: false })).at(-1)).toMatchObject({
      severity: 'medium',
      evidence: { direction: 'external' },
    });
  });

  it('is graver where one host of many goes, and less where half of them go', () => {
    const others = (count: number, dst: string) =>
      Array.from({ length: count }, (_, i) => aFlow({ src: `10.0.1.${i}`, dst, time: start }));
    const alone = told([...others(60, '198.51.100.9'), ...beacon(5 * minute, 300)]);
    expect(alone.at(-1)).toMatchObject({
      severity: 'high',
      evidence: { hosts_using_destination: 1, hosts_seen: 61, score_modifier: 0.05 },
    });
    const shared = told([...others(60, '203.0.113.7'), ...beacon(5 * minute, 300)]);
    expect(shared.at(-1)).toMatchObject({ severity: 'low', evidence: { score_modifier: -0.15 } });
  });

  it('concludes the same in any order, in parts and after a restart', () => {
    expectSameTold(
      () => new BeaconingDetector(),
      [
        ...beacon(20 * minute, 70, {}, 0.1),
        ...beacon(25 * minute, 50, { dst: '203.0.113.8', srcHome: false, src: '198.51.100.7' }),
      ],
    );
  });

  it('remembers 200,000 pairs that came once, and forgets some of more than there is room for', () => {
    const detector = new BeaconingDetector();
    const told = (from: number, to: number) => {
      const many = function* () {
        for (let i = from; i < to; i++)
          yield aFlow({ dst: `198.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, time: start + i, seq: i });
      };
      return sightedOf(detector, many(), 10_000);
    };
    expect(told(0, 200_000)).toEqual([]);
    expect(detector.left.forgotten).toBe(0);
    expect(told(200_000, 300_000)).toEqual([]);
    expect(detector.left.forgotten).toBeGreaterThanOrEqual(300_000 - 2 ** 18);
  });

  it('finds a slow beacon among floods of pairs that come once', () => {
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
    const sighted = sightedOf(detector, flows(), 10_000);
    expect(sighted.map(({ title }) => title)).toEqual(['Beacon from 10.0.0.5 to 203.0.113.7:443']);
    expect(detector.left.forgotten).toBeGreaterThan(200_000);
  });

  it('keeps records of the pairs that came last', () => {
    const busy = new BeaconingDetector();
    const deep = function* () {
      for (let i = 0; i < 40_000; i++)
        for (let hour = 0; hour < 1; hour++)
          yield aFlow({
            dst: `198.18.0.${i % 200}`,
            time: start + Math.floor(i / 200) * 3000,
            srcBytes: 300 + i,
          });
    };
    sightedOf(busy, deep());
    expect(busy.left.late).toBe(0);
  });

  it('says nothing of a quiet day in the office, and finds each beacon of a bad one', () => {
    expect(told(officeFlows({ days: 1 }))).toEqual([]);
    const found = told(officeFlows({ days: 1, attacks: true }));
    expect(found.length).toBe(6);
    expect(new Set(found.map(({ severity }) => severity))).toEqual(new Set(['low']));
    expect(found.every(({ ends }) => ends.dst_port === 80)).toBe(true);
  }, 120_000);

  describe.skipIf(!hasRealFiles)('real traffic', () => {
    const above = (severity: string) => severities.indexOf(severity as 'low') > severities.indexOf('low');

    it('finds the beacon to a host of the internet, above low nothing else', () => {
      const sighted = told(realFlows(realFiles.internetHost));
      const pairs = sighted.filter(({ severity }) => above(severity)).map(({ ends }) => ends);
      expect(pairs.length).toBeGreaterThan(0);
      for (const ends of pairs)
        expect(ends).toMatchObject({ src_ip: '73.54.23.243', dst_ip: '64.225.56.201', dst_port: 80 });
      expect(new Set(sighted.map(({ title }) => title)).size).toBeLessThanOrEqual(2);
      expect(sighted[0]!.evidence).toMatchObject({ data_size_score: 1, median_bytes_out: 292 });
    });

    it('finds it where the host is home too, as a visitor', () => {
      const sighted = told(realFlows(realFiles.internetHost, ['64.225.56.201/32']));
      expect(sighted.map(({ ends }) => ends.src_ip)).toContain('73.54.23.243');
      expect(sighted.filter(({ severity }) => above(severity))).toEqual([]);
    });

    it('tells the half-hourly look for mail of the small office as what it is', () => {
      expect(told(realFlows(realFiles.lan))).toMatchObject([
        { severity: 'informational', ends: { dst_port: 995 } },
      ]);
    });
  });
});
