import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { correlationInput } from '../../src/detect/sigma/correlation/correlation-input.ts';
import { Correlator } from '../../src/detect/sigma/correlation/correlator.ts';
import { parseSigma } from '../../src/detect/sigma/parse-document.ts';
import { compileRules } from '../../src/detect/sigma/rule-set.ts';
import { canonicalUuid } from '../../src/uuid.ts';

const folder = join(import.meta.dirname, '../../src/detect/rules');
const parsed = readdirSync(folder).map((file) => parseSigma(readFileSync(join(folder, file), 'utf8')));
const set = compileRules(parsed.flatMap(({ documents }) => documents));

interface Sample {
  readonly kind: string;
  readonly record: Readonly<Record<string, unknown>>;
}

const dns = (query: string): Sample[] => [
  { kind: 'zeek.dns', record: { query } },
  { kind: 'suricata.dns', record: { dns: { version: 3, type: 'request', queries: [{ rrname: query }] } } },
  { kind: 'candor.dns_event', record: { query } },
];
const http = (record: Sample['record']): Sample => ({
  kind: 'zeek.http',
  record: { host: 'a.example', ...record },
});

const samples: Readonly<
  Record<string, { readonly matches: readonly Sample[]; readonly spares: readonly Sample[] }>
> = {
  'Credentials in clear text over HTTP': {
    matches: [http({ username: 'anna', password: '<removed>' })],
    spares: [http({}), http({ username: undefined }), http({ uri: '/?username=anna' })],
  },
  'Name of an onion service asked for in DNS': {
    matches: [...dns('facebookwkhpilnemxj7asaniu7vnjjbiltxjqhye3mhbshg7kx5tfyd.onion'), ...dns('a.ONION')],
    spares: [...dns('onion'), ...dns('onion.example.org'), ...dns('union'), ...dns('a.onion.example.org')],
  },
  'Name of a cryptocurrency mining pool asked for': {
    matches: [...dns('pool.supportxmr.com'), ...dns('eu1.nanopool.org'), ...dns('stratum.example.org')],
    spares: [...dns('www.nanopool.org'), ...dns('supportxmr.com.example.org'), ...dns('example.org')],
  },
  'SSH sign-in that failed': {
    matches: [{ kind: 'zeek.ssh', record: { auth_success: false } }],
    spares: [
      { kind: 'zeek.ssh', record: { auth_success: true } },
      { kind: 'zeek.ssh', record: {} },
    ],
  },
};

test('every document of every file is good, has an id of its own, and a level', () => {
  expect(parsed.flatMap(({ problems }) => problems)).toEqual([]);
  expect(set.refused).toEqual([]);
  const documents = parsed.flatMap(({ documents }) => documents);
  const ids = documents.map(({ id }) => canonicalUuid(id ?? ''));
  expect(ids).not.toContain(undefined);
  expect(new Set(ids).size).toBe(documents.length);
  for (const { level, description } of documents)
    expect([typeof level, typeof description]).toEqual(['string', 'string']);
});

describe('a rule', () => {
  test.each(set.rules.map((rule) => [rule.title, rule.id] as const))('%s matches and spares', (title, id) => {
    const { matches, spares } = samples[title] ?? { matches: [], spares: [] };
    expect(matches.length * spares.length).toBeGreaterThan(0);
    const isFound = ({ kind, record }: Sample): boolean => {
      let found = false;
      set.match(kind, record, (rule) => {
        found ||= rule.id === id;
      });
      return found;
    };
    expect(matches.filter((sample) => !isFound(sample))).toEqual([]);
    expect(spares.filter(isFound)).toEqual([]);
  });
});

describe('guessing of SSH passwords', () => {
  const at = Date.UTC(2026, 0, 1);
  /** Found of failures of one host at several, each so many seconds after the one before. */
  const found = (count: number, everyS: number, targets = 1): number => {
    const correlator = new Correlator(set.correlations);
    let fired = 0;
    for (let n = 0; n < count; n++) {
      const record = {
        'id.orig_h': '203.0.113.5',
        'id.resp_h': `10.0.0.${n % targets}`,
        auth_success: false,
      };
      set.match('zeek.ssh', record, (rule) => {
        const read = (field: string) => set.reader('zeek.ssh', field)(record);
        const time = at + n * everyS * 1000;
        const inputs = rule.feeds.map((feed) => correlationInput(feed, read, time));
        fired += correlator.take(inputs, at + 86_400_000).length;
      });
    }
    return fired;
  };

  test('is found from twenty failures in ten minutes on', () => {
    expect(found(19, 10)).toBe(0);
    expect(found(20, 10)).toBe(1);
    expect(found(100, 60)).toBe(0);
    expect(found(60, 5, 10)).toBe(0);
    expect(found(200, 2, 10)).toBe(10);
  });
});
