import { describe, expect, it } from 'vitest';
import { base32, random } from '../../../scripts/traffic/random.ts';
import { DnsTunnelDetector, dnsTunnelThresholds } from '../../../src/detect/behaviour/dns-tunnel.ts';
import { scoreTunnel, type TunnelFigures } from '../../../src/detect/behaviour/support/dns-tunnel-score.ts';
import { keepsPromises } from './lookup-promises.ts';
import { detectionsOf, dnsFiles, hasDnsFiles, officeLookups, realLookups, series } from './told-lookups.ts';

const hex = '0123456789abcdef';
const text = (count: number, gapMs = 1000) => {
  const rng = random(1);
  return series(count, gapMs, () => ({
    query: `${rng.text(18, hex)}.t.bad.example`,
    qtype: 'TXT',
    answers: `[{"type":"TXT","ttl":1,"data":"${rng.text(18, hex)}"}]`,
  }));
};
const addresses = (count: number, gapMs: number) => {
  const rng = random(2);
  return series(count, gapMs, () => ({ query: `${rng.text(32, base32)}.bad.example` }));
};
const find = (lookups: Parameters<typeof detectionsOf>[1], every?: number) =>
  detectionsOf(new DnsTunnelDetector(), lookups, every);
const none = (severity: string) => severity !== 'low' && severity !== 'informational';

describe('DNS tunnels', () => {
  it('are found from a few names that carry text, and are more severe with more names', () => {
    expect(find(text(8))).toEqual([]);
    const [few] = find(text(24));
    expect(few).toMatchObject({ severity: 'medium', ends: { src_ip: '10.0.0.5', domain: 'bad.example' } });
    expect(few?.evidence).toMatchObject({ distinct_names: 24, encoded_share: 1, carrier_type_share: 1 });
    expect(few?.events).toHaveLength(10);
    const more = find(text(200), 16).map(({ severity }) => severity);
    expect(more).toEqual(['low', 'medium', 'high'].slice(-more.length));
    expect(more.at(-1)).toBe('high');
  });

  it('are found if they use only address queries, in a burst or slowly over a day', () => {
    expect(find(addresses(200, 50)).at(-1)?.severity).toBe('medium');
    expect(find(addresses(500, 50)).at(-1)?.severity).toBe('high');
    const slow = find(addresses(288, 300_000)).at(-1);
    expect(slow?.severity).toBe('medium');
    expect(slow?.evidence.seconds).toBeGreaterThan(18 * 3600);
  });

  it('are reported once, and again after a day', () => {
    expect(find(text(2000), 50).filter(({ severity }) => severity === 'high')).toHaveLength(1);
    const days = find(text(800, 300_000), 10).filter(({ severity }) => severity === 'high');
    expect(days.length).toBeGreaterThanOrEqual(2);
    expect(days[1]!.timestamp - days[0]!.timestamp).toBeGreaterThanOrEqual(dnsTunnelThresholds.againMs);
  });

  it('are found if sensors report questions and answers separately', () => {
    const both = text(40).flatMap((lookup) => [{ ...lookup, rcode: Number.NaN, answers: undefined }, lookup]);
    expect(find(both)[0]?.evidence).toMatchObject({ uniqueness: 1, distinct_names: 40 });
  });

  it('do not include benign traffic that resembles a tunnel', () => {
    const rng = random(3);
    const id = rng.text(32, hex);
    const count = 3000;
    const spared = {
      'one name with a long label, queried repeatedly': series(count, 1000, () => ({
        query: `${id}.telemetry.example`,
        qtype: 'TXT',
      })),
      'reverse names in blocklists of mail senders': series(count, 1000, () => ({
        query: `${[1, 2, 3, 4].map(() => rng.int(0, 256)).join('.')}.list.example`,
        qtype: 'TXT',
      })),
      'reverse look-ups': series(count, 1000, () => ({
        query: `${[1, 2, 3, 4].map(() => rng.int(0, 256)).join('.')}.in-addr.arpa`,
        qtype: 'PTR',
      })),
      'a content network': series(count, 1000, () => ({ query: `d${rng.text(13, base32)}.cloudfront.net` })),
      'a product that looks up files': series(count, 1000, () => ({
        query: `${rng.text(40, base32)}.s.sophosxl.net`,
        qtype: 'TXT',
      })),
      'some random names of a measurement': series(20, 1000, () => ({
        query: `${rng.text(24, hex)}.rum.example`,
      })),
      'NetBIOS names': series(count, 10, () => ({ query: rng.text(15, base32), qtype: 'NB' })),
      'random names that do not exist': series(300, 100, () => ({
        query: `${rng.text(12, base32)}.victim.example`,
        rcode: 3,
        answers: undefined,
      })),
      'an outside client that queries a home server': text(100).map((lookup) => ({
        ...lookup,
        srcHome: false,
      })),
    };
    for (const [what, lookups] of Object.entries(spared)) expect([what, find(lookups)]).toEqual([what, []]);
  });

  it('have at most severity low if only the number of names is high', () => {
    const hosts = series(5000, 1000, (i) => ({ query: `printer-${i}.corp.example` }));
    expect(find(hosts).map(({ severity }) => severity)).toEqual(['low']);
  });

  it('are not tracked in domains on the allowlist', () => {
    const detector = new DnsTunnelDetector(undefined, { allowed: ['bad.example'] });
    expect(detectionsOf(detector, text(100))).toEqual([]);
    expect(detector.state()).toEqual([]);
  });

  it('are the same for any order of events, after a merge of two states and after a restart', () => {
    keepsPromises(() => new DnsTunnelDetector(), [...text(60), ...addresses(60, 60_000)]);
  });

  it('are tracked in bounded memory, by dropping pairs of client and domain', () => {
    const rng = random(4);
    const detector = new DnsTunnelDetector(undefined, { maxKeys: 100, maxBytes: 200_000 });
    detectionsOf(
      detector,
      series(8_000, 1, (i) => ({ query: `${rng.text(200, base32)}.${i % 500}.example`, qtype: 'TXT' })),
    );
    expect(detector.dropped.forgotten).toBeGreaterThan(400);
  });

  it('are not found on a quiet simulated day of an office, and the tunnel of a simulated attack is found', () => {
    expect(find(officeLookups({ days: 1 }))).toEqual([]);
    const found = find(officeLookups({ days: 1, attacks: true }));
    expect(new Set(found.map(({ ends }) => ends.domain))).toEqual(new Set(['cdn-sync.example']));
    expect(found.at(-1)?.severity).toBe('high');
  });
});

describe.skipIf(!hasDnsFiles)('DNS tunnels in real data', () => {
  it('are found from 24 rows', () => {
    const found = find(realLookups(dnsFiles.variants));
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({
      severity: 'medium',
      ends: { src_ip: '192.168.88.2', domain: 'r-1x.com' },
    });
  });

  it('are not reported above low in an office or at a server', () => {
    expect(find(realLookups(dnsFiles.lan)).filter(({ severity }) => none(severity))).toEqual([]);
    const server = realLookups(dnsFiles.internetHost, ['64.225.56.201/32']);
    expect(find(server).filter(({ severity }) => none(severity))).toEqual([]);
  });
});

describe('the score of a tunnel', () => {
  const bare: TunnelFigures = {
    names: 0,
    encodedShare: 0,
    payload: 8,
    carrierShare: 0,
    uniqueness: 0.1,
    missingShare: 0,
    answer: 0,
  };

  it.each([
    [99, 0],
    [100, 0.2],
    [500, 0.4],
    [800, 0.6],
    [1000, 0.8],
    [100_000, 0.8],
  ])('with %i names and no other evidence has the subscore %f for the number of names', (names, expected) => {
    expect(scoreTunnel({ ...bare, names }).byNames).toBeCloseTo(expected, 10);
  });

  it('rises with every measure of the content, and falls if names do not exist', () => {
    const some: TunnelFigures = { ...bare, names: 50, encodedShare: 0.5, carrierShare: 0.5 };
    const { score } = scoreTunnel(some);
    const more = { encodedShare: 1, carrierShare: 1, uniqueness: 1, payload: 24, answer: 60, names: 90 };
    for (const [part, value] of Object.entries(more))
      expect(scoreTunnel({ ...some, [part]: value }).score).toBeGreaterThan(score);
    expect(scoreTunnel({ ...some, missingShare: 1 }).score).toBeLessThan(score);
  });
});
