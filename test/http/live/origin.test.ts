import { describe, expect, test } from 'vitest';
import { requireOrigin } from '../../../src/http/live/upgrade.ts';
import type { RequestHead } from '../../../src/http/request.ts';

const head = (host: string, origin?: string): RequestHead => ({
  method: 'GET',
  path: '/ws',
  query: '',
  headers: new Map([['host', host], ...(origin === undefined ? [] : [['origin', origin] as const])]),
  repeated: undefined,
});

describe('a socket may be opened', () => {
  test.each([
    ['by a client other than a browser', 'siem.example', undefined, false, []],
    ["by the console's own page", 'siem.example:8080', 'http://siem.example:8080', false, []],
    ["by the console's own page over TLS", 'siem.example', 'https://siem.example', true, []],
    ['with its host in upper or lower case', 'SIEM.example', 'https://siem.example', true, []],
    ['by a configured origin', 'siem.example', 'https://other.example', true, ['https://other.example']],
    ['by any origin, if configured', 'siem.example', 'https://other.example', true, ['*']],
    ['through a proxy that ends TLS', 'siem.example', 'https://siem.example', false, ['https://siem.example']],
  ])('%s', (_who, host, origin, isTls, origins) => {
    expect(() => requireOrigin(head(host, origin), isTls, origins)).not.toThrow();
  });
});

describe('no other origin may open a socket', () => {
  test.each([
    ['another host', 'siem.example', 'http://evil.example', false],
    ['another port', 'siem.example:8080', 'http://siem.example:8081', false],
    ['the default port', 'siem.example:8080', 'http://siem.example', false],
    ['another scheme', 'siem.example', 'http://siem.example', true],
    ['a sandboxed page', 'siem.example', 'null', false],
    ["a host that begins like the service's", 'siem.example', 'http://siem.example.evil.example', false],
    ['user information', 'siem.example', 'http://siem.example@evil.example', false],
    ['an empty origin', 'siem.example', '', false],
  ])('%s', (_who, host, origin, isTls) => {
    expect(() => requireOrigin(head(host, origin), isTls, ['https://console.example'])).toThrow(
      expect.objectContaining({ code: 'FORBIDDEN' }),
    );
  });
});
