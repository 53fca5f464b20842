import { afterEach, describe, expect, test } from 'vitest';
import { data } from '../../src/http/reply.ts';
import { get, serve, stopAll } from './serve.ts';

afterEach(stopAll);

const console = 'https://console.example.org';
const endpoints = [
  get('/thing', () => data('fine')),
  { ...get('/thing', () => data('changed')), method: 'PUT', operation: 'put' },
];
const fetchFrom = async (url: string, origin: string | undefined, headers: Record<string, string> = {}) =>
  (await fetch(`${url}/thing`, { headers: { ...(origin === undefined ? {} : { origin }), ...headers } })).headers;
const preflight = async (url: string, origin: string) =>
  await fetch(`${url}/thing`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'authorization,content-type,if-match',
    },
  });

test('without configured origins, no CORS headers are sent', async () => {
  const { url } = await serve(endpoints);
  for (const headers of [await fetchFrom(url, console), (await preflight(url, console)).headers])
    expect([...headers.keys()].filter((name) => /^access-control|^vary$/.test(name))).toEqual([]);
});

describe('with one configured origin', () => {
  const options = { corsOrigins: [console] };

  test('scripts of the origin may read the response and the relevant headers', async () => {
    const { url } = await serve(endpoints, options);
    const headers = await fetchFrom(url, console);
    expect(headers.get('access-control-allow-origin')).toBe(console);
    expect(headers.get('vary')).toBe('Origin');
    const exposed = headers.get('access-control-expose-headers')?.split(', ');
    expect(exposed).toEqual(expect.arrayContaining(['ETag', 'Location', 'Retry-After', 'X-Request-Id']));
    expect(headers.has('access-control-allow-credentials')).toBe(false);
  });

  test('scripts of the origin may read an error', async () => {
    const { url } = await serve(endpoints, options);
    const answer = await fetch(`${url}/nothing`, { headers: { origin: console } });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([404, console]);
  });

  test('a preflight allows the methods that change data and the Authorization header', async () => {
    const { url } = await serve(endpoints, options);
    const { status, headers } = await preflight(url, console);
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-origin')).toBe(console);
    expect(headers.get('access-control-allow-methods')?.split(', ')).toContain('PUT');
    const allowed = headers.get('access-control-allow-headers')?.toLowerCase().split(', ');
    expect(allowed).toEqual(expect.arrayContaining(['authorization', 'content-type', 'if-match']));
    expect(headers.has('access-control-allow-credentials')).toBe(false);
    expect(headers.get('vary')).toBe('Origin');
  });

  test.each(['https://evil.example', 'null', `${console}.evil.example`, 'http://console.example.org', undefined])(
    'other origins are not allowed: %s',
    async (origin) => {
      const { url } = await serve(endpoints, options);
      const headers = await fetchFrom(url, origin);
      expect(headers.has('access-control-allow-origin')).toBe(false);
      expect(headers.get('vary')).toBe('Origin');
      if (origin === undefined) return;
      const flight = await preflight(url, origin);
      expect([...flight.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    },
  );
});

test('* allows every origin without Vary; Authorization is still listed', async () => {
  const { url } = await serve(endpoints, { corsOrigins: ['*'] });
  const headers = await fetchFrom(url, 'https://anyone.example');
  expect(headers.get('access-control-allow-origin')).toBe('*');
  expect(headers.has('vary')).toBe(false);
  const flight = await preflight(url, 'https://anyone.example');
  expect(flight.headers.get('access-control-allow-headers')).toContain('Authorization');
  expect(flight.headers.has('access-control-allow-credentials')).toBe(false);
});
