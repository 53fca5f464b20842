/** Compressed responses for clients that accept them, over HTTP. */
import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApiDocument } from '../../src/contract/openapi.ts';
import { compress } from '../../src/http/compress.ts';
import type { Chunks } from '../../src/http/reply.ts';
import { limits } from '../../src/limits.ts';
import { adminOf, openService, type Service } from './service.ts';

let service: Service;
let token: string;

beforeAll(async () => {
  service = await openService();
  token = await adminOf(service);
  const event = (n: number) => ({
    timestamp: new Date(Date.now() - n).toISOString(),
    src_ip: '10.0.0.1',
    src_port: 1000 + n,
    dst_ip: '10.0.0.2',
    dst_port: 443,
    transport: 'tcp',
  });
  const json = Array.from({ length: 500 }, (_, n) => event(n));
  await service.call('ingestNetworkEvents', 'POST /api/v1/events/network', { token, json });
});
afterAll(() => service.close());

interface Raw {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Returns the raw bytes: fetch would decompress them. */
function ask(
  path: string,
  encodings: string,
  { method = 'GET', json, headers: more }: { method?: string; json?: object; headers?: Record<string, string> } = {},
) {
  const headers = {
    ...more,
    authorization: `Bearer ${token}`,
    'accept-encoding': encodings,
    ...(json === undefined ? {} : { 'content-type': 'application/json' }),
  };
  return new Promise<Raw>((resolve, reject) => {
    const sent = request(service.url + path, { method, headers }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('end', () =>
        resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts) }),
      );
    });
    sent.on('error', reject);
    sent.end(json === undefined ? undefined : JSON.stringify(json));
  });
}

const events = '/api/v1/events/network?per_page=500';

test.each([
  ['gzip', 'gzip', gunzipSync],
  ['br;q=0.9, gzip;q=0.5', 'br', brotliDecompressSync],
  ['gzip, deflate, br, zstd', 'zstd', zstdDecompressSync],
  ['gzip;q=0, zstd;q=0, br', 'br', brotliDecompressSync],
] as const)('Accept-Encoding: %s gets %s', async (accepted, coding, inflate) => {
  const { status, headers, body } = await ask(events, accepted);
  expect([status, headers['content-encoding'], headers['content-type']]).toEqual([200, coding, 'application/json']);
  expect(headers.vary).toContain('Accept-Encoding');
  expect(Number(headers['content-length'])).toBe(body.length);
  const page = JSON.parse(inflate(body).toString());
  expect(page.data).toHaveLength(500);
  expect(inflate(body).length).toBeGreaterThan(5 * body.length);
});

test.each(['', 'identity', 'deflate', 'gzip;q=0'])('Accept-Encoding: %s gets plain JSON', async (accepted) => {
  const { headers, body } = await ask(events, accepted);
  expect(headers['content-encoding']).toBeUndefined();
  expect(headers.vary).toContain('Accept-Encoding');
  expect(JSON.parse(body.toString()).data).toHaveLength(500);
});

describe('a whole list', () => {
  const path = '/api/v1/events/network?sort=timestamp';
  const lines = { accept: 'application/x-ndjson' };

  test.each([
    ['application/x-ndjson', 'gzip', gunzipSync],
    ['application/x-ndjson', 'br', brotliDecompressSync],
    ['application/x-ndjson', 'zstd', zstdDecompressSync],
    ['application/vnd.apache.arrow.stream', 'zstd', zstdDecompressSync],
  ] as const)('decompresses as %s from %s to the bytes of the plain list', async (accept, coding, inflate) => {
    const plain = await ask(path, '', { headers: { accept } });
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(plain.headers.vary).toContain('Accept-Encoding');
    const { headers, body } = await ask(path, coding, { headers: { accept } });
    expect([headers['content-encoding'], headers['content-type']]).toEqual([coding, accept]);
    expect(headers.vary).toContain('Accept-Encoding');
    expect(inflate(body).equals(plain.body)).toBe(true);
    expect(body.length).toBeLessThan(plain.body.length / 3);
    const head = await ask(path, coding, { method: 'HEAD', headers: { accept } });
    expect([head.headers['content-encoding'], head.body.length]).toEqual([coding, 0]);
  });

  test('leaves room for other compressions when it is aborted', async () => {
    for (let n = 0; n < 2 * limits.maxCompressions; n++)
      await new Promise<void>((resolve, reject) => {
        const headers = { ...lines, authorization: `Bearer ${token}`, 'accept-encoding': 'gzip' };
        const sent = request(service.url + path, { headers }, (answer) => {
          if (answer.headers['content-encoding'] !== 'gzip') reject(new Error(`answer ${n} is plain`));
          answer.destroy();
        });
        sent.on('error', () => undefined);
        sent.on('close', resolve);
        sent.end();
      });
    expect((await ask(events, 'gzip')).headers['content-encoding']).toBe('gzip');
  });

  test('is generated no faster than the client reads, and closes its source when aborted', async () => {
    let parts = 0;
    let closed = 0;
    const part = Buffer.alloc(2 ** 20, '{"a":1}\n');
    const body = { next: async () => (++parts > 3 ? undefined : part), close: () => void closed++ };
    const head = { method: 'GET', headers: new Map([['accept-encoding', 'zstd'] as const]) };
    const list = () => ({ status: 200, headers: [['Content-Type', lines.accept]] as const, body });
    const first = await compress(head, list(), () => undefined);
    const chunks = first.body as Chunks;
    const made = [await chunks.next()];
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(parts).toBe(1);
    for (let more = await chunks.next(); more !== undefined; more = await chunks.next()) made.push(more);
    expect(zstdDecompressSync(Buffer.concat(made as Buffer[])).equals(Buffer.concat([part, part, part]))).toBe(true);
    chunks.close();

    parts = 0;
    const reached: string[] = [];
    const running: Chunks[] = [];
    for (let n = 0; n < limits.maxCompressions; n++) {
      running.push((await compress(head, list(), (limit) => reached.push(limit))).body as Chunks);
      void running[n]!.next().catch(() => undefined);
    }
    expect((await compress(head, list(), (limit) => reached.push(limit))).body).toBe(body);
    expect(reached).toEqual(['maxCompressions']);
    for (const one of running) for (let times = 0; times < 2; times++) one.close();
    expect(closed).toBe(1 + limits.maxCompressions);
    const again = (await compress(head, list(), (limit) => reached.push(limit))).body as Chunks;
    expect(again).not.toBe(body);
    again.close();
  });
});

test('HEAD has the headers of GET and no body', async () => {
  const { headers, body } = await ask('/api/v1/openapi.json', 'gzip', { method: 'HEAD' });
  const get = await ask('/api/v1/openapi.json', 'gzip');
  expect(headers['content-encoding']).toBe('gzip');
  expect(headers['content-length']).toBe(get.headers['content-length']);
  expect(body).toHaveLength(0);
});

test('a response with an ETag, a short response and an error are sent uncompressed', async () => {
  const list = await ask('/api/v1/events/network?per_page=1', 'gzip');
  const created = await ask('/api/v1/assets', 'gzip', {
    method: 'POST',
    json: { name: 'a', notes: 'x'.repeat(5000) },
  });
  const { id } = JSON.parse(created.body.toString()).data;
  const asset = await ask(`/api/v1/assets/${id}`, 'gzip');
  expect(asset.headers.etag).toBe('"1"');
  for (const { headers } of [list, created, asset, await ask('/api/v1/nothing', 'gzip')])
    expect(headers['content-encoding']).toBeUndefined();
});

test('responses that contain secrets are never compressed', async () => {
  const login = await ask('/auth/login', 'gzip', {
    method: 'POST',
    json: { username: 'admin', password: 'correct horse battery' },
  });
  expect(login.status).toBe(200);
  const issued = await ask('/api/v1/tokens', 'gzip', {
    method: 'POST',
    json: { name: 'x'.repeat(200), scopes: ['viewer'] },
  });
  expect(issued.status).toBe(201);
  for (const { headers } of [login, issued]) expect(headers['content-encoding']).toBeUndefined();
});

test('no response schema of a GET operation contains a secret', () => {
  const { paths, components } = openApiDocument('0') as {
    paths: Record<string, { get?: { responses: object } }>;
    components: { schemas: Record<string, object> };
  };
  const names = new Set<string>();
  const seen = new Set<string>();
  const collect = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { $ref, properties } = value as { $ref?: string; properties?: object };
    for (const name of Object.keys(properties ?? {})) names.add(name);
    for (const part of Object.values(value)) collect(part);
    const component = $ref?.split('/').at(-1);
    if (component === undefined || seen.has(component)) return;
    seen.add(component);
    collect(components.schemas[component]);
  };
  for (const { get } of Object.values(paths)) collect(get?.responses);
  expect(names).toContain('assignee');
  const secrets = [...names].filter((name) => /^(access_|refresh_)?token$|secret|password|private_key$/.test(name));
  // `token` is an RFC 3161 timestamp; `secret` states that a setting is never shown.
  expect(secrets.sort()).toEqual(['secret', 'token']);
});

test('beyond the limit of concurrent compressions, responses are sent uncompressed', async () => {
  const answers = await Promise.all(Array.from({ length: 40 }, () => ask('/api/v1/openapi.json', 'br')));
  const plain = answers.filter(({ headers }) => headers['content-encoding'] === undefined);
  expect(plain.length).toBeGreaterThan(0);
  expect(plain.length).toBeLessThanOrEqual(40 - limits.maxCompressions);
  for (const { body } of plain) expect(JSON.parse(body.toString()).openapi).toBe('3.1.0');
});
