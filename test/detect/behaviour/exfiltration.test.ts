import { describe, expect, it } from 'vitest';
import type { Flow } from '../../../src/detect/behaviour/detector.ts';
import { ExfiltrationDetector, exfiltration } from '../../../src/detect/behaviour/exfiltration.ts';
import { expectSameDetections } from './same-told.ts';
import { aFlow, detectionsOf, hasRealFiles, officeFlows, realFiles, realFlows } from './told-flows.ts';

const dayMs = 86_400_000;
const mega = 1_000_000;
const monday = Date.UTC(2026, 10, 2, 9);
const detected = (flows: Iterable<Flow>) => detectionsOf(new ExfiltrationDetector(), flows, 1);

/** Returns flows of a host that sends this many megabytes each day, to three destinations. */
function usual(days: number, megabytes = 40, what: Partial<Flow> = {}): Flow[] {
  return Array.from({ length: 3 * days }, (_, i) =>
    aFlow({
      time: monday + Math.floor(i / 3) * dayMs + (i % 3) * 3_600_000,
      dst: `198.51.100.${i % 3}`,
      srcBytes: ((megabytes + (i % 4)) * mega) / 3,
      dstBytes: 20 * mega,
      seq: i + 1,
      ...what,
    }),
  );
}

/** Returns twenty flows that together send this many megabytes on day `days`. */
function robbery(megabytes: number, what: Partial<Flow> = {}, days = 7): Flow[] {
  return Array.from({ length: 20 }, (_, i) =>
    aFlow({
      time: monday + days * dayMs + i * 60_000,
      srcBytes: (megabytes * mega) / 20,
      dstBytes: mega,
      seq: 1000 + i,
      ...what,
    }),
  );
}

describe('the exfiltration detector', () => {
  it('reports a host that sends far more than on its other days, with its baseline', () => {
    const sighted = detected([...usual(7), ...robbery(2000)]);
    expect(sighted.map(({ severity }) => severity)).toEqual(['medium', 'high']);
    expect(sighted[1]).toMatchObject({
      title: '10.0.0.5 sent an unusual amount of data to 203.0.113.7',
      ends: { src_ip: '10.0.0.5', dst_ip: '203.0.113.7' },
      evidence: {
        bytes_out: 1000 * mega,
        baseline_days: 7,
        is_new_destination: true,
        largest_destination_share: 1,
        connections_opened_by: 'host',
      },
    });
    const { baseline_median, threshold } = sighted[1]!.evidence;
    expect(Number(baseline_median)).toBeGreaterThan(39 * mega);
    expect(Number(threshold)).toBeGreaterThan(3 * 39 * mega);
  });

  it('reports a host again only if a later day exceeds the largest earlier day', () => {
    const sighted = detected([...usual(7), ...robbery(2000), ...robbery(2000, {}, 10)]);
    expect(sighted.map(({ severity }) => severity)).toEqual(['medium', 'high']);
    expect(detected([...usual(7), ...robbery(1000), ...robbery(9000, {}, 10)]).at(-1)!.severity).not.toBe('low');
  });

  it('gives a lower severity for many destinations, and for a known destination', () => {
    const spread = robbery(900).map((flow, i) => ({ ...flow, dst: `192.0.2.${i}` }));
    expect(detected([...usual(7), ...spread]).map(({ severity }) => severity)).toEqual(['low']);
    expect(detected([...usual(7), ...robbery(3000, { dst: '198.51.100.1' })]).at(-1)).toMatchObject({
      severity: 'medium',
      evidence: { is_new_destination: false },
    });
  });

  it.each<[string, Flow[]]>([
    ['less than the minimum', [...usual(7, 1), ...robbery(95)]],
    ['less than three times the usual', [...usual(7), ...robbery(115)]],
    ['less than 1.5 times the maximum of a day', [...usual(7), ...robbery(500, {}, 3).slice(0, 8), ...robbery(290)]],
    ['as on other days', usual(20, 400)],
    ['sent in unanswered connections', [...usual(7), ...robbery(2000, { answered: false })]],
    ['sent to a home host', [...usual(7), ...robbery(2000, { dstHome: true })]],
    ['sent between two external hosts', [...usual(7), ...robbery(2000, { srcHome: false })]],
  ])('does not report volumes that are %s', (name, flows) => {
    const sighted = detected(flows).filter(({ timestamp }) => timestamp >= monday + 7 * dayMs);
    expect(sighted, name).toEqual([]);
  });

  it('waits for a baseline, except for volumes that are large for any host', () => {
    expect(detected([...usual(3), ...robbery(1900, {}, 3)])).toEqual([]);
    expect(detected([...usual(3), ...robbery(2100, {}, 3)])).toMatchObject([
      { severity: 'low', evidence: { baseline_days: 3, threshold: exfiltration.minBytesLearning.sent } },
    ]);
  });

  it('reports one very large upload even without a baseline', () => {
    const upload = aFlow({ time: monday, srcBytes: 300 * mega, dstBytes: 2 * mega });
    expect(detected([upload])).toMatchObject([
      { severity: 'low', evidence: { largest_upload_bytes: 300 * mega, largest_upload_to: '203.0.113.7' } },
    ]);
    expect(detected([{ ...upload, dstBytes: 16 * mega }])).toEqual([]);
    expect(detected([{ ...upload, srcBytes: 249 * mega }])).toEqual([]);
  });

  it('counts data that clients fetch from a host separately from data that the host sends', () => {
    const fetched = (flow: Flow) => ({
      ...flow,
      src: flow.dst,
      dst: flow.src,
      srcHome: false,
      dstHome: true,
      srcBytes: flow.dstBytes,
      dstBytes: flow.srcBytes,
    });
    const sighted = detected([...usual(7).map(fetched), ...robbery(3000).map(fetched)]);
    expect(sighted).toMatchObject([{ severity: 'low', evidence: { connections_opened_by: 'others' } }]);
    expect(detected([...usual(7), ...robbery(450).map(fetched)])).toEqual([]);
  });

  it('has the same findings for any order of events, after a merge of two states and after a restart', () => {
    expectSameDetections(
      () => new ExfiltrationDetector(),
      [...usual(6, 39), ...robbery(1000), ...usual(5, 60, { src: '10.0.0.6' })],
    );
  });

  it('evicts the hosts that were idle longest, and counts the evictions', () => {
    const detector = new ExfiltrationDetector();
    const many = function* () {
      for (let i = 0; i < 9000; i++) yield aFlow({ src: `10.1.${i >> 8}.${i & 255}`, time: monday });
    };
    expect(detectionsOf(detector, many())).toEqual([]);
    expect(detector.dropped.forgotten).toBe(9000 - 8192);
    const heavy = new ExfiltrationDetector();
    const deep = function* () {
      for (let day = 0; day < 14; day++)
        for (let i = 0; i < 12_000; i++)
          yield aFlow({
            src: `10.1.${(i % 1500) >> 8}.${(i % 1500) & 255}`,
            dst: `192.0.2.${Math.floor(i / 1500)}`,
            time: monday + day * dayMs,
            srcBytes: 20_000,
          });
    };
    expect(detectionsOf(heavy, deep())).toEqual([]);
    expect(heavy.dropped.forgotten).toBeGreaterThan(0);
  });

  it('reports nothing on quiet days of an office', () => {
    expect(detected(officeFlows({ days: 2, linesPerSecond: 0.5 }))).toEqual([]);
  });

  it.skipIf(!hasRealFiles)('reports nothing for a scanned Internet host, nor for a small office', () => {
    expect(detected(realFlows(realFiles.internetHost))).toEqual([]);
    expect(detected(realFlows(realFiles.internetHost, ['64.225.56.201/32']))).toEqual([]);
    expect(detected(realFlows(realFiles.lan))).toEqual([]);
  });
});
