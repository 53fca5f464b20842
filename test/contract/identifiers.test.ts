import { describe, expect, it } from 'vitest';
import { canonicalMac, formats } from '../../src/contract/formats.ts';
import { decodeQuery, parseList } from '../../src/contract/query.ts';
import { routes } from '../../src/contract/routes.ts';

describe('a MAC address', () => {
  it.each(['00:1b:63:84:45:e6', '00:1B:63:84:45:E6', '00-1b-63-84-45-e6', '001b.6384.45E6'])('%s is parsed', (text) =>
    expect(canonicalMac(text)).toBe('00:1b:63:84:45:e6'),
  );

  it.each([
    '',
    '001b638445e6',
    '00:1b:63:84:45',
    '00:1b:63:84:45:e6:00',
    '00:1b-63:84-45:e6',
    '0:1b:63:84:45:e6',
    '00:1b:63:84:45:g6',
    ' 00:1b:63:84:45:e6',
    '00:00:00:00:00:00',
    'ff:ff:ff:ff:ff:ff',
    '01:00:5e:00:00:fb',
    '3333.0000.0001',
  ])('%j is rejected', (text) => {
    expect(canonicalMac(text)).toBeUndefined();
    expect(formats.mac.test(text)).toBe(false);
  });

  it('can be used in a filter in any notation', () => {
    const { filter } = parseList(routes.listAssets.query, decodeQuery('mac=00-1B-63-84-45-E6'));
    expect(filter.terms).toEqual([{ field: 'mac', values: ['00:1b:63:84:45:e6'] }]);
  });
});

describe('a host name', () => {
  it.each(['a', 'printer-2', 'srv_1.example.org', 'example.org.', 'büro.example', '7.example', 'a'.repeat(63)])(
    '%s is accepted',
    (name) => expect(formats.hostname.test(name)).toBe(true),
  );

  it.each([
    '',
    '.',
    'a..b',
    '.a',
    '-a',
    'a-.b',
    'a b',
    'a/b',
    'a:1',
    'a\n',
    'http://a',
    '*.example.org',
    '10.0.0.1',
    '10.0.0.1.',
    'a'.repeat(64),
    `${'a.'.repeat(126)}aa`,
  ])('%j is rejected', (name) => expect(formats.hostname.test(name)).toBe(false));
});

it('an identifier is an IP or a MAC address', () => {
  const test = (text: string) => formats.identifier.test(text);
  expect(['10.0.0.1', '2001:DB8::1', '00-1b-63-84-45-e6'].map(test)).toEqual([true, true, true]);
  expect(['printer', '10.0.0.0/24', 'fe80::1%eth0', ''].map(test)).toEqual([false, false, false, false]);
});
