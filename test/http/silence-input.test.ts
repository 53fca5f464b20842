import { describe, expect, test } from 'vitest';
import { canonicalSilence } from '../../src/alerts/silence-input.ts';
import type { SilenceMatcher } from '../../src/contract/resources/silence.ts';
import { ruleSources } from '../../src/contract/vocabulary.ts';
import { ServiceError } from '../../src/errors.ts';

const fieldOf = (matcher: SilenceMatcher): unknown => {
  try {
    canonicalSilence({ matcher });
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return error.details?.field;
  }
};

const all = ['0.0.0.0/0'];

describe('a matcher that covers everything is rejected', () => {
  const cases: [name: string, matcher: SilenceMatcher][] = [
    ['a severity only', { max_severity: 'low' }],
    ['all IPv4 addresses', { ip: all }],
    ['all IPv6 addresses', { src_ip: ['::/0'] }],
    ['all IPv4-mapped addresses', { dst_ip: ['::ffff:0:0/96'] }],
    ['both halves of IPv4', { ip: ['0.0.0.0/1', '128.0.0.0/1'] }],
    ['all IPv4 addresses in a hundred parts', { ip: Array.from({ length: 100 }, (_, n) => `${n * 2}.0.0.0/7`) }],
    ['all of the public IPv6 Internet', { ip: ['2000::/3'] }],
    ['all sources of rules', { rule_source: [...ruleSources] }],
    ['all sources, destinations and sources of rules', { src_ip: all, dst_ip: all, rule_source: [...ruleSources] }],
    ['all IPv4 addresses up to a severity', { ip: all, max_severity: 'critical' }],
  ];
  test.for(cases)('%s', ([, matcher]) => {
    expect(fieldOf(matcher)).toBe('matcher');
  });
});

describe('a matcher that covers a subset is accepted', () => {
  const cases: [name: string, matcher: SilenceMatcher][] = [
    ['a rule from anywhere', { rule_id: ['1:1'], ip: all }],
    ['all home networks', { ip: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'] }],
    ['all destinations, but not all sources', { src_ip: ['10.0.0.0/8'], dst_ip: all }],
    ['one source of rules', { rule_source: ['zeek'] }],
    ['addresses', { ip: ['192.0.2.1', '2001:db8::1'] }],
  ];
  test.for(cases)('%s', ([, matcher]) => {
    expect(fieldOf(matcher)).toBeUndefined();
  });
});
