import { describe, expect, it } from 'vitest';
import { base32, random } from '../../../scripts/traffic/random.ts';
import { NxdomainStormDetector, nxdomainStormThresholds } from '../../../src/detect/behaviour/nxdomain-storm.ts';
import { keepsPromises } from './lookup-promises.ts';
import { detectionsOf, dnsFiles, hasDnsFiles, monday, officeLookups, realLookups, series } from './told-lookups.ts';

const find = (lookups: Parameters<typeof detectionsOf>[1], every?: number) =>
  detectionsOf(new NxdomainStormDetector(), lookups, every);

const nobody = { rcode: 3, answers: undefined };
const letters = 'abcdefghijklmnopqrstuvwxyz';

/** Returns failed look-ups of many domains, from one client. */
const missing = (count: number, gapMs: number) =>
  series(count, gapMs, (i) => ({ query: `word${i}thing.example`, ...nobody }));

/** Returns look-ups of random names below one domain, from many clients. */
const torture = (count: number, clients: number, rcode = 3) => {
  const rng = random(21);
  return series(count, 500, (i) => ({
    src: `10.0.1.${i % clients}`,
    query: `${rng.text(9, base32)}.www.victim.example`,
    ...nobody,
    rcode,
  }));
};

describe('storms of names that do not exist', () => {
  it('are reported for a client that reaches the threshold, with rising severity', () => {
    const { clientNames, clientManyNames } = nxdomainStormThresholds;
    expect(find(missing(clientNames - 1, 1000))).toEqual([]);
    const [found] = find(missing(clientNames, 1000));
    expect(found).toMatchObject({ severity: 'medium', ends: { src_ip: '10.0.0.5' } });
    expect(found?.evidence).toMatchObject({ distinct_names: clientNames, baseline_names_per_hour: 0 });
    const many = find(missing(2 * clientManyNames, 100), 100).map(({ severity }) => severity);
    expect(many).toEqual(['medium', 'high']);
  });

  it("are measured against the client's usual rate of failed look-ups", () => {
    const before = series(24 * 100, 36_000, (i) => ({ query: `old${i}thing.example`, ...nobody }));
    const end = before.at(-1)!.time + 36_000;
    const storm = (count: number) =>
      missing(count, 3000).map((lookup) => ({ ...lookup, time: lookup.time - monday + end }));
    expect(find([...before, ...storm(300)], 50)).toEqual([]);
    const [found] = find([...before, ...storm(1100)], 50);
    expect(found?.evidence.baseline_names_per_hour).toBeGreaterThan(50);
  });

  it('are one finding per domain, regardless of the clients', () => {
    const found = find(torture(4000, 10));
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({
      severity: 'medium',
      ends: { domain: 'victim.example', dst_ip: '10.0.0.1' },
    });
    expect(found[0]?.evidence).toMatchObject({ clients: 10 });
    expect(find(torture(4000, 10, 2))[0]?.evidence.servfail_answers).toBeGreaterThan(500);
    expect(find(torture(6000, 10), 50).map(({ severity }) => severity)).toEqual(['medium', 'high']);
  });

  it('are reported for a domain that outside clients query', () => {
    const outside = torture(1000, 200).map((lookup) => ({ ...lookup, srcHome: false }));
    expect(find(outside).map(({ ends }) => ends.domain)).toEqual(['victim.example']);
  });

  it('are reported for a client although the same domain is attacked days later', () => {
    const storm = series(300, 1000, (i) => ({ query: `word${i}thing.www.victim.example`, ...nobody }));
    const attack = torture(4000, 10).map((lookup) => ({ ...lookup, time: lookup.time + 3 * 86_400_000 }));
    const found = find([...storm, ...attack], 10_000).map(({ ends }) => ends.src_ip ?? ends.domain);
    expect(found.sort()).toEqual(['10.0.0.5', 'victim.example']);
  });

  it('are attributed to the client if one client queries one domain', () => {
    const [found] = find(torture(600, 1));
    expect(found).toMatchObject({ ends: { src_ip: '10.0.1.0', domain: 'victim.example' } });
  });

  it('do not include failed look-ups that occur in every network', () => {
    const rng = random(22);
    const count = 5000;
    const clients = (i: number) => `10.0.${i % 7}.${i % 200}`;
    const bytes = () => [1, 2, 3, 4].map(() => rng.int(0, 256)).join('.');
    const spared = {
      'probes of Chromium': () => ({ query: rng.text(rng.int(7, 16), letters) }),
      'reverse look-ups': () => ({ query: `${bytes()}.in-addr.arpa`, qtype: 'PTR' }),
      'blocklists of mail senders': () => ({ query: `${bytes()}.list.example` }),
      'multicast names': (i: number) => ({ query: `printer-${i}.local` }),
      wpad: (i: number) => ({ query: `wpad.site${i}.corp.example` }),
      'names with an appended search domain': (i: number) => ({
        src: clients(i),
        query: `www.site-${i}.com.corp.example`,
      }),
      'one name, queried repeatedly': () => ({ query: 'gone.example' }),
    };
    for (const [what, make] of Object.entries(spared)) {
      const lookups = series(count, 100, (i) => ({ ...nobody, ...make(i) }));
      expect([what, find(lookups)]).toEqual([what, []]);
    }
  });

  it("do not include Chromium's probes with a search domain", () => {
    const rng = random(23);
    const morning = (searched: boolean) =>
      series(1500, 1000, (i) => ({
        src: `10.0.${i % 3}.${i % 251}`,
        query: searched && i % 10 === 0 ? 'wpad.corp.example' : `${rng.text(rng.int(7, 16), letters)}.corp.example`,
        ...nobody,
      }));
    expect(find(morning(true))).toEqual([]);
    expect(find(morning(false))).toHaveLength(1);
  });

  it('are reported again after a day at the earliest', () => {
    const hours = [0, 10, 23, 25, 40];
    const storms = hours.flatMap((hour) =>
      missing(300, 1000).map((lookup) => ({ ...lookup, time: lookup.time + hour * 3_600_000 })),
    );
    const reported = find(storms, 100).map(({ timestamp }) => Math.floor((timestamp - monday) / 3_600_000));
    expect(reported).toEqual([0, 25]);
  });

  it('are the same for any order of events, after a merge of two states and after a restart', () => {
    keepsPromises(() => new NxdomainStormDetector(), missing(250, 1000));
    keepsPromises(() => new NxdomainStormDetector(), torture(700, 5));
  });

  it('are tracked in bounded memory, by dropping clients and domains', () => {
    const detector = new NxdomainStormDetector(undefined, {
      maxClients: 50,
      maxDomains: 50,
      maxBytes: 100_000,
    });
    detectionsOf(detector, torture(10_000, 200));
    detectionsOf(
      detector,
      missing(10_000, 1).map((l, i) => ({ ...l, query: `a.${l.query}`, src: `10.1.0.${i % 250}` })),
    );
    expect(detector.dropped.forgotten).toBeGreaterThan(1000);
  });

  it('are not found on a simulated day of an office, even with attacks', () => {
    expect(find(officeLookups({ days: 1, attacks: true }))).toEqual([]);
  });

  it.skipIf(!hasDnsFiles)('are not found in real data without storms', () => {
    expect(find(realLookups(dnsFiles.lan))).toEqual([]);
    expect(find(realLookups(dnsFiles.internetHost, ['64.225.56.201/32']))).toEqual([]);
    expect(find(realLookups(dnsFiles.variants))).toEqual([]);
  });
});
