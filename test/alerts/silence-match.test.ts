import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Silenceable, SilenceIndex, SilenceSubject } from '../../src/alerts/silence-match.ts';
import type { SilenceMatcher } from '../../src/contract/resources/silence.ts';

const subject: Silenceable = {
  rule_id: '1:2001',
  rule_source: 'suricata',
  category: 'Trojan',
  severity: 'medium',
  src_ip: '10.0.0.5',
  dst_ip: '2001:db8::7',
  domain: 'cdn.Files.Example.org',
};
const asset = '7f3c0000-0000-7000-8000-000000000001';
const assetOf = (ip: string) => (ip === '10.0.0.5' ? asset : undefined);

const indexOf = (...matchers: SilenceMatcher[]) =>
  new SilenceIndex(matchers.map((matcher, n) => ({ id: `s${n}`, since: 0, until: 1000, matcher })));
const isSilenced = (matcher: SilenceMatcher, changes: Partial<Silenceable> = {}) =>
  indexOf(matcher).find({ ...subject, ...changes }, assetOf, 0) !== undefined;

describe('a silence', () => {
  const cases: [name: string, matcher: SilenceMatcher, expected: boolean][] = [
    ['of the rule', { rule_id: ['1:7', '1:2001'] }, true],
    ['of another rule', { rule_id: ['1:7'] }, false],
    ['of the rule source', { rule_source: ['suricata'] }, true],
    ['of another rule source', { rule_source: ['zeek', 'sigma'] }, false],
    ['of the category', { category: ['Trojan'] }, true],
    ['of a part of the category', { category: ['Troj'] }, false],
    ['of the source', { src_ip: ['10.0.0.5'] }, true],
    ['of the source as a target', { dst_ip: ['10.0.0.5'] }, false],
    ['of the source or the target', { ip: ['10.0.0.5'] }, true],
    ['of a block around the source', { src_ip: ['10.0.0.0/24'] }, true],
    ['of the adjacent block', { src_ip: ['10.0.1.0/24'] }, false],
    ['of all IPv4 addresses, such as the source', { src_ip: ['0.0.0.0/0'] }, true],
    ['of all IPv4 addresses, unlike the target', { dst_ip: ['0.0.0.0/0'] }, false],
    ['of all IPv6 addresses, unlike the source', { src_ip: ['::/0'] }, false],
    ['of a block of IPv6 around the target', { dst_ip: ['2001:db8::/32'] }, true],
    ['of the source or the target in a block of IPv6', { ip: ['2001:db8::/64'] }, true],
    ['of the name', { domain: ['cdn.files.example.org'] }, true],
    ['of a parent domain', { domain: ['example.org'] }, true],
    ['of a domain with the same ending', { domain: ['ample.org'] }, false],
    ['of a name below the name', { domain: ['a.cdn.files.example.org'] }, false],
    ['of the asset', { asset_id: [asset] }, true],
    ['of another asset', { asset_id: ['7f3c0000-0000-7000-8000-000000000002'] }, false],
    ['up to the severity', { rule_id: ['1:2001'], max_severity: 'medium' }, true],
    ['up to a lower severity', { rule_id: ['1:2001'], max_severity: 'low' }, false],
    ['of rule, address and domain', { rule_id: ['1:2001'], src_ip: ['10.0.0.0/8'], domain: ['example.org'] }, true],
    ['of the rule with another address', { rule_id: ['1:2001'], src_ip: ['10.1.0.0/16'] }, false],
  ];
  test.for(cases)('%s %o matches: %s', ([, matcher, expected]) => {
    expect(isSilenced(matcher)).toBe(expected);
  });

  test('for an address does not match a finding without addresses', () => {
    const { src_ip: _, dst_ip: __, domain: ___, ...bare } = subject;
    for (const matcher of [{ ip: ['0.0.0.0/0', '::/0'] }, { domain: ['example.org'] }, { asset_id: [asset] }])
      expect(indexOf(matcher).find(bare, assetOf, 0)).toBeUndefined();
  });

  test('no longer matches from its end time on', () => {
    const index = indexOf({ rule_id: ['1:2001'] });
    expect(index.find(subject, assetOf, 999)?.id).toBe('s0');
    expect(index.find(subject, assetOf, 1000)).toBeUndefined();
  });
});

test('if several silences match, the silence that ends last is returned, regardless of the fields of their matchers', () => {
  const matchers: SilenceMatcher[] = [
    { rule_id: ['1:2001'] },
    { ip: ['10.0.0.5'] },
    { domain: ['example.org'] },
    { asset_id: [asset] },
    { src_ip: ['10.0.0.0/8'] },
  ];
  for (const [last] of matchers.entries()) {
    const sources = matchers.map((matcher, n) => ({
      id: `s${n}`,
      since: 0,
      until: n === last ? 2000 : 1000 + n,
      matcher,
    }));
    expect(new SilenceIndex(sources).find(subject, assetOf, 0)?.id).toBe(`s${last}`);
  }
});

test('the index gives the same result as a comparison with every silence', () => {
  const some = <T>(...values: T[]) => fc.subarray(values, { minLength: 1 });
  const matcher = fc.record(
    {
      rule_id: some('1:1', '1:2', '1:3'),
      category: some('a', 'b'),
      src_ip: some('10.0.0.1', '10.0.0.0/30', '2001:db8::/48', '192.0.2.0/25'),
      ip: some('10.0.0.2', '192.0.2.1', '192.0.2.0/31'),
      domain: some('example.org', 'a.example.org'),
      asset_id: some(asset),
      max_severity: fc.constantFrom('low' as const, 'high' as const),
    },
    { requiredKeys: [] },
  );
  // The service rejects an empty matcher.
  const named = matcher.filter(({ max_severity: _, ...about }) => Object.keys(about).length > 0);
  const asked = fc.record(
    {
      rule_id: fc.constantFrom('1:1', '1:2', '1:4'),
      rule_source: fc.constant('sigma' as const),
      severity: fc.constantFrom('low' as const, 'critical' as const),
      category: fc.constantFrom('a', 'c'),
      src_ip: fc.constantFrom('10.0.0.1', '10.0.0.5', '2001:db8::1', '192.0.2.1'),
      dst_ip: fc.constantFrom('10.0.0.2', '192.0.2.200'),
      domain: fc.constantFrom('a.example.org', 'x.example.org', 'org'),
    },
    { requiredKeys: ['rule_id', 'rule_source', 'severity'] },
  );
  fc.assert(
    fc.property(fc.array(named, { maxLength: 20 }), asked, (matchers, about) => {
      const silences = matchers.map((each, n) => ({ id: `s${n}`, since: 0, until: 10 + n, matcher: each }));
      const index = new SilenceIndex(silences);
      const matching = silences.filter(({ id }) => index.get(id)!.matches(new SilenceSubject(about, assetOf)));
      expect(index.find(about, assetOf, 0)?.id).toBe(matching.at(-1)?.id);
    }),
    { numRuns: 500 },
  );
});
