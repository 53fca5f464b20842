import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { get as httpsGet } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { data } from '../../src/http/reply.ts';
import { get, serve, stopAll } from './serve.ts';

/** A self-signed certificate for the address of the tests; undefined where there is no openssl command. */
function certificate(folder: string): { cert: string; key: string } | undefined {
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const subject = ['-subj', '/CN=test', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const args = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '1',
  ];
  try {
    execFileSync('openssl', [...args, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' });
    return { cert, key };
  } catch {
    return undefined;
  }
}

const folder = mkdtempSync(join(tmpdir(), 'candor-tls-'));
const tls = certificate(folder);
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(stopAll);

describe.skipIf(tls === undefined)('with a certificate', () => {
  test('the same is served over TLS, large answers included', async () => {
    const text = 'x'.repeat(3_000_000);
    const { server } = await serve([get('/large', () => data(text))], { tls: tls! });
    const ca = readFileSync(tls!.cert);
    const body = await new Promise<string>((resolve, reject) => {
      httpsGet(`https://127.0.0.1:${server.port}/large`, { ca, agent: false }, (answer) => {
        let received = '';
        answer.setEncoding('utf8').on('data', (part) => {
          received += part;
        });
        answer.on('end', () => resolve(received));
      }).on('error', reject);
    });
    expect((JSON.parse(body) as { data: string }).data === text).toBe(true);
  });
});
