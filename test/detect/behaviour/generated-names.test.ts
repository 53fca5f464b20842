import { describe, expect, it } from 'vitest';
import { families } from '../../../scripts/generated-names/families.ts';
import { ordinary } from '../../../scripts/generated-names/ordinary.ts';
import { random } from '../../../scripts/traffic/random.ts';
import { GeneratedNamesDetector, generatedNamesThresholds } from '../../../src/detect/behaviour/generated-names.ts';
import { keepsPromises } from './lookup-promises.ts';
import {
  aLookup,
  detectionsOf,
  dnsFiles,
  hasDnsFiles,
  monday,
  officeLookups,
  realLookups,
  series,
} from './told-lookups.ts';

const find = (lookups: Parameters<typeof detectionsOf>[1], every?: number) =>
  detectionsOf(new GeneratedNamesDetector(), lookups, every);

const nobody = { rcode: 3, answers: undefined };
const family = (id: string, count: number, gapMs = 1000) => {
  const { make } = families.find((one) => one.id === id)!;
  const rng = random(11);
  return series(count, gapMs, () => ({ query: `${make(rng)}.net`, ...nobody }));
};

describe('generated names', () => {
  it.each(['qakbot', 'tinba', 'emotet', 'nymaim', 'dyre', 'corebot', 'chinad', 'padcrypt', 'gspy', 'virut'])(
    'are found for %s, which the model was not trained on',
    (id) => {
      const found = find(family(id, 60)).at(-1);
      expect(found).toMatchObject({ severity: 'high', ends: { src_ip: '10.0.0.5' } });
      expect(found?.evidence).toMatchObject({ nxdomain_share: 1, found_domains: [] });
      expect(found?.evidence.mean_score).toBeGreaterThan(0.8);
      expect(found?.events).toHaveLength(10);
    },
  );

  it.each(['vawtrak', 'symmi', 'pushdo'])('of %s, which are pronounceable, are found if there are many', (id) => {
    expect(find(family(id, 200)).at(-1)?.severity).toBe('high');
  });

  it.each(['suppobox', 'matsnu'])('of %s, which consist of words, are not distinguished from chosen names', (id) => {
    expect(find(family(id, 200))).toEqual([]);
  });

  it('are found if they are queried slowly, over a day', () => {
    expect(find(family('qakbot', 48, 1_800_000)).at(-1)?.severity).toBe('high');
  });

  it('are reported with the existing domain that the client found afterwards', () => {
    const rng = random(12);
    const lookups = [
      aLookup({ seq: 1, time: monday - 60_000, query: 'xkqjvzpwmq.com' }),
      ...family('emotet', 15),
      aLookup({ seq: 30, time: monday + 60_000, query: `${rng.text(16, 'bcdfghjkwxz')}.org` }),
    ];
    const found = find(lookups).at(-1);
    expect(found).toMatchObject({ severity: 'high', ends: { domain: lookups.at(-1)!.query } });
    expect(found?.evidence.found_domains).toEqual([lookups.at(-1)!.query]);
    expect(found?.description).toContain(lookups.at(-1)!.query);
  });

  it('are not reported below the threshold', () => {
    const { minGenerated } = generatedNamesThresholds;
    expect(find(family('dyre', minGenerated - 1))).toEqual([]);
    expect(find(family('dyre', minGenerated))).toHaveLength(1);
  });

  it('do not include benign traffic that resembles generated names', () => {
    const rng = random(13);
    const [name] = family('dyre', 1);
    const kinds = ordinary.filter(({ heldOut }) => heldOut);
    const spared = {
      'one name, queried repeatedly': series(500, 1000, () => ({ query: name!.query, ...nobody })),
      'names of a domain that exists': series(500, 1000, () => ({
        query: `${rng.text(16, 'bcdfghjkwxz')}.corp.example`,
        ...nobody,
      })),
      'probes of Chromium': series(90, 60_000, () => ({
        query: rng.text(rng.int(7, 16), 'bcdfghjkwxz'),
        ...nobody,
      })),
      'domains that exist': family('dyre', 100).map((lookup) => ({ ...lookup, rcode: 0, answers: '[{}]' })),
      'misspelt names of people and companies': series(300, 1000, (i) => ({
        query: `${kinds[i % kinds.length]!.make(rng)}.com`,
        ...nobody,
      })),
      'an outside client': family('dyre', 100).map((lookup) => ({ ...lookup, srcHome: false })),
    };
    for (const [what, lookups] of Object.entries(spared)) expect([what, find(lookups)]).toEqual([what, []]);
  });

  it('are reported again if they continue after a day', () => {
    const found = find(family('emotet', 150, 1_200_000), 5);
    expect(found.map(({ severity }) => severity)).toEqual(['medium', 'high', 'high']);
    expect(found[2]!.timestamp - found[1]!.timestamp).toBeGreaterThanOrEqual(generatedNamesThresholds.againMs);
  });

  it('are the same for any order of events, after a merge of two states and after a restart', () => {
    keepsPromises(
      () => new GeneratedNamesDetector(),
      [...family('emotet', 60), aLookup({ seq: 100, time: monday + 90_000, query: 'qwxkzjvbqwxkzjvb.org' })],
    );
  });

  it('are tracked in bounded memory, by dropping clients', () => {
    const detector = new GeneratedNamesDetector(undefined, { maxKeys: 50, maxBytes: 50_000 });
    detectionsOf(
      detector,
      family('corebot', 5000, 10).map((lookup, i) => ({ ...lookup, src: `10.0.0.${i % 250}` })),
    );
    expect(detector.dropped.forgotten).toBeGreaterThan(200);
  });

  it('are not found on a simulated day of an office, even with attacks', () => {
    expect(find(officeLookups({ days: 1, attacks: true }))).toEqual([]);
  });

  it.skipIf(!hasDnsFiles)('are not found in real data without generated names', () => {
    expect(find(realLookups(dnsFiles.lan))).toEqual([]);
    expect(find(realLookups(dnsFiles.internetHost, ['64.225.56.201/32']))).toEqual([]);
    expect(find(realLookups(dnsFiles.variants))).toEqual([]);
  });
});
