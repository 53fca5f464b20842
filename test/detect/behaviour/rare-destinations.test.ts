import { describe, expect, it } from 'vitest';
import type { Flow } from '../../../src/detect/behaviour/detector.ts';
import { FirstSeen } from '../../../src/detect/behaviour/first-seen.ts';
import {
  RareDestinationsDetector,
  rareDestinations,
} from '../../../src/detect/behaviour/rare-destinations.ts';
import { expectSameTold } from './same-told.ts';
import { aFlow, hasRealFiles, officeFlows, realFiles, realFlows, sightedOf } from './told-flows.ts';

const dayMs = 86_400_000;
const monday = Date.UTC(2026, 10, 2, 9);
const told = (flows: Iterable<Flow>) => sightedOf(new RareDestinationsDetector(), flows, 1);

/** Each day the same three places. */
const usual = (days: number): Flow[] =>
  Array.from({ length: 3 * days }, (_, i) =>
    aFlow({
      time: monday + Math.floor(i / 3) * dayMs,
      dst: `198.51.${i % 3}.9`,
      srcBytes: 3_000_000,
      seq: i + 1,
    }),
  );
const today = monday + 8 * dayMs;
const much = (what: Partial<Flow> = {}) => aFlow({ time: today, srcBytes: 2_000_000, seq: 500, ...what });

describe('rare destinations', () => {
  it('tells a host and day once where much went to a new place', () => {
    const sighted = told([
      ...usual(8),
      much(),
      much({ dst: '192.0.2.4', seq: 501 }),
      much({ dst: '192.0.9.4' }),
    ]);
    expect(sighted).toMatchObject([
      {
        severity: 'informational',
        title: '10.0.0.5 talks to 203.0.113.7:443, new to the network',
        evidence: {
          destinations: ['203.0.113.7:443/tcp 2000000 out 2000 in'],
          new_destinations: 1,
          rare_ports: [],
        },
        events: [{ table: 'network', seq: 500 }],
      },
    ]);
  });

  it('lists all that it knows when it tells', () => {
    const places = Array.from({ length: 30 }, (_, i) =>
      much({ dst: `192.0.${i}.4`, srcBytes: 2_000_000 + i }),
    );
    const detector = new RareDestinationsDetector();
    const [sighted, ...rest] = sightedOf(detector, [...usual(8), ...places]);
    expect(rest).toEqual([]);
    expect(sighted!.evidence.destinations_count).toBe(rareDestinations.places);
    expect(sighted!.evidence.destinations).toHaveLength(rareDestinations.listed);
    expect(sighted!.title).toBe('10.0.0.5 talks to 192.0.29.4:443 and 15 other places, new to the network');
    expect(sighted!.ends).toEqual({ src_ip: '10.0.0.5' });
  });

  it('is low where a new place is on a rare port', () => {
    expect(told([...usual(8), much(), much({ port: 4444, srcBytes: 30_000, seq: 501 })])).toMatchObject([
      { severity: 'informational' },
      { severity: 'low', evidence: { rare_ports: [4444] } },
    ]);
  });

  it('tells a port that nobody used before, of a place that is known', () => {
    const known = { dst: '198.51.0.9', port: 4444, srcBytes: 30_000 };
    expect(told([...usual(8), much(known)])).toMatchObject([{ severity: 'informational' }]);
    const before = usual(8).slice(6, 9);
    const used = before.map((flow) => ({ ...flow, ...known }));
    expect(told([...usual(8), ...used, much(known)])).toEqual([]);
  });

  it.each<[string, Flow[]]>([
    ['a place of the last month', [...usual(8), much({ dst: '198.51.0.77' })]],
    ['a place that got little', [...usual(8), much({ srcBytes: 999_999 })]],
    ['a rare port with next to nothing', [...usual(8), much({ port: 4444, srcBytes: 17_000 })]],
    ['a port by chance', [...usual(8), much({ port: 40_000, transport: 'udp', srcBytes: 30_000 })]],
    ['inside', [...usual(8), much({ dstHome: true })]],
    ['visitors', [...usual(8), much({ srcHome: false })]],
    ['no answer', [...usual(8), much({ answered: false })]],
    ['a network that was watched for six days', [...usual(6), much()]],
    ['a place with a time before all times', [...usual(8), much({ time: -5 })]],
  ])('says nothing of %s', (_, flows) => {
    expect(told(flows)).toEqual([]);
  });

  it('does not take a port for rare that three hosts use', () => {
    const hosts = ['10.0.0.6', '10.0.0.7'].map((src) => much({ src, port: 4444, srcBytes: 100 }));
    const mine = much({ port: 4444, srcBytes: 30_000 });
    expect(told([...usual(8), ...hosts.slice(0, 1), mine])).toMatchObject([{ severity: 'low' }]);
    expect(told([...usual(8), ...hosts, mine])).toEqual([]);
  });

  it('concludes the same in any order, in parts and after a restart', () => {
    expectSameTold(
      () => new RareDestinationsDetector(),
      [
        ...usual(8),
        much(),
        much({ src: '10.0.0.6', port: 4444, dst: '192.0.2.1' }),
        much({ src: '10.0.0.7', dst: '192.0.2.2', time: today - dayMs }),
      ],
    );
  }, 120_000);

  it('forgets hosts and ports that were idle longest, and says so', () => {
    const detector = new RareDestinationsDetector();
    const many = function* () {
      for (let i = 0; i < 6000; i++)
        yield aFlow({ src: `10.1.${i >> 8}.${i & 255}`, dst: `192.${i >> 8}.${i & 255}.1`, port: 2000 + i });
    };
    expect(sightedOf(detector, many())).toEqual([]);
    expect(detector.left.forgotten).toBeGreaterThan(2 * (5900 - 4096));
  });

  it('says nothing above low of quiet weeks in the office', () => {
    const sighted = sightedOf(new RareDestinationsDetector(), officeFlows({ days: 9, linesPerSecond: 0.3 }));
    expect(sighted.filter(({ severity }) => severity !== 'informational')).toEqual([]);
    expect(sighted.length).toBeLessThanOrEqual(5);
  });

  it.skipIf(!hasRealFiles)('says nothing of traces that are shorter than its time to learn', () => {
    expect(told(realFlows(realFiles.internetHost, ['64.225.56.201/32']))).toEqual([]);
    expect(told(realFlows(realFiles.lan))).toEqual([]);
  });
});

describe('first seen', () => {
  it('says since which day, and starts again after a long absence', () => {
    const seen = new FirstSeen(1024, 30);
    expect([seen.see(1, 2, 100), seen.see(1, 2, 110), seen.see(1, 2, 140)]).toEqual([100, 100, 100]);
    expect(seen.see(1, 2, 171)).toBe(171);
    expect(seen.since(1, 2)).toBe(171);
    expect(seen.since(3, 4)).toBe(0);
  });

  it('takes what comes later for earlier, and keeps the later of two presences', () => {
    const seen = new FirstSeen(1024, 30);
    expect([seen.see(1, 2, 100), seen.see(1, 2, 90), seen.see(1, 2, 20)]).toEqual([100, 90, 90]);
  });

  it('takes a name for an earlier one only where both of its cells are', () => {
    const seen = new FirstSeen(1024, 30);
    seen.see(1, 2, 100);
    expect(seen.see(1, 3, 105)).toBe(105);
    expect(seen.see(1, 2 + 1024, 105)).toBe(100);
  });
});
