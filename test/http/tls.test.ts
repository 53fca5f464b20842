import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Budget } from '../../src/admission/budget.ts';
import { Connections } from '../../src/admission/connections.ts';
import type { Endpoint } from '../../src/http/endpoint.ts';
import { data } from '../../src/http/reply.ts';
import { echo, eventually, get, serve, stopAll, untilClosed } from './serve.ts';
import { Authority, type Pair, temporaryFolder, withoutOpenssl } from './tls-certificates.ts';
import { callTls } from './tls-client.ts';

if (withoutOpenssl !== undefined) console.warn(`skipped: ${withoutOpenssl}`);

afterEach(stopAll);

const hello = get('/hello', () => data('hello'));

describe.skipIf(withoutOpenssl !== undefined)('with a certificate', () => {
  const folder = temporaryFolder();
  let authority: Authority;
  let tls: Pair;
  let ca: Buffer;
  beforeAll(() => {
    authority = Authority.root(folder.path, 'root');
    tls = authority.server('server');
    ca = readFileSync(authority.pair.cert);
  });
  afterAll(() => folder.remove());

  test('large bodies of requests, responses and streams are transferred completely over TLS', async () => {
    const parts = Array.from({ length: 40 }, (_, n) => Buffer.alloc(100_000, String(n % 10)));
    const text = parts.join('');
    const chunks = { next: async () => parts.shift(), close: () => undefined };
    const returned: Endpoint = {
      ...echo({ maxBytes: text.length, budget: new Budget(10 * text.length) }),
      run({ body }) {
        const received = Buffer.from(body!.bytes).toString();
        body!.release();
        return data(received);
      },
    };
    const streamed = get('/stream', () => ({ kind: 'stream', mediaType: 'text/plain', chunks, headers: [] }));
    const { server } = await serve([returned, streamed], { tls });
    const post = { method: 'POST', headers: { 'content-type': 'text/plain' }, send: text };
    const { body } = await callTls(server.port, '/echo', { ca, ...post });
    expect((JSON.parse(body) as { data: string }).data === text).toBe(true);
    expect((await callTls(server.port, '/stream', { ca })).body === text).toBe(true);
  });

  test('browsers get Strict-Transport-Security over TLS only', async () => {
    const { server } = await serve([hello], { tls });
    const { headers } = await callTls(server.port, '/hello', { ca });
    expect(headers['strict-transport-security']).toBe('max-age=31536000');
    const plain = await serve([hello]);
    expect((await fetch(`${plain.url}/hello`)).headers.has('strict-transport-security')).toBe(false);
  });

  test('a certificate from an intermediate authority comes with its chain', async () => {
    const { server } = await serve([hello], { tls: authority.intermediate('middle').server('behind') });
    expect((await callTls(server.port, '/hello', { ca })).status).toBe(200);
  });

  test.for([
    ['TLS 1.0 is refused', ['-tls1'], undefined],
    ['TLS 1.1 is refused', ['-tls1_1'], undefined],
    ['TLS 1.2 is accepted', ['-tls1_2'], 'ECDHE-ECDSA-'],
    ['TLS 1.3 is accepted', ['-tls1_3'], 'TLS_AES_'],
    ['ciphers without forward secrecy are refused', ['-tls1_2', '-cipher', 'kRSA'], undefined],
    ['ciphers without authenticated encryption are refused', ['-tls1_2', '-cipher', 'ECDHE+AES+SHA1'], undefined],
    ['curves smaller than P-256 are refused', ['-tls1_2', '-curves', 'P-192'], undefined],
  ] as const)('%s', async ([, args, wanted]) => {
    const { server } = await serve([hello], { tls });
    const said = await new Promise<string>((resolve) => {
      const all = ['s_client', '-connect', `127.0.0.1:${server.port}`, ...args];
      const child = execFile(
        'openssl',
        args.includes('-cipher' as never) ? all : [...all, '-cipher', 'ALL:@SECLEVEL=0'],
        (_error, out, err) => resolve(out + err),
      );
      child.stdin?.end();
    });
    const cipher = /Cipher is (\S+)/.exec(said)?.[1];
    if (wanted === undefined) expect([undefined, '(NONE)']).toContain(cipher);
    else expect(cipher).toContain(wanted);
  });

  test('connections are counted like connections without TLS', async () => {
    const limitsReached: string[] = [];
    const connections = new Connections({ max: 2, limitReached: (limit) => limitsReached.push(limit) });
    const { server } = await serve([hello], { tls, connections });
    const open = () =>
      new Promise<TLSSocket | undefined>((resolve) => {
        const socket = connect({ host: '127.0.0.1', port: server.port, ca }, () => resolve(socket));
        socket.on('error', () => resolve(undefined)).on('close', () => resolve(undefined));
      });
    const [first, second] = [await open(), await open()];
    expect(connections.open).toBe(2);
    expect(await open()).toBeUndefined();
    expect(limitsReached).toEqual(['maxConnections']);
    first!.destroy();
    second!.destroy();
    await eventually(() => connections.open === 0);
    expect((await callTls(server.port, '/hello', { ca })).status).toBe(200);
  });

  test('a plain HTTP client of the TLS port is disconnected, and other clients are served', async () => {
    const { server } = await serve([hello], { tls });
    const got = await untilClosed(server.port, 'GET /hello HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(got).not.toContain('hello');
    expect((await callTls(server.port, '/hello', { ca })).status).toBe(200);
  });

  test.for([0o640, 0o604, 0o666])('the service warns about a key that other users may read (%o)', async (mode) => {
    const key = join(folder.path, `open-${mode}.key`);
    copyFileSync(tls.key, key);
    chmodSync(key, mode);
    const { logged } = await serve([hello], { tls: { ...tls, key } });
    expect(logged.map(({ warning }) => warning)).toEqual([
      `the private key ${key} is accessible to users other than its owner (mode 0${mode.toString(8)})`,
    ]);
  });

  test('the service does not warn about a key that only its owner may read', async () => {
    expect((await serve([hello], { tls })).logged).toEqual([]);
  });

  test('the service serves an expired certificate with a warning', async () => {
    const { logged } = await serve([hello], { tls: authority.issue('old', { from: -2, to: -1 }) });
    expect(logged[0]?.warning).toMatch(/old.pem: CN=old is valid from .* to .*, and is not valid now/);
  });

  const broken: [string, string, (at: string) => Partial<Record<'cert' | 'key' | 'clientCa', string>>][] = [
    ['a file that is not a certificate', 'it is not a PEM certificate', (at) => ({ cert: text(at, 'x') })],
    [
      'a certificate with invalid contents',
      'it is not a PEM certificate',
      (at) => ({ cert: text(at, pem('CERTIFICATE')) }),
    ],
    ['a file that is not a key', 'it is not a PEM private key', (at) => ({ key: text(at, pem('PRIVATE KEY')) })],
    [
      'the key of another certificate',
      'it is not the key of the certificate',
      () => ({ key: authority.server('other').key }),
    ],
    ['a certificate that is not of an authority', 'is not a CA certificate', () => ({ clientCa: tls.cert })],
    ['an authority that is missing', 'it cannot be read (ENOENT)', (at) => ({ clientCa: at })],
    ['a folder', 'it is not a file', () => ({ clientCa: folder.path })],
    ['a file that is too large', 'it has more than 2097152 bytes', (at) => ({ cert: text(at, 'x'.repeat(3_000_000)) })],
  ];
  const pem = (what: string) => `-----BEGIN ${what}-----\nAAAA\n-----END ${what}-----\n`;
  function text(path: string, content: string): string {
    writeFileSync(path, content);
    return path;
  }
  test.for(broken)('the service reports %s in one line', async ([name, wanted, replaced]) => {
    const files = replaced(join(folder.path, `${name}.pem`));
    const error = await serve([hello], { tls: { ...tls, ...files } }).catch((error: unknown) => error);
    expect(String(error)).toContain(`cannot set up TLS with ${Object.values(files)[0]}: `);
    expect(String(error)).toContain(wanted);
    expect(String(error)).not.toContain('\n');
  });
});
