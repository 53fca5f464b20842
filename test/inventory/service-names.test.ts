import { expect, test } from 'vitest';
import { serviceName, toldName } from '../../src/inventory/model/service-names.ts';

test.each([
  ['ssl', 'tls'],
  ['SSL', 'tls'],
  ['tls', 'tls'],
  ['https', 'https'],
  ['ssl,http', 'https'],
  ['http,ssl', 'https'],
  ['http,tls', 'https'],
  ['smtp,ssl', 'smtp,tls'],
  ['ssl,tls', 'tls'],
  ['krb_tcp', 'krb5'],
  ['dce_rpc', 'dcerpc'],
  ['gssapi,smb', 'gssapi,smb'],
  ['domain', 'dns'],
  ['constructor', 'constructor'],
  ['', ''],
])('the service %s is named %s', (given, called) => {
  expect(serviceName(given)).toBe(called);
  expect(serviceName(called)).toBe(called);
});

test.each<[string | undefined, string | undefined, string | undefined]>([
  [undefined, 'ssl', 'tls'],
  ['http', 'ssl', 'tls'],
  ['https', 'ssl', 'https'],
  ['imaps', 'tls', 'imaps'],
  ['tls', 'https', 'https'],
  ['https', 'ssh', 'ssh'],
  ['https', undefined, 'https'],
  [undefined, undefined, undefined],
])('a service known as %s and now reported as %s is named %s', (known, said, told) => {
  expect(toldName(known, said)).toBe(told);
});
