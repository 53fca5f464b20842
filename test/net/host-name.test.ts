import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hostName } from '../../src/net/host-name.ts';

describe('a host name', () => {
  test.each([
    ['Printer-3.Corp.Example.', 'printer-3.corp.example'],
    ['bücher.example', 'bücher.example'],
    ['my_host', 'my_host'],
    ['  padded ', 'padded'],
    ['', undefined],
    ['.', undefined],
    ['a b', undefined],
    ['*.example.com', undefined],
    ['192.0.2.1', undefined],
    ['1.2', undefined],
    ['2001:db8::1', undefined],
    ['localhost', undefined],
    ['localhost.localdomain', undefined],
    ['1.2.0.192.in-addr.arpa', undefined],
    ['evil\u0000.example', undefined],
    ['evil\n.example', undefined],
    ['evil\u202ename', undefined],
    ['<b>x</b>', undefined],
    ['\ud800', undefined],
    ['a'.repeat(64), undefined],
    [`${'a.'.repeat(130)}b`, undefined],
  ])('%j is normalised to %j', (text, expected) => {
    expect(hostName(text)).toBe(expected);
  });

  test('is unchanged when parsed again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const name = hostName(text);
        if (name !== undefined) expect(hostName(name)).toBe(name);
      }),
    );
  });
});
