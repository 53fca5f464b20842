import { describe, expect, it } from 'vitest';
import { type NameKind, Names } from '../../../src/detect/behaviour/support/names.ts';

const names = new Names();

describe('names', () => {
  it.each<[query: string, kind: NameKind, domain: string, payload: number]>([
    ['www.example.com', 'ordinary', 'example.com', 3],
    ['example.co.uk', 'ordinary', 'example.co.uk', 0],
    ['a.b.example.co.uk', 'ordinary', 'example.co.uk', 2],
    ['1.2.0.192.in-addr.arpa', 'reverse', '', 0],
    ['b._dns-sd._udp.0.0.0.10.in-addr.arpa', 'reverse', '', 0],
    ['xkqjvzpw', 'local', '', 0],
    ['printer.local', 'local', '', 0],
    ['nas.fritz.lan', 'local', '', 0],
    ['', 'local', '', 0],
    ['com', 'local', '', 0],
    ['*', 'local', '', 0],
    ['1.2.0.192.zen.example.org', 'address', 'example.org', 9],
    ['256.2.0.192.zen.example.org', 'ordinary', 'example.org', 11],
    [`${'0.'.repeat(32)}zen.example.org`, 'address', 'example.org', 35],
    ['wpad.corp.example.net', 'discovery', 'example.net', 8],
    ['www.google.com.corp.example.net', 'searched', 'example.net', 16],
    ['de.wikipedia.org', 'ordinary', 'wikipedia.org', 2],
    ['xkqjvzpwab.example.net', 'probe', 'example.net', 10],
    ['xkqjvzpwab.corp.example.net', 'ordinary', 'example.net', 14],
    ['_ldap._tcp.dc._msdcs.example.net', 'ordinary', 'example.net', 17],
  ])('such as "%s" have the kind %s and the domain "%s"', (query, kind, domain, payload) => {
    expect(names.of(query)).toMatchObject({ text: query, kind, domain, payload });
  });

  it('are not classified as search-list names if they carry data', () => {
    expect(names.of('6dde0175375169c68f.com.example.net')).toMatchObject({
      kind: 'ordinary',
      isEncoded: true,
    });
  });

  it('are checked for labels that look encoded', () => {
    for (const label of ['6dde0175375169c68f', 'mfzwizlbnzqw43ttmrxgc3dtmnxgc4tf'])
      expect([label, names.of(`${label}.example.net`).isEncoded]).toEqual([label, true]);
    for (const label of ['www', 'autodiscover', 'telemetry', 'newspulse', 'bks0', 'printer-12', 'img-27'])
      expect([label, names.of(`${label}.example.net`).isEncoded]).toEqual([label, false]);
  });

  it('are truncated if too long, and cached while there is room', () => {
    const many = new Names();
    expect(many.of(`${'a'.repeat(5000)}.example.net`).text).toHaveLength(255);
    const first = many.of('first.example.net');
    expect(many.of('first.example.net')).toBe(first);
    for (let i = 0; i < 10_000; i++) many.of(`host-${i}.example.net`);
    expect(many.of('first.example.net')).toEqual(first);
  });

  it('may contain any characters', () => {
    for (const query of ['..', '.example.net', 'a..example.net', '\u0000.example.net', 'ü.example.net', ' . '])
      expect(() => names.of(query)).not.toThrow();
  });
});
