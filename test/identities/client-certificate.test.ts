import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { type ClientCertificate, certificatePrincipal, namesOf } from '../../src/identities/client-certificate.ts';
import type { Principal } from '../../src/store/store.ts';
import { Authority, type Terms, temporaryFolder, withoutOpenssl } from '../http/tls-certificates.ts';

if (withoutOpenssl !== undefined) console.warn(`skipped: ${withoutOpenssl}`);

describe.skipIf(withoutOpenssl !== undefined)('a client certificate', () => {
  const folder = withoutOpenssl === undefined ? temporaryFolder() : { path: '', remove: () => undefined };
  afterAll(() => folder.remove());
  let authority: Authority | undefined;
  let count = 0;

  function certificate(terms: Terms): ClientCertificate {
    authority ??= Authority.root(folder.path, 'root');
    const x509 = new X509Certificate(readFileSync(authority.issue(`c${count++}`, terms).cert));
    return { x509, validFrom: Date.parse(x509.validFrom), validTo: Date.parse(x509.validTo) };
  }

  const names: [string, Terms, string[]][] = [
    ['a DNS name', { extensions: ['subjectAltName=DNS:sensor-1.example'] }, ['sensor-1.example']],
    ['a DNS name as written and in lower case', { extensions: ['subjectAltName=DNS:Sensor'] }, ['Sensor', 'sensor']],
    ['a URI', { extensions: ['subjectAltName=URI:spiffe://a/sensor'] }, ['spiffe://a/sensor']],
    ['an email address', { extensions: ['subjectAltName=email:ann@example.org'] }, ['ann@example.org']],
    ['several names', { extensions: ['subjectAltName=DNS:a,URI:urn:b,email:c@d'] }, ['a', 'urn:b', 'c@d']],
    [
      'alternative names instead of the common name',
      { subject: '/CN=admin', extensions: ['subjectAltName=DNS:a'] },
      ['a'],
    ],
    ['the common name if there are no alternative names', { subject: '/O=candor/CN=sensor 1' }, ['sensor 1']],
    [
      'no name if the alternative name is an address, despite a common name',
      { subject: '/CN=admin', extensions: ['subjectAltName=IP:192.0.2.1'] },
      [],
    ],
    [
      'no name for a wildcard, despite a common name',
      { subject: '/CN=admin', extensions: ['subjectAltName=DNS:*.example'] },
      [],
    ],
    ['all common names', { subject: '/CN=a/CN=b' }, ['a', 'b']],
    [
      'no name for one wildcard among its names',
      { extensions: ['subjectAltName=DNS:*.example,DNS:a.example'] },
      ['a.example'],
    ],
    ['no name without a common name and alternative names', { subject: '/O=candor' }, []],
    [
      'one name that contains a comma',
      { extensions: ['subjectAltName=@n', '[n]', 'URI.1=urn:a\\, DNS:admin'] },
      ['urn:a, DNS:admin'],
    ],
    [
      'one name with quotes',
      { extensions: ['subjectAltName=@n', '[n]', 'URI.1=urn:\\"a\\, DNS:b'] },
      ['urn:"a, DNS:b'],
    ],
    [
      'no name for alternative names of other kinds',
      { subject: '/CN=s', extensions: ['subjectAltName=otherName:1.3.6.1.4.1.311.20.2.3;UTF8:admin,DNS:s'] },
      ['s'],
    ],
    [
      'no name for an apparent name inside a directory name',
      { subject: '/CN=s', extensions: ['subjectAltName=dirName:d', '[d]', 'CN=x\\, DNS:admin'] },
      [],
    ],
  ];

  test.for(names)('has %s', ([, terms, wanted]) => {
    expect(namesOf(certificate(terms))).toEqual(wanted);
  });

  test('is rejected if it has too many names', () => {
    const many = Array.from({ length: 17 }, (_, i) => `DNS:s${i}`).join(',');
    expect(() => namesOf(certificate({ extensions: [`subjectAltName=${many}`] }))).toThrow(/more than 16 names/);
  });

  const principal = (name: string, status: Principal['status'] = 'active'): Principal => ({
    id: `id of ${name}`,
    name,
    kind: 'sensor',
    roles: ['sensor'],
    status,
    created_at: '2026-01-01T00:00:00.000Z',
  });
  const known = [principal('ann'), principal('bob'), principal('eve', 'suspended'), principal('Zoë')];
  const reader = { principalByName: (name: string) => known.find((one) => one.name === name) };
  const holder = (terms: Terms, at = Date.now()) => certificatePrincipal(reader, certificate(terms), at).name;
  const refused = expect.objectContaining({ code: 'UNAUTHENTICATED' });

  test('identifies its principal', () => {
    expect(holder({ extensions: ['subjectAltName=DNS:ann'] })).toBe('ann');
    expect(holder({ extensions: ['subjectAltName=DNS:ANN'] })).toBe('ann');
    expect(holder({ extensions: ['subjectAltName=DNS:nobody,DNS:bob,URI:bob'] })).toBe('bob');
    expect(holder({ subject: '/CN=ann' })).toBe('ann');
  });

  test.for<[string, Terms]>([
    ['names an unknown principal', { subject: '/CN=nobody' }],
    ['names two principals', { extensions: ['subjectAltName=DNS:ann,DNS:bob'] }],
    ['names two principals, one of them suspended', { extensions: ['subjectAltName=DNS:ann,DNS:eve'] }],
    ['names two principals by common name', { subject: '/CN=ann/CN=bob' }],
    ['names a suspended principal', { subject: '/CN=eve' }],
    [
      'names a principal only in the subject next to alternative names',
      { subject: '/CN=ann', extensions: ['subjectAltName=DNS:x'] },
    ],
    ['names a principal in another case', { subject: '/CN=ANN' }],
    ['has no name', { subject: '/O=ann' }],
  ])('is rejected if it %s', ([, terms]) => {
    expect(() => holder(terms)).toThrow(refused);
  });

  test('is valid from its first to its last second', () => {
    const one = certificate({ subject: '/CN=ann' });
    expect(certificatePrincipal(reader, one, one.validFrom).name).toBe('ann');
    expect(certificatePrincipal(reader, one, one.validTo).name).toBe('ann');
    expect(() => certificatePrincipal(reader, one, one.validFrom - 1)).toThrow(refused);
    expect(() => certificatePrincipal(reader, one, one.validTo + 1)).toThrow(refused);
    expect(() => certificatePrincipal(reader, { ...one, validTo: Number.NaN }, one.validFrom)).toThrow(refused);
  });
});
