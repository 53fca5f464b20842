/**
 * Generates a client from the service's OpenAPI document with openapi-typescript and openapi-fetch. A program
 * that lists, filters, streams and proves compiles with it under strict settings, and runs against the
 * service. These packages are not dependencies: scripts/with-client-libraries.sh installs them.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { login, type Service, startService } from '../../scripts/service.ts';
import { call } from '../system/call.ts';

const folder = process.env.CLIENT_LIBRARIES;
const run = promisify(execFile);

const compilerOptions = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  target: 'es2023',
  module: 'nodenext',
  lib: ['es2023', 'dom'],
  types: [],
  skipLibCheck: true,
};

const program = `
import createClient from 'openapi-fetch';
import type { components, paths } from './api.js';

declare const process: { readonly argv: readonly string[] };
const [baseUrl = '', token = ''] = process.argv.slice(2);
const client = createClient<paths, 'application/json'>({ baseUrl, headers: { authorization: \`Bearer \${token}\` } });

/** Returns the data of a response, with the type that the document gives it. */
function told<T>({ data, error }: { data?: T; error?: components['schemas']['Error'] }): T {
  if (data === undefined) throw new Error(error?.error.code);
  return data;
}

type Event = components['schemas']['NetworkEventResource'];
const query = { dst_port: [443], min_severity: 'informational' as const, sort: '-timestamp' as const };
const path = '/api/v1/events/network';

const page = told(await client.GET(path, { params: { query: { ...query, per_page: 2 } } }));
const listed: Event[] = page.data;
const cursor = page.pagination.next_cursor;
if (cursor === undefined) throw new Error('there is no second page');
const second = told(await client.GET(path, { params: { query: { ...query, per_page: 2, cursor } } }));
listed.push(...second.data);

const whole = await client.GET(path, {
  params: { query },
  headers: { accept: 'application/x-ndjson' },
  parseAs: 'text',
});
const lines = String(whole.data).trim().split('\\n').map((line) => JSON.parse(line) as Event);

const refused = await client.GET(path, { params: { query: { q: 'a AND b' } } });
const field: string | undefined = refused.error?.error.details?.field;

const filters = new URLSearchParams([['since', '0'], ['dst_port', '443']]);
const socket = new WebSocket(\`\${baseUrl.replace('http', 'ws')}\${path}/stream?\${filters}\`, [\`bearer.\${token}\`]);
const streamed = await new Promise<string[]>((resolve, reject) => {
  const ids: string[] = [];
  socket.onerror = () => reject(new Error('the socket failed'));
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(String(data)) as
      | components['schemas']['EventMessage']
      | components['schemas']['SubscribedMessage'];
    if (message.type === 'event') ids.push((message.data as unknown as Event).id);
    if (ids.length === 3) resolve(ids);
  };
});
socket.close();

const hex = (text: string) => Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
const hash = async (...parts: Uint8Array[]) =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', Uint8Array.from(parts.flatMap((part) => [...part]))));

const head = told(await client.GET('/api/transparency/sth'));
const leaf = told(await client.GET('/api/transparency/leaf', { params: { query: { leaf_index: 0 } } }));
const proof = told(
  await client.GET('/api/transparency/inclusion', {
    params: { query: { leaf_index: 0, tree_size: head.tree_size } },
  }),
);
let root = await hash(Uint8Array.of(0), Uint8Array.from(atob(leaf.canonical), (one) => one.charCodeAt(0)));
for (const node of proof.audit_path) root = await hash(Uint8Array.of(1), root, hex(node));
const proven = [...root].join() === [...hex(head.root_hash)].join();

const created = told(await client.POST('/api/v1/assets', { body: { name: 'from a generated client' } }));
const alerts = told(await client.GET('/api/v1/alerts', { params: { query: { from: new Date(0).toISOString() } } }));

console.log(
  JSON.stringify({
    listed: listed.map(({ id }) => id),
    ports: listed.map(({ attributes }) => attributes.dst_port),
    lines: lines.map(({ id }) => id),
    streamed,
    field,
    proven,
    path: proof.audit_path.length,
    asset: created.data.attributes.version,
    alerts: alerts.pagination.total,
  }),
);
`;

describe.skipIf(folder === undefined)('a client generated from the OpenAPI document', () => {
  let service: Service;
  let token: string;
  let dir: string;

  beforeAll(async () => {
    service = await startService();
    token = await login(service);
    const json = [443, 80, 443, 443].map((dst_port, n) => ({
      timestamp: new Date(Date.now() - 1000 * n).toISOString(),
      src_ip: '10.0.0.1',
      dst_ip: '10.0.0.2',
      dst_port,
      transport: 'tcp',
    }));
    await call(service, 'ingestNetworkEvents', { token, json });
    await call(service, 'issueToken', { token, json: { name: 'one', scopes: ['viewer'] } });
    await vi.waitFor(async () => expect((await call(service, 'getTreeHead')).body).toHaveProperty('tree_size', 2), {
      timeout: 60_000,
      interval: 100,
    });
    dir = mkdtempSync(join(tmpdir(), 'candor-openapi-'));
    symlinkSync(join(folder!, 'node_modules'), join(dir, 'node_modules'));
    writeFileSync(join(dir, 'package.json'), '{"type":"module"}');
    writeFileSync(join(dir, 'program.ts'), program);
    writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
    const description = await fetch(`${service.url}/api/v1/openapi.json`, {
      headers: { authorization: `Bearer ${token}` },
    });
    writeFileSync(join(dir, 'openapi.json'), await description.text());
  });
  afterAll(async () => {
    await service?.stop();
    if (dir !== undefined) rmSync(dir, { recursive: true });
  });

  const script = (...parts: readonly string[]) => join(folder!, 'node_modules', ...parts);
  const node = (...args: readonly string[]) => run(process.execPath, args, { cwd: dir });

  test('compiles, and can list, filter, stream and prove events', async () => {
    await node(script('openapi-typescript', 'bin', 'cli.js'), 'openapi.json', '--output', 'api.ts');
    await node(script('typescript', 'bin', 'tsc'), '-p', '.').catch((error: { stdout: string }) => {
      throw new Error(error.stdout);
    });
    const { stdout } = await node('program.js', service.url, token);
    const said = JSON.parse(stdout);
    expect(said).toMatchObject({ field: 'q', proven: true, asset: 1, alerts: 0, ports: [443, 443, 443] });
    expect(said.path).toBeGreaterThan(0);
    expect(said.lines).toEqual(said.listed);
    expect(said.streamed.toSorted()).toEqual(said.listed.toSorted());
  });
});
