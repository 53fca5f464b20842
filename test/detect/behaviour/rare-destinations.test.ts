import { describe, expect, it } from 'vitest';
import type { Flow } from '../../../src/detect/behaviour/detector.ts';
import { RareDestinationsDetector, rareDestinations } from '../../../src/detect/behaviour/rare-destinations.ts';
import { FirstSeen } from '../../../src/detect/behaviour/support/first-seen.ts';
import { expectSameDetections } from './same-told.ts';
import { aFlow, detectionsOf, hasRealFiles, officeFlows, realFiles, realFlows } from './told-flows.ts';

const dayMs = 86_400_000;
const monday = Date.UTC(2026, 10, 2, 9);
const detected = (flows: Iterable<Flow>) => detectionsOf(new RareDestinationsDetector(), flows, 1);

/** Returns flows to the same three destinations each day. */
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

describe('the rare-destination detector', () => {
  it('reports a host once a day for large volumes to a new destination', () => {
    const sighted = detected([...usual(8), much(), much({ dst: '192.0.2.4', seq: 501 }), much({ dst: '192.0.9.4' })]);
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

  it('counts all stored destinations of a host in one finding, and lists ten of them', () => {
    const places = Array.from({ length: 30 }, (_, i) => much({ dst: `192.0.${i}.4`, srcBytes: 2_000_000 + i }));
    const detector = new RareDestinationsDetector();
    const [sighted, ...rest] = detectionsOf(detector, [...usual(8), ...places]);
    expect(rest).toEqual([]);
    expect(sighted!.evidence.destinations_count).toBe(rareDestinations.places);
    expect(sighted!.evidence.destinations).toHaveLength(rareDestinations.listed);
    expect(sighted!.title).toBe('10.0.0.5 talks to 192.0.29.4:443 and 15 other destinations, new to the network');
    expect(sighted!.ends).toEqual({ src_ip: '10.0.0.5' });
  });

  it('reports a new destination on a rare port with severity low', () => {
    expect(detected([...usual(8), much(), much({ port: 4444, srcBytes: 30_000, seq: 501 })])).toMatchObject([
      { severity: 'informational' },
      { severity: 'low', evidence: { rare_ports: [4444] } },
    ]);
  });

  it('reports a known destination on a port that no host used before', () => {
    const known = { dst: '198.51.0.9', port: 4444, srcBytes: 30_000 };
    expect(detected([...usual(8), much(known)])).toMatchObject([{ severity: 'informational' }]);
    const before = usual(8).slice(6, 9);
    const used = before.map((flow) => ({ ...flow, ...known }));
    expect(detected([...usual(8), ...used, much(known)])).toEqual([]);
  });

  it.each<[string, Flow[]]>([
    ['a destination of the last month', [...usual(8), much({ dst: '198.51.0.77' })]],
    ['a destination with little data', [...usual(8), much({ srcBytes: 999_999 })]],
    ['a rare port with hardly any data', [...usual(8), much({ port: 4444, srcBytes: 17_000 })]],
    ['a port used by chance', [...usual(8), much({ port: 40_000, transport: 'udp', srcBytes: 30_000 })]],
    ['a home destination', [...usual(8), much({ dstHome: true })]],
    ['an outside source', [...usual(8), much({ srcHome: false })]],
    ['an unanswered connection', [...usual(8), much({ answered: false })]],
    ['a network that was monitored for six days', [...usual(6), much()]],
    ['a connection with a negative time', [...usual(8), much({ time: -5 })]],
  ])('does not report %s', (_, flows) => {
    expect(detected(flows)).toEqual([]);
  });

  it('does not treat a port as rare if three hosts use it', () => {
    const hosts = ['10.0.0.6', '10.0.0.7'].map((src) => much({ src, port: 4444, srcBytes: 100 }));
    const mine = much({ port: 4444, srcBytes: 30_000 });
    expect(detected([...usual(8), ...hosts.slice(0, 1), mine])).toMatchObject([{ severity: 'low' }]);
    expect(detected([...usual(8), ...hosts, mine])).toEqual([]);
  });

  it('has the same findings for any order of events, after a merge of two states and after a restart', () => {
    expectSameDetections(
      () => new RareDestinationsDetector(),
      [
        ...usual(8),
        much(),
        much({ src: '10.0.0.6', port: 4444, dst: '192.0.2.1' }),
        much({ src: '10.0.0.7', dst: '192.0.2.2', time: today - dayMs }),
      ],
    );
  });

  it('evicts the hosts and ports that were idle longest, and counts the evictions', () => {
    const detector = new RareDestinationsDetector();
    const many = function* () {
      for (let i = 0; i < 6000; i++)
        yield aFlow({ src: `10.1.${i >> 8}.${i & 255}`, dst: `192.${i >> 8}.${i & 255}.1`, port: 2000 + i });
    };
    expect(detectionsOf(detector, many())).toEqual([]);
    expect(detector.dropped.forgotten).toBeGreaterThan(2 * (5900 - 4096));
  });

  it('reports nothing above informational in nine quiet days of an office', () => {
    const sighted = detectionsOf(new RareDestinationsDetector(), officeFlows({ days: 9, linesPerSecond: 0.3 }));
    expect(sighted.filter(({ severity }) => severity !== 'informational')).toEqual([]);
    expect(sighted.length).toBeLessThanOrEqual(5);
  });

  it.skipIf(!hasRealFiles)('reports nothing in traces shorter than the learning time', () => {
    expect(detected(realFlows(realFiles.internetHost, ['64.225.56.201/32']))).toEqual([]);
    expect(detected(realFlows(realFiles.lan))).toEqual([]);
  });
});

describe('first seen', () => {
  it('returns the day of the first use, and starts again after a long absence', () => {
    const seen = new FirstSeen(1024, 30);
    expect([seen.see(1, 2, 100), seen.see(1, 2, 110), seen.see(1, 2, 140)]).toEqual([100, 100, 100]);
    expect(seen.see(1, 2, 171)).toBe(171);
    expect(seen.since(1, 2)).toBe(171);
    expect(seen.since(3, 4)).toBe(0);
  });

  it('accepts days in any order, and starts from the later of two uses that are separated by a long absence', () => {
    const seen = new FirstSeen(1024, 30);
    expect([seen.see(1, 2, 100), seen.see(1, 2, 90), seen.see(1, 2, 20)]).toEqual([100, 90, 90]);
  });

  it('treats a new name as known only if other names occupy both of its cells', () => {
    const seen = new FirstSeen(1024, 30);
    seen.see(1, 2, 100);
    expect(seen.see(1, 3, 105)).toBe(105);
    expect(seen.see(1, 2 + 1024, 105)).toBe(100);
  });
});
