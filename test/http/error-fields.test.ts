/** Errors name the parameter, header or member that is invalid. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { routes } from '../../src/contract/routes.ts';
import { limits } from '../../src/limits.ts';
import { adminOf, openService, type Service } from './service.ts';

let service: Service;
let token: string;
beforeAll(async () => {
  service = await openService();
  token = await adminOf(service);
});
afterAll(() => service.close());

async function errorOf(path: string, options: RequestInit = {}) {
  const headers = { authorization: `Bearer ${token}`, ...(options.headers as Record<string, string>) };
  const answer = await fetch(service.url + path, { ...options, headers });
  const { error } = (await answer.json()) as {
    error?: { message: string; details?: { field?: string; reason?: string } };
  };
  return { status: answer.status, details: error?.details };
}

const named = Object.values(routes).filter(
  ({ method, path }) => method === 'GET' && /:[a-z_]+_id|:id|:kid/.test(path) && !path.includes('*'),
);

test('there are operations with an identifier in their path', () => {
  expect(named.length).toBeGreaterThan(8);
});

test.each(named.map(({ path }) => [path]))(
  'a 404 error for %s names the identifier that does not exist',
  async (path) => {
    const { status, details } = await errorOf(path.replaceAll(/:[a-z_]+/g, '01900000-0000-7000-8000-00000000000f'));
    const parameter = /:([a-z_]+)(?!.*:)/.exec(path)![1];
    expect(status).toBe(404);
    expect(details).toEqual(expect.objectContaining({ field: parameter, reason: expect.any(String) }));
  },
);

test('errors of bodies, headers and versions name the invalid part', async () => {
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    errorOf(path, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
  expect(await post('/api/v1/assets', '{}', { 'content-type': 'text/plain' })).toMatchObject({
    status: 415,
    details: { field: 'content-type' },
  });
  expect(await post('/api/v1/assets', '{}', { 'content-encoding': 'compress' })).toMatchObject({
    status: 415,
    details: { field: 'content-encoding' },
  });
  expect(await post('/api/v1/assets', ' '.repeat(limits.maxJsonBodyBytes + 1))).toMatchObject({
    status: 413,
    details: { field: 'body', reason: expect.any(String) },
  });
  const made = await fetch(`${service.url}/api/v1/assets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"name":"a"}',
  });
  const { id } = ((await made.json()) as { data: { id: string } }).data;
  const headers = { 'content-type': 'application/json', 'if-match': '"7"' };
  const body = '{"name":"b"}';
  expect(await errorOf(`/api/v1/assets/${id}`, { method: 'PUT', headers, body })).toMatchObject({
    status: 412,
    details: { field: 'if-match', reason: expect.any(String) },
  });
  const source = `title: t\nid: 01900000-0000-4000-8000-0000000000aa\nlogsource: {product: zeek, service: conn}\ndetection: {a: {id.resp_p: 1}, condition: a}\nlevel: low\n`;
  await post('/api/v1/rules', JSON.stringify({ source }));
  expect(await post('/api/v1/rules', JSON.stringify({ source }))).toMatchObject({
    status: 409,
    details: { field: 'source', reason: expect.any(String) },
  });
});

test('an unknown rule_source is rejected with an error that names the parameter', async () => {
  expect(await errorOf('/api/v1/alerts?rule_source=manual')).toMatchObject({
    status: 400,
    details: { field: 'rule_source' },
  });
});
